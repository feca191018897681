package record

// ClaimSubject is what a claim is about.
type ClaimSubject string

const (
	// ClaimAllocator is about the allocator that serves malloc.
	ClaimAllocator ClaimSubject = "Allocator"
	// ClaimCompiler is about a part of a compiler's name.
	ClaimCompiler ClaimSubject = "Compiler"
	// ClaimFlag is about a flag of gcc or clang.
	ClaimFlag ClaimSubject = "Flag"
	// ClaimGoSetting is about a setting of Go's build information.
	ClaimGoSetting ClaimSubject = "GoSetting"
	// ClaimGoVersion is about the version of Go.
	ClaimGoVersion ClaimSubject = "GoVersion"
	// ClaimLibrary is about a shared library.
	ClaimLibrary ClaimSubject = "Library"
	// ClaimProperty is about a question that a Fact answers.
	ClaimProperty ClaimSubject = "Property"
	// ClaimSymbol is about a function or a variable.
	ClaimSymbol ClaimSubject = "Symbol"
)

// Claim is a statement about how an implementation was built.
type Claim struct {
	Subject ClaimSubject `json:"subject"`
	Value   string       `json:"value"`
	// Absent claims that it is not there.
	Absent bool `json:"absent,omitempty"`
}

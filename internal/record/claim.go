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
	// ClaimResponse is about the body of the answer to a GET.
	ClaimResponse ClaimSubject = "Response"
	// ClaimSymbol is about a function or a variable.
	ClaimSymbol ClaimSubject = "Symbol"
)

// Claim is a statement about how an implementation was built, or about what it answers.
type Claim struct {
	Subject ClaimSubject `json:"subject"`
	Value   string       `json:"value"`
	// Path is what a claim about a Response asks for; empty of any other.
	Path string `json:"path,omitempty"`
	// Absent claims that it is not there.
	Absent bool `json:"absent,omitempty"`
}

// Reply is whether a server's answer to a GET, before any load, has a text in its body, as a claim says.
type Reply struct {
	Path  string `json:"path"`
	Text  string `json:"text"`
	There Fact   `json:"there"`
}

package v1alpha1

// Expectation is whether a property must be there or must not.
// +kubebuilder:validation:Enum=Required;Forbidden
type Expectation string

const (
	// ExpectRequired fails a trial whose server is known to lack the property.
	ExpectRequired Expectation = "Required"
	// ExpectForbidden fails a trial whose server is known to have the property.
	ExpectForbidden Expectation = "Forbidden"
)

// Build is what is expected of the way in which a server was built. It is checked before any load is measured, by the file of the process
// that listens on the port: what that file does not show fails nothing, and the report lists it.
// +kubebuilder:validation:MinProperties=1
type Build struct {
	// optimized is about compiled code: with Required, no unit whose flags are recorded may be compiled with -O0 or without -O. gcc records
	// them with -g, and with -frecord-gcc-switches in a form that stripping leaves.
	// +optional
	Optimized Expectation `json:"optimized,omitempty"`

	// debugInfo is about DWARF in the file itself.
	// +optional
	DebugInfo Expectation `json:"debugInfo,omitempty"`

	// coverage is about code that counts how often it runs: gcc --coverage, LLVM's profiles, go build -cover.
	// +optional
	Coverage Expectation `json:"coverage,omitempty"`

	// sanitizers is about the runtimes of sanitizers and Go's race detector.
	// +optional
	Sanitizers Expectation `json:"sanitizers,omitempty"`

	// assertions is about assert of C and C++. They are compiled out with -DNDEBUG.
	// +optional
	Assertions Expectation `json:"assertions,omitempty"`

	// stripped is about the symbol table: a stripped file has none.
	// +optional
	Stripped Expectation `json:"stripped,omitempty"`

	// pie is about an executable that can be loaded at any address.
	// +optional
	PIE Expectation `json:"pie,omitempty"`

	// static is about an executable that names neither an interpreter nor a library.
	// +optional
	Static Expectation `json:"static,omitempty"`
}

// IsZero reports whether nothing is expected.
func (b Build) IsZero() bool { return b == Build{} }

// ClaimSubject is what a claim is about.
// +kubebuilder:validation:Enum=Allocator;Compiler;Flag;GoSetting;GoVersion;Library;Property;Response;Symbol
type ClaimSubject string

const (
	// ClaimAllocator is about the allocator that serves malloc.
	ClaimAllocator ClaimSubject = "Allocator"
	// ClaimCompiler is about a compiler that has left its name.
	ClaimCompiler ClaimSubject = "Compiler"
	// ClaimFlag is about a flag of gcc or clang.
	ClaimFlag ClaimSubject = "Flag"
	// ClaimGoSetting is about a setting of Go's build information.
	ClaimGoSetting ClaimSubject = "GoSetting"
	// ClaimGoVersion is about the version of Go.
	ClaimGoVersion ClaimSubject = "GoVersion"
	// ClaimLibrary is about a shared library.
	ClaimLibrary ClaimSubject = "Library"
	// ClaimProperty is about a property that the section Builds of a report answers with yes or no.
	ClaimProperty ClaimSubject = "Property"
	// ClaimResponse is about what the server answers.
	ClaimResponse ClaimSubject = "Response"
	// ClaimSymbol is about a function or a variable.
	ClaimSymbol ClaimSubject = "Symbol"
)

// Presence is whether a claim says that something is there or that it is not.
// +kubebuilder:validation:Enum=Present;Absent
type Presence string

const (
	// PresencePresent claims that it is there.
	PresencePresent Presence = "Present"
	// PresenceAbsent claims that it is not.
	PresenceAbsent Presence = "Absent"
)

// Claim is a statement about how an implementation was built, or about what it answers. It is checked by the file of its process, by the
// libraries that the process has loaded, and by a request before any load; the report shows it as confirmed, refuted or unchecked. A refuted
// claim ends nothing: build is for what must hold.
// +kubebuilder:validation:XValidation:rule="self.subject != 'Property' || self.value in ['assertions', 'bindNow', 'branchTargets', 'coverage', 'debugInfo', 'fortify', 'optimized', 'pie', 'sanitizers', 'shadowStack', 'stackClash', 'stackProtector', 'static', 'stripped']",message="a claim about a Property must name one of assertions, bindNow, branchTargets, coverage, debugInfo, fortify, optimized, pie, sanitizers, shadowStack, stackClash, stackProtector, static and stripped"
// +kubebuilder:validation:XValidation:rule="self.subject != 'Flag' || self.value.startsWith('-')",message="a claim about a Flag must give it as the compiler gets it, such as -O2"
// +kubebuilder:validation:XValidation:rule="self.subject == 'Response' || !has(self.path)",message="only a claim about a Response has a path"
type Claim struct {
	// subject is what the claim is about. Allocator: glibc, musl, jemalloc, tcmalloc, mimalloc, "Go runtime" or own. Compiler: part of its
	// name, such as "GNU C17 12.2". Flag: such as -O2, of all units with recorded flags. GoSetting: such as CGO_ENABLED=0, as go version -m
	// prints it. GoVersion: such as 1.26 or 1.26.1. Library: such as libuv or libssl.so.3. Property: such as static. Response: text in the
	// body of the server's answer to a GET, such as its version. Symbol: the linker's name of a function or variable.
	// +required
	Subject ClaimSubject `json:"subject,omitempty"`

	// value is what is claimed of the subject; at most 200 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]([ -~]*[!-~])?$')",message="a claim's value must be printable ASCII, without blanks at its ends"
	Value string `json:"value,omitempty"`

	// path is what a claim about a Response asks the server for. Defaults to "/".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must begin with '/' and hold printable ASCII without spaces; percent-encode everything else"
	Path string `json:"path,omitempty"`

	// presence is Present, or Absent for what is claimed not to be there. Defaults to Present.
	// +optional
	Presence Presence `json:"presence,omitempty"`
}

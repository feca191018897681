package v1alpha1

// Expectation is whether a property is required or forbidden.
// +kubebuilder:validation:Enum=Required;Forbidden
type Expectation string

const (
	// ExpectRequired fails a trial whose server is known to lack the property.
	ExpectRequired Expectation = "Required"
	// ExpectForbidden fails a trial whose server is known to have the property.
	ExpectForbidden Expectation = "Forbidden"
)

// Build is how a server must have been built. It is checked before any load, in the executable of the process that listens on the port.
// Properties that the file does not show fail nothing; the report lists them.
// +kubebuilder:validation:MinProperties=1
type Build struct {
	// optimized is about compiled code. With Required, no unit with recorded flags may use -O0 or lack -O. gcc records flags with -g, and with
	// -frecord-gcc-switches even in stripped files.
	// +optional
	Optimized Expectation `json:"optimized,omitempty"`

	// debugInfo is about DWARF in the executable itself.
	// +optional
	DebugInfo Expectation `json:"debugInfo,omitempty"`

	// coverage is about coverage counters: gcc --coverage, LLVM profiles, go build -cover.
	// +optional
	Coverage Expectation `json:"coverage,omitempty"`

	// sanitizers is about sanitizer runtimes and Go's race detector.
	// +optional
	Sanitizers Expectation `json:"sanitizers,omitempty"`

	// assertions is about assert in C and C++, which -DNDEBUG removes.
	// +optional
	Assertions Expectation `json:"assertions,omitempty"`

	// stripped is about a missing symbol table.
	// +optional
	Stripped Expectation `json:"stripped,omitempty"`

	// pie is about a position-independent executable.
	// +optional
	PIE Expectation `json:"pie,omitempty"`

	// static is about an executable without interpreter and shared libraries.
	// +optional
	Static Expectation `json:"static,omitempty"`
}

// IsZero reports whether nothing is expected.
func (b Build) IsZero() bool { return b == Build{} }

// ClaimSubject is the subject of a claim.
// +kubebuilder:validation:Enum=Allocator;Compiler;Flag;GoSetting;GoVersion;Library;Property;Response;Symbol
type ClaimSubject string

const (
	// ClaimAllocator is the allocator behind malloc.
	ClaimAllocator ClaimSubject = "Allocator"
	// ClaimCompiler is a compiler that left its name.
	ClaimCompiler ClaimSubject = "Compiler"
	// ClaimFlag is a flag of gcc or clang.
	ClaimFlag ClaimSubject = "Flag"
	// ClaimGoSetting is a setting in Go's build information.
	ClaimGoSetting ClaimSubject = "GoSetting"
	// ClaimGoVersion is the version of Go.
	ClaimGoVersion ClaimSubject = "GoVersion"
	// ClaimLibrary is a shared library.
	ClaimLibrary ClaimSubject = "Library"
	// ClaimProperty is a yes-or-no property of section Builds of a report.
	ClaimProperty ClaimSubject = "Property"
	// ClaimResponse is the server's answer.
	ClaimResponse ClaimSubject = "Response"
	// ClaimSymbol is a function or variable.
	ClaimSymbol ClaimSubject = "Symbol"
)

// Presence is whether a claim states that something is present or absent.
// +kubebuilder:validation:Enum=Present;Absent
type Presence string

const (
	// PresencePresent claims presence.
	PresencePresent Presence = "Present"
	// PresenceAbsent claims absence.
	PresenceAbsent Presence = "Absent"
)

// Claim is a statement about an implementation's build or its answers. It is checked in the executable, in the loaded libraries, and with one
// request before any load. The report shows it as confirmed, refuted or unchecked. A refuted claim fails nothing; use build for requirements.
// +kubebuilder:validation:XValidation:rule="self.subject != 'Property' || self.value in ['assertions', 'bindNow', 'branchTargets', 'coverage', 'debugInfo', 'fortify', 'optimized', 'pie', 'sanitizers', 'shadowStack', 'stackClash', 'stackProtector', 'static', 'stripped']",message="value: a Property is one of assertions, bindNow, branchTargets, coverage, debugInfo, fortify, optimized, pie, sanitizers, shadowStack, stackClash, stackProtector, static or stripped"
// +kubebuilder:validation:XValidation:rule="self.subject != 'Flag' || self.value.startsWith('-')",message="value: a Flag starts with '-', such as -O2"
// +kubebuilder:validation:XValidation:rule="self.subject == 'Response' || !has(self.path)",message="path is only for claims about a Response: remove it"
type Claim struct {
	// subject is the subject of the claim, with these values. Allocator: glibc, musl, jemalloc, tcmalloc, mimalloc, "Go runtime" or own.
	// Compiler: part of its name, such as "GNU C17 12.2". Flag: such as -O2, for all units with recorded flags. GoSetting: such as
	// CGO_ENABLED=0, as printed by go version -m. GoVersion: such as 1.26 or 1.26.1. Library: such as libuv or libssl.so.3. Property: such as
	// static. Response: text in the body of a GET answer, such as a version. Symbol: the linker name of a function or variable.
	// +required
	Subject ClaimSubject `json:"subject,omitempty"`

	// value is the claimed value; at most 200 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]([ -~]*[!-~])?$')",message="value: use printable ASCII without leading or trailing spaces"
	Value string `json:"value,omitempty"`

	// path is the request path of a Response claim. Default: "/".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must start with '/' and contain only printable ASCII without spaces: percent-encode everything else"
	Path string `json:"path,omitempty"`

	// presence is Present or Absent. Default: Present.
	// +optional
	Presence Presence `json:"presence,omitempty"`
}

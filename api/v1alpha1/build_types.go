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

package record

// Expectation is whether a property of a build must be there or must not; empty if either will do.
type Expectation string

const (
	// ExpectRequired is not met by a build that is known to lack the property.
	ExpectRequired Expectation = "Required"
	// ExpectForbidden is not met by a build that is known to have it.
	ExpectForbidden Expectation = "Forbidden"
)

// Expectations are what a user expects of a build.
type Expectations struct {
	Optimized  Expectation `json:"optimized,omitempty"`
	DebugInfo  Expectation `json:"debugInfo,omitempty"`
	Coverage   Expectation `json:"coverage,omitempty"`
	Sanitizers Expectation `json:"sanitizers,omitempty"`
	Assertions Expectation `json:"assertions,omitempty"`
	Stripped   Expectation `json:"stripped,omitempty"`
	PIE        Expectation `json:"pie,omitempty"`
	Static     Expectation `json:"static,omitempty"`
}

// Expected is a property of a build, with what is expected of it and what was found.
type Expected struct {
	// Field is its name in the API.
	Field string
	Want  Expectation
	Found Fact
}

// Of sets what is expected next to what was found, in the order of the fields.
func (e Expectations) Of(b Build) []Expected {
	all := []Expected{
		{"optimized", e.Optimized, b.Optimized},
		{"debugInfo", e.DebugInfo, b.DebugInfo},
		{"coverage", e.Coverage, b.Coverage},
		{"sanitizers", e.Sanitizers, b.Sanitizers},
		{"assertions", e.Assertions, b.Assertions},
		{"stripped", e.Stripped, b.Stripped},
		{"pie", e.PIE, b.PIE},
		{"static", e.Static, b.Static},
	}
	var out []Expected
	for _, x := range all {
		if x.Want != "" {
			out = append(out, x)
		}
	}
	return out
}

// Missed reports whether the build is known to be otherwise.
func (x Expected) Missed() bool {
	return x.Want == ExpectRequired && x.Found.Is == No || x.Want == ExpectForbidden && x.Found.Is == Yes
}

// Open reports whether the file does not show it.
func (x Expected) Open() bool { return x.Found.Is != Yes && x.Found.Is != No }

package record

// Expected is a property of a build, with what is expected of it and what was found.
type Expected struct {
	// Field is its name in the API.
	Field string
	Want  Expectation
	Found Fact
}

// Expected sets what is expected of the build next to what was found, in the order of the fields.
func (b Build) Expected(e Expectations) []Expected {
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

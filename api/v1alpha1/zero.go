package v1alpha1

// IsZero reports whether there is no script.
func (s Script) IsZero() bool { return s == Script{} }

// IsZero reports whether there is no search.
func (s Search) IsZero() bool { return s == Search{} }

// IsZero reports whether the run measures all of its blocks.
func (s Stop) IsZero() bool { return s == Stop{} }

// IsZero reports whether there are no earlier runs.
func (e Earlier) IsZero() bool { return len(e.Runs) == 0 && e.LastGood == 0 && e.Anchor == "" }

// IsZero reports whether the run puts loads on servers.
func (m Microbenchmark) IsZero() bool {
	return m.Format == "" && m.LimitSeconds == 0 && len(m.Outputs) == 0
}

package kind

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

func buildSpec(e record.Expectations) v1alpha1.Build {
	return v1alpha1.Build{
		Optimized: v1alpha1.Expectation(e.Optimized), DebugInfo: v1alpha1.Expectation(e.DebugInfo), Coverage: v1alpha1.Expectation(e.Coverage),
		Sanitizers: v1alpha1.Expectation(e.Sanitizers), Assertions: v1alpha1.Expectation(e.Assertions), Stripped: v1alpha1.Expectation(e.Stripped),
		PIE: v1alpha1.Expectation(e.PIE), Static: v1alpha1.Expectation(e.Static),
	}
}

// Expectations are what is expected of a build, as a plan holds them.
func Expectations(b v1alpha1.Build) record.Expectations {
	return record.Expectations{
		Optimized: record.Expectation(b.Optimized), DebugInfo: record.Expectation(b.DebugInfo), Coverage: record.Expectation(b.Coverage),
		Sanitizers: record.Expectation(b.Sanitizers), Assertions: record.Expectation(b.Assertions), Stripped: record.Expectation(b.Stripped),
		PIE: record.Expectation(b.PIE), Static: record.Expectation(b.Static),
	}
}

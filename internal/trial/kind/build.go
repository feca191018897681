package kind

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// readBuild is what an object's spec expects of a build.
func readBuild(b v1alpha1.Build) record.Expectations {
	return record.Expectations{
		Optimized: record.Expectation(b.Optimized), DebugInfo: record.Expectation(b.DebugInfo), Coverage: record.Expectation(b.Coverage),
		Sanitizers: record.Expectation(b.Sanitizers), Assertions: record.Expectation(b.Assertions), Stripped: record.Expectation(b.Stripped),
		PIE: record.Expectation(b.PIE), Static: record.Expectation(b.Static),
	}
}

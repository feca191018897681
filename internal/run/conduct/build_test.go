package conduct_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

func TestABuildThatIsNotAsExpectedFailsForGood(t *testing.T) {
	fact := func(is record.Truth) record.Fact { return record.Fact{Is: is, By: "symbol __gcov_init"} }
	for name, tc := range map[string]struct {
		want  record.Expectations
		found *record.Build
		says  string
	}{
		"nothing is expected":      {record.Expectations{}, &record.Build{Coverage: fact(record.Yes)}, ""},
		"it is as expected":        {record.Expectations{Coverage: record.ExpectForbidden}, &record.Build{Coverage: fact(record.No)}, ""},
		"the file does not show":   {record.Expectations{Coverage: record.ExpectForbidden}, &record.Build{Coverage: fact(record.Unknown)}, ""},
		"nobody has read the file": {record.Expectations{Coverage: record.ExpectForbidden}, nil, ""},
		"it has what is forbidden": {
			record.Expectations{Coverage: record.ExpectForbidden},
			&record.Build{Coverage: fact(record.Yes)},
			"implementations[go].build.coverage: expected Forbidden, found yes (symbol __gcov_init): build the image without it, or remove the expectation",
		},
		"it lacks what is required": {
			record.Expectations{Optimized: record.ExpectRequired},
			&record.Build{Optimized: record.Fact{Is: record.No, By: "-O0"}},
			"implementations[go].build.optimized: expected Required, found no (-O0): build the image with it, or remove the expectation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := conduct.Built(record.Implementation{Name: "go", Build: tc.want}, tc.found)
			if tc.says == "" {
				if got != nil {
					t.Errorf("got %+v", got)
				}
				return
			}
			if got == nil || got.Kind != conduct.Permanent || got.Reason != "BuildMismatch" || got.Message != tc.says {
				t.Errorf("got %+v, want %s", got, tc.says)
			}
		})
	}
}

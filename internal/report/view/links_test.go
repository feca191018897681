package view

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestALinkStaysInTheFolderOfItsRun(t *testing.T) {
	v := &View{}
	v.Table.Run.Namespace, v.Table.Run.Name, v.Table.Run.UID = "perf", "quick", "0123456789"
	for name, tc := range map[string]struct{ key, want string }{
		"an object of the run":        {"suites/perf/quick-01234567/trials/t/attempt-1/server/result.json", "../../trials/t/attempt-1/server/result.json"},
		"without a prefix":            {"perf/quick-01234567/plan.json", "../../plan.json"},
		"an object of another run":    {"perf/quick-89abcdef/plan.json", ""},
		"what leads out of it":        {"perf/quick-01234567/../../x", ""},
		"what would be a scheme":      {"perf/quick-01234567/javascript:alert(1)", "../../javascript:alert%281%29"},
		"what would end an attribute": {`perf/quick-01234567/"><b>`, "../../%22%3E%3Cb%3E"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.Beside(tc.key); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestARunOfOneMachineLiesInTheFolderThatItsUserHasChosen(t *testing.T) {
	v := &View{}
	v.Table.Run.Namespace, v.Table.Run.Name, v.Table.Run.UID = record.LocalNamespace, "quick", "0123456789"
	for key, want := range map[string]string{
		"my results/trials/t/attempt-1/manifest.json": "../../trials/t/attempt-1/manifest.json",
		"my results/../../x":                          "",
		"calibrations":                                "",
	} {
		if got := v.Beside(key); got != want {
			t.Errorf("of %s: got %q, want %q", key, got, want)
		}
	}
}

package report_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestTheReportOfADuetDecidesAndSaysWhyItHasNoLatencies(t *testing.T) {
	o := recordtest.Duel(10)
	o.Name, o.Levels, o.Servers, o.Duet, o.Drift = "duet", []int32{10, 100}, o.Servers[:2], true, 0.07
	got := string(html(t, recordtest.Run(o)))
	for _, want := range []string{"go-slow uses", `<span class="verdict">worse</span>`, "The latencies are unknown, since in a duet the load generator is frozen"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	for _, never := range []string{"NaN", "%!", "<nil>", "finding."} {
		if strings.Contains(got, never) {
			t.Errorf("the report holds %q", never)
		}
	}
}

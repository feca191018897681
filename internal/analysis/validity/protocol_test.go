package validity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestACellOfHTTP2IsVoidIfAnyAnswerWasNot(t *testing.T) {
	for name, tc := range map[string]struct {
		asked record.Protocol
		// other counts answers in another version.
		other int64
		want  []finding
	}{
		"all in HTTP/2":        {record.HTTP2, 0, nil},
		"one in another":       {record.HTTP2, 1, []finding{{OtherProtocol, Void}}},
		"nothing is asked for": {"", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := pair(1)
			for i, c := range d.Manifest.Plan.Cells {
				d.Manifest.Plan.Cells[i] = c.Speaking(tc.asked)
			}
			for i := range d.Trials {
				g := &d.Trials[i].Generators[0]
				for k := range g.Responses {
					g.Responses[k].Request = d.Manifest.Plan.Cells[0].Request.Key()
				}
				for k := range g.Cells {
					g.Cells[k].Measurement.HTTP2 = g.Cells[k].Measurement.Requests
				}
			}
			r, _ := recordtest.Cell(&d, 1, "rust", 100)
			r.Measurement.HTTP2 -= tc.other
			if diff := cmp.Diff([][]finding{tc.want}, reasonsOf(t, d, "rust")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

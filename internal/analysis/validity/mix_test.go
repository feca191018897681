package validity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func mixedPair() record.RunData {
	d := pair(1)
	for i := range d.Manifest.Plan.Cells {
		c := &d.Manifest.Plan.Cells[i]
		other := c.Request
		other.Method = "POST"
		c.Mix, c.Request = []record.MixedRequest{{Request: c.Request, Weight: 3}, {Request: other, Weight: 1}}, record.Request{}
	}
	posted := d.Manifest.Plan.Cells[0].Mix[1]
	for i := range d.Trials {
		g := &d.Trials[i].Generators[0]
		second := g.Responses[0]
		second.Request = posted.Key()
		g.Responses = append(g.Responses, second)
		for k := range g.Cells {
			m := g.Cells[k].Measurement
			m.ByRequest = []int64{m.Requests - m.Requests/4, m.Requests / 4}
		}
	}
	return d
}

func TestEachRequestOfAMixMustBeAnsweredLikeTheBaselines(t *testing.T) {
	second := func(change func(*record.Response)) func(*record.RunData) {
		return func(d *record.RunData) {
			for i := range d.Trials {
				if d.Trials[i].Manifest.Servers[0] == "rust" {
					change(&d.Trials[i].Generators[0].Responses[1])
				}
			}
		}
	}
	made := func(parts ...int64) func(*record.RunData) {
		return func(d *record.RunData) {
			r, _ := recordtest.Cell(d, 1, "rust", 100)
			var all int64
			for _, n := range parts {
				all += n
			}
			m := r.Measurement
			requests := m.Requests
			m.ByRequest = nil
			for _, n := range parts {
				m.ByRequest = append(m.ByRequest, requests*n/all)
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		want   []finding
	}{
		"alike":                        {change: func(*record.RunData) {}},
		"one with another status":      {second(func(r *record.Response) { r.Status = 204 }), []finding{{NotEquivalent, Void}}},
		"one with another body":        {second(func(r *record.Response) { r.BodySHA256 = "other" }), []finding{{NotEquivalent, Suspect}}},
		"one that was not asked first": {second(func(r *record.Response) { r.Request = "GET /else 0" }), []finding{{NotChecked, Suspect}}},
		"one with any body": {
			func(d *record.RunData) {
				d.Manifest.Plan.Cells[0].Mix[1].Expect.AnyBody = true
				second(func(r *record.Response) { r.BodyBytes, r.BodySHA256 = 1, "other" })(d)
			},
			nil,
		},
		"both, and the worse counts": {
			func(d *record.RunData) {
				second(func(r *record.Response) { r.Status = 204 })(d)
				for i := range d.Trials {
					if d.Trials[i].Manifest.Servers[0] == "rust" {
						d.Trials[i].Generators[0].Responses[0].BodySHA256 = "other"
					}
				}
			},
			[]finding{{NotEquivalent, Void}},
		},
		"one that was hardly made":                 {made(99, 1), []finding{{OtherMix, Void}}},
		"one that was never made":                  {made(1, 0), []finding{{OtherMix, Void}}},
		"counts that are missing":                  {made(), []finding{{OtherMix, Void}}},
		"proportions that are nearly as they were": {made(74, 26), nil},
		"answers of half the size": {
			func(d *record.RunData) {
				r, _ := recordtest.Cell(d, 1, "rust", 100)
				r.Measurement.Bytes /= 2
			},
			[]finding{{AnswerSize, Void}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := mixedPair()
			tc.change(&d)
			if diff := cmp.Diff([][]finding{tc.want}, reasonsOf(t, d, "rust")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

package measured_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
)

func answered(answers ...record.Response) (out []*record.TrialData) {
	for _, r := range answers {
		out = append(out, &record.TrialData{Generators: []record.GeneratorResult{{Responses: []record.Response{r}}}})
	}
	return out
}

func TestAReferenceIsTheMostFrequentAnswer(t *testing.T) {
	answer := func(status int32, bytes int64, body string, head int64) record.Response {
		return record.Response{Path: "/", Status: status, BodyBytes: bytes, BodySHA256: body, HeaderBytes: head}
	}
	for name, tc := range map[string]struct {
		trials []*record.TrialData
		want   *measured.Reference
	}{
		"no trial has asked": {trials: []*record.TrialData{{}}},
		"heads of other sizes are the same answer": {
			trials: answered(answer(200, 11, "a", 117), answer(200, 11, "a", 118)),
			want:   &measured.Reference{Response: answer(200, 11, "a", 0), SameBody: true, Least: 11, Most: 11},
		},
		"two of three": {
			trials: answered(answer(500, 20, "b", 0), answer(200, 11, "a", 0), answer(200, 11, "a", 0)),
			want:   &measured.Reference{Response: answer(200, 11, "a", 0), Least: 11, Most: 20},
		},
		"of two the lower status": {
			trials: answered(answer(500, 20, "b", 0), answer(200, 11, "a", 0)),
			want:   &measured.Reference{Response: answer(200, 11, "a", 0), Least: 11, Most: 20},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, measured.NewReferences(tc.trials)["/"]); diff != "" {
				t.Errorf("reference (-want +got):\n%s", diff)
			}
		})
	}
}

// mixed makes a trial's cell a mix of a small and a large page.
func mixed(d *record.TrialData, made ...int64) {
	d.Generators[0].Cells[0].Measurement.ByRequest = made
	d.Generators[0].Responses = append(d.Generators[0].Responses, record.Response{Path: "/big", Status: 200, HeaderBytes: 117, BodyBytes: 1011})
}

func TestBytesOfAnAnswerAreRelatedToWhatWasChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		trial func(*record.TrialData)
		level func(*planned.Level)
		other []record.Response
		want  *measured.AnswerBytes
	}{
		"a good cell": {
			want: &measured.AnswerBytes{Each: 128, Unfinished: 0.128, Least: 128, Most: 128, Slack: 16},
		},
		"another trial's check got more": {
			other: []record.Response{{Path: "/", HeaderBytes: 117, BodyBytes: 83}, {Path: "/", HeaderBytes: 117, BodyBytes: 11}, {Path: "/", BodyBytes: 5}},
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.2, Least: 128, Most: 200, Slack: 16},
		},
		"a tool that asks in another way": {
			level: func(l *planned.Level) { l.Tool = record.ToolAb },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.128, Least: 128, Most: 128, Slack: 56},
		},
		"a script's answers were checked by nobody": {
			level: func(l *planned.Level) { l.Scripted = true },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001)},
		},
		"the check's answer says nothing of others where any body will do": {
			level: func(l *planned.Level) { l.AnyBody = true },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001), Slack: 16},
		},
		"a mix by how often each of its requests was made": {
			trial: func(d *record.TrialData) { mixed(d, 900, 100) },
			level: func(l *planned.Level) { l.Mix = []planned.Asked{{Key: "/", Weight: 9}, {Key: "/big", Weight: 1}} },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 1.128, Least: 0.9*128 + 0.1*1128, Most: 0.9*128 + 0.1*1128, Slack: 17},
		},
		"a mix of which nobody has counted the requests": {
			trial: func(d *record.TrialData) { mixed(d) },
			level: func(l *planned.Level) { l.Mix = []planned.Asked{{Key: "/", Weight: 9}, {Key: "/big", Weight: 1}} },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001), Slack: 16},
		},
		"a mix in which any body will do for one request": {
			trial: func(d *record.TrialData) { mixed(d, 900, 100) },
			level: func(l *planned.Level) {
				l.Mix = []planned.Asked{{Key: "/", Weight: 9}, {Key: "/big", Weight: 1, AnyBody: true}}
			},
			want: &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001), Slack: 16},
		},
		"a mix of which one request was not answered before the trial": {
			trial: func(d *record.TrialData) { mixed(d, 900, 100) },
			level: func(l *planned.Level) { l.Mix = []planned.Asked{{Key: "/", Weight: 9}, {Key: "/none", Weight: 1}} },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001), Slack: 16},
		},
		"a path that nobody asked for": {
			level: func(l *planned.Level) { l.Path = "/other" },
			want:  &measured.AnswerBytes{Each: 128, Unfinished: 0.001 * (128 / 1.001), Slack: 16},
		},
		"not one request": {
			trial: func(d *record.TrialData) { d.Generators[0].Cells[0].Measurement.Requests = 0 },
		},
		"a tool that failed": {
			trial: func(d *record.TrialData) { d.Generators[0].Cells[0].Error = "exit status 1" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			if tc.trial != nil {
				tc.trial(d)
			}
			l := level(d)
			if tc.level != nil {
				tc.level(&l)
			}
			f := readAt(t, d, l, measured.NewSizes(answered(tc.other...)))
			if diff := cmp.Diff(tc.want, f.Bytes, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
		})
	}
}

// k6 counts the bytes of TLS, which no check has.
func TestTheBytesOfTLSAreRelatedToNoCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		tool record.Tool
		tls  bool
		want bool
	}{
		"k6 over TLS":   {record.ToolK6, true, false},
		"k6 over plain": {record.ToolK6, false, true},
		"wrk over TLS":  {record.ToolWrk, true, true},
		"ab over TLS":   {record.ToolAb, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			l := level(d)
			l.Tool = tc.tool
			f, err := measured.Read(&histogram.Decoder{}, l, planned.Implementation{Name: "go", TLS: tc.tls}, d, nil)
			if err != nil || (f.Bytes != nil) != tc.want {
				t.Errorf("the bytes are %+v, %v", f.Bytes, err)
			}
		})
	}
}

func TestAuditsAddUp(t *testing.T) {
	d := trial(2)
	d.Generators[0].Cells[0].Audit = &record.Audit{Requests: 1, WrongBody: 1}
	d.Generators[1].Cells[0].Audit = &record.Audit{Requests: 2, WrongStatus: 1, Failed: 3, Example: "second"}
	d.Generators[1].Cells[0].MeasuredAudit = &record.Audit{Requests: 5, Connections: 1}
	d.Generators[0].Cells[0].LoadAudit = &record.Audit{Requests: 7, Connections: 2}
	d.Generators[1].Cells[0].LoadAudit = &record.Audit{Requests: 8, WrongBody: 1, Connections: 3, Example: "first"}
	f := read(t, d)
	if diff := cmp.Diff(record.Audit{Requests: 15, WrongBody: 1, Connections: 5, Example: "first"}, f.LoadAudit()); diff != "" {
		t.Errorf("on the load's own connections (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(record.Audit{Requests: 3, WrongStatus: 1, WrongBody: 1, Failed: 3, Example: "second"}, f.WarmupAudit()); diff != "" {
		t.Errorf("beside the warm-up (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(record.Audit{Requests: 5, Connections: 1}, f.MeasuredAudit()); diff != "" {
		t.Errorf("beside the load (-want +got):\n%s", diff)
	}
}

package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
)

const (
	inconclusive = `"headline":{"entries":[{"verdict":"Inconclusive","reason":"NoiseTooHigh"}]}`
	better       = `"headline":{"entries":[{"verdict":"Better"}]}`
	wrong        = `"groups":[{"implementation":"bad","cells":[{"reasons":[{"code":"WrongAnswers"}]}]}]`
	ofGood       = `"groups":[{"implementation":"good","cells":[{"reasons":[{"code":"WrongAnswers"}]}]}]`
)

func TestJudgement(t *testing.T) {
	r := row{fault: wrongLater, never: []string{faster, cheaper}, must: []string{wrongAnswers}}
	for name, tc := range map[string]struct {
		row     row
		line    string
		rest    string
		printed string
		want    string
	}{
		"the fault is named":                   {r, "Inconclusive: 14 of 14 cells are void (WrongAnswers)", inconclusive + "," + wrong, "", right},
		"a lie wins":                           {r, "bad has 180 % higher throughput than good", better + "," + wrong, "", misjudged},
		"a bound wins":                         {r, "bad has at least 91.9 % higher throughput than good", better, "", misjudged},
		"by CPU time":                          {r, "bad uses 9.2 % less CPU time per request than good", better, "", misjudged},
		"nothing is found":                     {r, "bad and good are practically equivalent", `"headline":{"entries":[{"verdict":"NoDifference"}]}`, "", misjudged},
		"the honest server's fault is no fact": {r, "bad and good are practically equivalent", better + "," + ofGood, "", misjudged},
		"a busy machine":                       {r, "Inconclusive: 14 of 14 cells are void (NoisyNeighbours)", inconclusive, "", notJudged},
		"another line is printed":              {r, "bad and good are practically equivalent", inconclusive, "good is better", misjudged},
		"an honest server without a claim":     {row{never: []string{faster}}, "bad and good are practically equivalent", better, "", right},
		"an honest server on a busy machine":   {row{never: []string{faster}}, "Inconclusive: noise", inconclusive, "", notJudged},
		"a gate passes":                        {row{fault: stall, never: []string{passed}}, "PASSED: 2 of 2 objective checks", better, "", misjudged},
		"a missed objective":                   {row{fault: stall, must: []string{paused}}, "FAILED", better + `,"objectives":[{"implementation":"bad","outcome":"Missed"}]`, "", right},
		"age":                                  {row{fault: aging, must: []string{aged}}, "bad is slower", better + `,"trends":{"withAge":[{"implementation":"bad","low":-0.3,"high":-0.1}]}`, "", right},
		"no age":                               {row{fault: aging, must: []string{aged}}, "bad is slower", better + `,"trends":{"withAge":[{"implementation":"bad","low":-0.3,"high":0.1}]}`, "", misjudged},
	} {
		t.Run(name, func(t *testing.T) {
			line, err := json.Marshal(tc.line)
			if err != nil {
				t.Fatal(err)
			}
			if tc.printed == "" {
				tc.printed = tc.line + "\nreport: x\n"
			}
			got, err := judge(tc.row, tc.printed, []byte(`{"verdict":`+string(line)+`,`+tc.rest+`}`))
			if err != nil || got.outcome != tc.want {
				t.Errorf("%s (%s), %v; want %s", got.outcome, got.why, err, tc.want)
			}
		})
	}
	if got := table([]judgement{{row: r, line: "a | b", outcome: misjudged, why: "why"}}); !strings.Contains(got, "| `wrong-later` |") || !strings.Contains(got, `a \| b | misjudged: why |`) {
		t.Errorf("the table is\n%s", got)
	}
}

// The patterns match what the product prints today, and its report has the fields that the judge reads.
func TestTheJudgeReadsReports(t *testing.T) {
	for name, tc := range map[string]struct {
		micros float64
		want   string
	}{
		"a faster server": {5, faster + "|" + cheaper},
		"a slower server": {30, slowerClaim + "|" + costlier},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(10)
			o.Levels, o.Servers = []int32{10}, []recordtest.Server{{Name: "good", CPUMicros: 15, RSSBytes: 1 << 20}, {Name: "bad", CPUMicros: tc.micros, RSSBytes: 1 << 20}}
			d := recordtest.Run(o)
			for i := range d.Trials {
				if d.Trials[i].Manifest.Servers[0] == "bad" {
					d.Trials[i].Generators[0].Cells[0].Audit.WrongBody = 1
				}
			}
			for _, lies := range []bool{true, false} {
				if !lies {
					d = recordtest.Run(o)
				}
				table, err := analysis.Analyse(d)
				if err != nil {
					t.Fatal(err)
				}
				text, err := report.JSON(table)
				if err != nil {
					t.Fatal(err)
				}
				got, err := judge(row{never: []string{tc.want}, must: []string{wrongAnswers}}, report.Line(table.Headline()), text)
				if err != nil || got.outcome != map[bool]string{true: right, false: misjudged}[lies] {
					t.Errorf("lies: %v: %s (%s), %v: %s", lies, got.outcome, got.why, err, got.line)
				}
			}
		})
	}
}

func TestPlantedServersHaveTheirFault(t *testing.T) {
	const good, wrong, tiny = "good", "wrong", "tiny"
	for _, tc := range []struct {
		fault       string
		n           int
		named       bool
		connections int64
		age         time.Duration
		want        string
		work        time.Duration
	}{
		{"", 9999, false, 10, time.Hour, good, 100},
		{slowStart, 1, false, 10, time.Second, good, 400},
		{slowStart, 1, false, 10, time.Hour, good, 100},
		{fastFirst, 1, false, 10, time.Second, good, 100},
		{fastFirst, 1, false, 10, time.Hour, good, 400},
		{aging, 1, false, 10, time.Hour, good, 36100},
		{wrongLater, honestFor, false, 10, 0, good, 100},
		{wrongLater, honestFor + 1, false, 10, 0, wrong, 0},
		{wrongHeader, 1, true, 10, 0, good, 100},
		{wrongHeader, 1, false, 10, 0, wrong, 0},
		{wrongFew, 1, false, 10, 0, wrong, 100},
		{smaller, honestFew, false, 10, 0, good, 100},
		{smaller, honestFew + 1, false, 10, 0, tiny, 0},
		{smaller, honestFew + 1, false, fewConnections, 0, good, 100},
	} {
		s := &server{fault: tc.fault, work: 100, good: []byte(good), wrong: []byte(wrong), tiny: []byte(tiny)}
		s.connections.Store(tc.connections)
		if tc.age > 0 {
			s.begun.Store(time.Now().Add(-tc.age).UnixNano())
		}
		if got, work := s.answer(tc.n, tc.named); string(got) != tc.want || work/100*100 != tc.work {
			t.Errorf("%s answers request %d with %s after %d ns, want %s after %d", tc.fault, tc.n, got, work, tc.want, tc.work)
		}
	}
}

func TestRowsAreRunnable(t *testing.T) {
	for _, r := range rows() {
		if spec := r.spec("/bin/adversary"); strings.Contains(spec, "%!") || r.does == "" || r.good == 0 || r.bad == 0 {
			t.Errorf("%+v has the file\n%s", r, spec)
		}
		for _, pattern := range append(r.never, r.must...) {
			regexp.MustCompile(pattern)
		}
	}
	if _, err := choose("honest,stall"); err != nil {
		t.Error(err)
	}
	if _, err := choose("nobody"); err == nil {
		t.Error("a server that is not planted was chosen")
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
)

// everything has a comparison for each quantity of a simulated run and for the common values of both servers.
func everything() (all []comparison) {
	for _, name := range []string{"cpuPerRequest", "throughput", "fairness", "p99", "memoryGrowth", "contextSwitches"} {
		q := quantities[name]
		a, b := under("one", "a", "sweep", 100, q), under("one", "b", "sweep", 100, q)
		all = append(all, ratio(name, b, a, atMost(1.1)), value(name, a, "1", theHighest, atMost(1.1)))
	}
	return append(all, value("unanswered", under("one", "a", "sweep", 10, unanswered), "connections", theHighest, atMost(0)))
}

// kept puts a simulated run into a folder.
func kept(t *testing.T, folder string, d record.RunData) {
	t.Helper()
	f, err := artifact.OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := artifacttest.Keep(t.Context(), f, d.Manifest.Run.Name, d); err != nil {
		t.Fatal(err)
	}
}

func TestRecordAndRunGiveSameFigures(t *testing.T) {
	d := simulation(4)
	run, seen := recordtest.Cell(&d, 2, "a", 100)
	run.MeasuredAudit = &record.Audit{Requests: 3}
	seen.StealNanos = seen.CoreNanos / 2
	folder, records := t.TempDir(), t.TempDir()
	kept(t, folder, d)
	ofRun, err := read(t.Context(), folder, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := writeRecord(filepath.Join(records, "one"+recordEnd), ofRun); err != nil {
		t.Fatal(err)
	}
	ofRecord, err := read(t.Context(), records, "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ofRun, ofRecord, cmp.AllowUnexported(results{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the record is another (-run +record):\n%s", diff)
	}
	for _, c := range everything() {
		want, got := c.figure(ofRun), c.figure(ofRecord)
		if got != want || got.Missing != "" {
			t.Errorf("%s\n of the record, and of the run\n%s", got.Line(), want.Line())
		}
		if !strings.Contains(got.Note, "n=3 of 4") && c.name != "unanswered" {
			t.Errorf("%s counts the void cell", got.Line())
		}
	}
}

func TestDuetRecordKeepsBothServers(t *testing.T) {
	o := recordtest.Duel(3)
	o.Servers, o.Levels, o.Duet = o.Servers[:2], []int32{10}, true
	r, err := keep(recordtest.Run(o))
	if err != nil {
		t.Fatal(err)
	}
	at := func(implementation string, q quantity) source { return under("duel", implementation, "sweep", 10, q) }
	for _, server := range []string{"go", "go-slow"} {
		if got := at(server, cpuPerRequest).values(r); len(got) != 3 {
			t.Errorf("CPU time of %s: got %v, want a value a block", server, got)
		}
		if got := at(server, quantities["contextSwitches"]).values(r); len(got) != 3 {
			t.Errorf("context switches of %s: got %v, want a value a block", server, got)
		}
		if got := at(server, quantities["p99"]).values(r); len(got) != 0 {
			t.Errorf("p99 of %s, which was frozen in turns: got %v", server, got)
		}
	}
	if got := ratio("r", at("go-slow", cpuPerRequest), at("go", cpuPerRequest), atMost(2)).figure(r); got.Value < 1.1 || got.Value > 1.3 {
		t.Errorf("got %s, want 1.2", got.Line())
	}
}

func TestRejectsInvalidRecord(t *testing.T) {
	head := `{"run":"one","started":"2026-03-14T09:00:00Z","ended":"2026-03-14T09:10:00Z","loadstone":"v1","blocks":1,"machine":{}}`
	for name, tc := range map[string]struct{ text, says string }{
		"without a head":                 {"", "reading the head of the record of one"},
		"with the head of another":       {strings.Replace(head, "one", "two", 1), `it is one of the run "two"`},
		"with a field that nobody knows": {head + `{"block":1,"implementation":"a","cpu":1}`, "sight 1 in the record of one"},
		"with what is of no block":       {head + `{"block":1,"implementation":"a"}{"implementation":"a"}`, "sight 2 in the record of one: it has no block"},
		"that was cut off":               {head + `{"block":1`, "sight 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decode([]byte(tc.text), "one"); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

func TestReplacesOnlyRecordsOfMeasuredRuns(t *testing.T) {
	folder, records := t.TempDir(), t.TempDir()
	old := &results{head: head{Run: "zco-fair", Loadstone: "old"}}
	for _, run := range []string{"zco-fair", callsRun} {
		old.head.Run = run
		if err := writeRecord(filepath.Join(records, run+recordEnd), old); err != nil {
			t.Fatal(err)
		}
	}
	counted := &results{head: head{Run: callsRun, Loadstone: "new", Blocks: 1}, sights: []sight{{
		Block: 1, Implementation: "zco", At: record.Point{Load: "keepalive", Connections: 10}, Requests: 1000, SystemCalls: 2500,
	}}}
	if err := writeRecord(filepath.Join(folder, callsRun+recordEnd), counted); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..") // The sources are found there.
	err := run(t.Context(), &bytes.Buffer{}, []string{"record", folder, records, "zco-system,zco-jain"})
	if err == nil || !strings.Contains(err.Error(), "the run zco-fair has not ended") {
		t.Errorf("got %v, want a word on the run that is not there", err)
	}
	all := load(t.Context(), records, []string{"zco-fair", callsRun})
	if all["zco-fair"].head.Loadstone != "old" || all[callsRun].head.Loadstone != "new" {
		t.Errorf("got %+v and %+v", all["zco-fair"].head, all[callsRun].head)
	}
	calls := table[slices.IndexFunc(table, func(c comparison) bool { return c.name == "zco-system-calls-10" })]
	if got := calls.figure(all[callsRun]).Line(); got != "zco-system-calls-10\t2.5\ta request\t<=3 (bound)\tmet\tn=1" {
		t.Errorf("got %s", got)
	}
}

// toldRun is a run of two blocks with values of one case for both implementations.
func toldRun(name string, started time.Time, h head, a, b float64) *results {
	h.Run, h.Started, h.Ended, h.Blocks = name, started, started.Add(10*time.Minute), 2
	r := &results{head: h}
	for block := int32(1); block <= 2; block++ {
		for implementation, v := range map[string]float64{"a": a, "b": b} {
			r.sights = append(r.sights, sight{Block: block, Implementation: implementation, Cases: map[string]map[string]float64{"switch": {wallTime: v}}})
		}
	}
	return r
}

// example is a page with a short figure, a met one, and one without a run.
func example(second head) page {
	began := time.Date(2026, 3, 14, 23, 50, 0, 0, time.UTC)
	first := head{Loadstone: "v1", Machine: machine{CPUModel: "Example CPU", CPUs: "0-1", MemoryBytes: 24 << 30, Kernel: "6.1", OS: "Debian"}}
	one, two := toldRun("one", began, first, 8, 4), toldRun("two", began.Add(20*time.Minute), second, 3, 6)
	one.head.RepeatBlocks = 1
	one.sights[0].Suspect = []validity.Code{validity.Steal, validity.CutShort}
	one.sights = append(one.sights, sight{Block: 3, Implementation: "a", Void: []validity.Code{validity.Steal}, Suspect: []validity.Code{validity.CutShort}})
	of := func(run, implementation string) source { return prints(run, implementation, "switch", wallTime) }
	return pageOf([]comparison{
		ratio("ratio-one", of("one", "a"), of("one", "b"), atMost(1)), ratio("ratio-two", of("two", "a"), of("two", "b"), noDearer),
		value("ratio-three", of("three", "a"), "ns", theMean, figures.Aim{}),
	}, map[string]*results{"one": one, "two": two, "three": {missing: "the run three has not ended"}}, nil)
}

func TestPageIsGeneratedFromRecords(t *testing.T) {
	place := func(what string) string { return "<!-- = " + what + " -->old<!-- . -->" }
	one := example(head{Loadstone: "v1", Machine: machine{CPUModel: "Example CPU", CPUs: "0-1", MemoryBytes: 24 << 30, Kernel: "6.1", OS: "Debian"}})
	several := example(head{Loadstone: "v2"})
	for name, tc := range map[string]struct {
		page  page
		what  string
		wants []string
	}{
		"all figures": {one, "table", []string{
			"| ratio-one | 2 | ratio | ≤ 1 | **short** | 2 to 2; n = 2 |\n", "| ratio-two | 0.5 | ratio | ≤ 1 (bound within 5 %) | met | 0.5 to 0.5; n = 2 |\n",
			"| ratio-three | - | ns | - | not measured | the run three has not ended |\n",
		}},
		"a figure":             {one, "ratio-one", []string{"-->2 (2 to 2; n = 2), aim ≤ 1<!--"}},
		"its value":            {one, "ratio-one %.2f", []string{"-->2.00<!--"}},
		"its interval":         {one, "ratio-one interval %.1f", []string{"-->2.0 to 2.0<!--"}},
		"what is not measured": {one, "ratio-three %.2f", []string{"-->not measured<!--"}},
		"what a run printed":   {one, "one/a/switch/Time %.1f", []string{"-->8.0<!--"}},
		"one measurement over midnight": {one, "measurements", []string{
			"one measurement: from 2026-03-14 23:50 to 2026-03-15 00:20 UTC, 2 runs, with Loadstone v1 on CPUs 0-1 of Example CPU, 24 GiB of memory, Linux 6.1, Debian.",
			"Runs with repeated blocks: 1 of 2.", "count only in `unanswered`: 1 of 9 (`Steal` 1). Suspect, and counted: 1 (`CutShort` 1, `Steal` 1).",
		}},
		"several measurements":             {several, "measurements", []string{"The table comes from 2 measurements", "\n1. from", ": `one`.\n2. from", ": `two`.\n"}},
		"the measurement of each of a row": {several, "table", []string{"n = 2 | 1 |\n", "n = 2 | 2 |\n", "not ended | - |\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, findings := tc.page.render("before " + place(tc.what) + " after")
			if len(findings) > 0 || !strings.HasPrefix(got, "before <!-- = ") || !strings.HasSuffix(got, "<!-- . --> after") {
				t.Errorf("got %s, %q", got, findings)
			}
			for _, want := range tc.wants {
				if !strings.Contains(got, want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if again, _ := tc.page.render(got); again != got {
				t.Errorf("made again it is another: %s", again)
			}
		})
	}
}

func TestFindsUnsupportedStatementsOnPages(t *testing.T) {
	p := example(head{})
	for name, tc := range map[string]struct{ text, finds string }{
		"nothing of what is short":          {"\n## Missed aims\n\nNothing.\n", "no word on **ratio-one**, which is short"},
		"that something is short and is":    {"\n## Missed aims\n\n- **ratio-one** is.\n\n## Else\n**ratio-two** 1.5", ""},
		"that all of a name are":            {"\n## Missed aims\n\n- **ratio** is.\n", ""},
		"that something is not measured":    {"\n## Missed aims\n\n- **ratio-one** and **ratio-three**.\n", ""},
		"that something is short and isn't": {"\n## Missed aims\n\n- **ratio-one** and **ratio-two**.\n", "names **ratio-two**, but it has no figure, or all are met"},
		"a number that is of no record":     {"\n## Missed aims\n\n- **ratio-one**: 1.99.\n", "an unmarked number, 1.99"},
		"a figure that there is not":        {"<!-- = ratio-four -->1<!-- . -->", `"ratio-four" is no figure`},
		"a case that there is not":          {"<!-- = one/a/swap/Time %.1f -->1<!-- . -->", `"one/a/swap/Time" is not in the record`},
		"an interval of nothing":            {"<!-- = ratio-one interval -->1<!-- . -->", "has no format"},
		"a number in no form":               {"<!-- = ratio-one %d -->1<!-- . -->", "makes %!d"},
		"nothing at all":                    {"<!-- =   -->1<!-- . -->", "is no figure"},
		"what needs no word":                {"# A page\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := p.render(tc.text)
			if got := strings.Join(findings, "; "); !strings.Contains(got, tc.finds) || (tc.finds == "") != (got == "") {
				t.Errorf("got %q, want %q", got, tc.finds)
			}
		})
	}
}

func TestThePagesAreMadeOfTheRecords(t *testing.T) {
	all := load(t.Context(), "records", runs(table))
	stale, err := staleRuns("../..", all)
	if err != nil {
		t.Fatal(err)
	}
	p := pageOf(table, all, stale)
	pages, err := filepath.Glob("../../workloads/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, "../../docs/explanation/workloads.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		made, findings := p.render(string(text))
		if diff := cmp.Diff(string(text), made); diff != "" || len(findings) > 0 {
			t.Errorf("%s is not what the records make: run make generate (-page +made):\n%s%s", path, diff, strings.Join(findings, "\n"))
		}
	}
}

package tools_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
)

var names = []record.Tool{record.ToolAb, record.ToolH2load, record.ToolK6, record.ToolVegeta, record.ToolWrk}

func TestEveryToolOfTheRecordIsKnown(t *testing.T) {
	all := tools.All("/scripts")
	if len(all) != len(names) {
		t.Errorf("%d tools are known, want %q", len(all), names)
	}
	cell := record.Cell{Load: "l", Connections: 4, Threads: 1, Connection: record.KeepAlive, DurationSeconds: 1, Request: record.Request{Path: "/"}}
	for _, name := range names {
		known, ok := all[name]
		if !ok {
			t.Errorf("%s is unknown", name)
			continue
		}
		cell.Tool = name
		if args := known.Args(cell, tool.Target{Address: "10.0.0.1:80"}, tool.Measure); len(args) == 0 || args[0] != string(name) {
			t.Errorf("%s is started as %q", name, args)
		}
		if args := known.VersionArgs(); len(args) < 2 || args[0] != string(name) {
			t.Errorf("the version of %s is asked for as %q", name, args)
		}
		if got := known.ParseVersion([]byte("no such thing\n")); got != record.Unknown {
			t.Errorf("%s finds the version %q where there is none", name, got)
		}
	}
}

// Other tools' output, or none, is no measurement.
func TestNoToolMeasuresAnythingOfNothing(t *testing.T) {
	for name, known := range tools.All("") {
		for what, raw := range map[string]string{"nothing": "", "a blank line": "\n", "a sentence": "connection refused\n", "zeros": "\x00\x00\x00"} {
			if got, err := known.Parse([]byte(raw)); err == nil {
				t.Errorf("%s reads %s as %+v", name, what, got)
			}
		}
	}
}

// Another script folder must not change the tool otherwise.
func TestScriptsAreReadBelowTheGivenFolder(t *testing.T) {
	texts := func(folder string, cell record.Cell) []string {
		known := tools.All(folder)[cell.Tool]
		out := known.Args(cell, tool.Target{Address: "10.0.0.1:80"}, tool.Measure)
		for _, f := range known.Files(cell, tool.Target{Address: "10.0.0.1:80"}) {
			out = append(out, f.Text)
		}
		return out
	}
	for _, name := range []record.Tool{record.ToolWrk, record.ToolK6} {
		cell := record.Cell{
			Load: "login", Tool: name, Connections: 1, Threads: 1, Connection: record.KeepAlive, DurationSeconds: 1, Request: record.Request{Path: "/"},
		}
		if !slices.Equal(texts("/here", cell), texts("/there", cell)) {
			t.Errorf("%s reads the folder of scripts without a script", name)
		}
		cell.Script = &record.Script{Key: "main"}
		if slices.Equal(texts("/here", cell), texts("/there", cell)) {
			t.Errorf("%s reads its script from the same place, whatever the folder", name)
		}
	}
}

func TestNeedsGrowWithTheShare(t *testing.T) {
	for _, name := range names {
		t.Run(string(name), func(t *testing.T) {
			share := record.Cell{Tool: name, Connections: 10, DurationSeconds: 5}
			base := tools.Needs(share)
			if base.Gap < tool.LeastGap || base.MemoryBytes < 10*tool.ConnectionBytes {
				t.Errorf("10 connections for 5 s need %+v", base)
			}
			share.Connections = 1000
			if more := tools.Needs(share); more.MemoryBytes < base.MemoryBytes+990*tool.ConnectionBytes || more.Gap < base.Gap {
				t.Errorf("1000 connections need %+v, 10 need %+v", more, base)
			}
			share.DurationSeconds = 60
			if longer, shorter := tools.Needs(share), base; longer.MemoryBytes < shorter.MemoryBytes || longer.Gap < shorter.Gap {
				t.Errorf("60 s need %+v, 5 s need %+v", longer, shorter)
			}
		})
	}
}

func TestNeedsOfEachTool(t *testing.T) {
	for name, tc := range map[string]struct {
		share record.Cell
		gap   time.Duration
	}{
		"wrk ends in a moment":          {record.Cell{Tool: record.ToolWrk, Connections: 5000, DurationSeconds: 60}, tool.LeastGap},
		"ab sorts what it has measured": {record.Cell{Tool: record.ToolAb, Connections: 1, DurationSeconds: 10}, tool.LeastGap + 3*time.Second},
		"k6 makes an engine a user":     {record.Cell{Tool: record.ToolK6, Connections: 500, DurationSeconds: 10}, 2 * time.Second},
		"vegeta waits for what it has sent, and its records are read": {
			record.Cell{Tool: record.ToolVegeta, Connections: 1, RequestsPerSecond: 1000, DurationSeconds: 10}, tool.LeastGap + 2*time.Second + 105*time.Millisecond,
		},
		"h2load's log is read":     {record.Cell{Tool: record.ToolH2load, Connections: 1, Threads: 1, DurationSeconds: 10}, tool.LeastGap + 600*time.Millisecond},
		"a tool that nobody knows": {record.Cell{Tool: "siege", Connections: 1, DurationSeconds: 10}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tools.Needs(tc.share); got.Gap != tc.gap {
				t.Errorf("it needs %s, want %s", got.Gap, tc.gap)
			}
		})
	}
	if got := tools.Needs(record.Cell{Tool: "siege", Connections: 9}); got != (tool.Needs{}) {
		t.Errorf("a tool that nobody knows needs %+v", got)
	}
}

// Features beyond a closed model of one GET over HTTP/1.1, which all but vegeta support. A new tool must be added for each.
func TestToolsTakeOnlyWhatTheyCanDo(t *testing.T) {
	type load = tool.Load
	rate := func(l *load) { l.Levels[0].RequestsPerSecond = 100 }
	for name, tc := range map[string]struct {
		change func(*load)
		able   []record.Tool
	}{
		"a closed model":                {func(*load) {}, []record.Tool{record.ToolAb, record.ToolH2load, record.ToolK6, record.ToolWrk}},
		"a rate":                        {rate, []record.Tool{record.ToolK6, record.ToolVegeta}},
		"a ramp":                        {func(l *load) { rate(l); l.Levels[0].RampToRequestsPerSecond = 200 }, []record.Tool{record.ToolK6}},
		"a search":                      {func(l *load) { l.Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 10} }, []record.Tool{record.ToolK6, record.ToolVegeta}},
		"a rate that is too high":       {func(l *load) { l.Levels[0].RequestsPerSecond = 1_000_000 }, nil},
		"a script":                      {func(l *load) { l.Script = v1alpha1.Script{ConfigMap: "c", Key: "k"} }, []record.Tool{record.ToolK6, record.ToolWrk}},
		"a mix":                         {func(l *load) { l.Requests = make([]v1alpha1.MixedRequest, 2) }, []record.Tool{record.ToolK6, record.ToolWrk}},
		"HTTP/2":                        {func(l *load) { l.Protocol = v1alpha1.ProtocolHTTP2 }, []record.Tool{record.ToolH2load, record.ToolK6}},
		"several streams":               {func(l *load) { l.Protocol, l.StreamsPerConnection = v1alpha1.ProtocolHTTP2, 10 }, []record.Tool{record.ToolH2load}},
		"one stream":                    {func(l *load) { l.StreamsPerConnection = 1 }, []record.Tool{record.ToolAb, record.ToolH2load, record.ToolK6, record.ToolWrk}},
		"a duet":                        {func(l *load) { l.Duet = true }, []record.Tool{record.ToolWrk}},
		"two threads":                   {func(l *load) { l.Generators.CPUs = 2 }, []record.Tool{record.ToolH2load, record.ToolK6, record.ToolWrk}},
		"threads that share unequally":  {func(l *load) { l.Generators.CPUs = 3 }, []record.Tool{record.ToolH2load, record.ToolK6}},
		"99.9":                          {func(l *load) { l.Percentiles = []tool.Percentile{{Field: "f", Value: "99.9"}} }, []record.Tool{record.ToolH2load, record.ToolK6, record.ToolWrk}},
		"a connection for each request": {func(l *load) { l.Connection = v1alpha1.PerRequest }, []record.Tool{record.ToolAb, record.ToolK6, record.ToolWrk}},
		"a handshake for each request": {func(l *load) {
			l.Connection, l.Encrypted = v1alpha1.PerRequest, "spec.implementations[0]"
		}, []record.Tool{record.ToolK6, record.ToolWrk}},
		"a method that few know": {func(l *load) { l.Request.Method = "QUERY" }, []record.Tool{record.ToolAb, record.ToolH2load, record.ToolK6}},
		"a path of 8,000 bytes":  {func(l *load) { l.Request.Path = "/" + strings.Repeat("a", 8000) }, []record.Tool{record.ToolH2load, record.ToolK6, record.ToolWrk}},
		"a million answers in a search": {func(l *load) {
			l.Search, l.DurationSeconds = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 10}, 41
		}, []record.Tool{record.ToolK6}},
	} {
		t.Run(name, func(t *testing.T) {
			l := load{Field: "spec.loads[0]", Load: v1alpha1.Load{
				Levels: []v1alpha1.Level{{Connections: 10}}, Generators: v1alpha1.Generators{Pods: 1, CPUs: 1}, DurationSeconds: 5,
			}}
			tc.change(&l)
			if got := tools.Able(l); !slices.Equal(got, tc.able) {
				t.Errorf("it is taken by %q, want %q", got, tc.able)
			}
			for _, name := range names {
				l.Tool = name
				for _, r := range tools.Check(l) {
					if !strings.HasPrefix(r.Problem, "spec.loads[0].") && !strings.HasPrefix(r.Problem, "f ") {
						t.Errorf("%s refuses without the field: %+v", name, r)
					}
				}
			}
			if l.Tool = "siege"; tools.Check(l) != nil {
				t.Error("a tool that nobody knows refuses something")
			}
		})
	}
}

func TestCaveatsOfEachTool(t *testing.T) {
	for name, tc := range map[string]struct {
		tool record.Tool
		tls  bool
		want tool.Caveats
	}{
		"wrk":                      {record.ToolWrk, true, tool.Caveats{StaysRefused: true, Resumes: true}},
		"ab":                       {record.ToolAb, true, tool.Caveats{OtherHeads: true}},
		"k6":                       {record.ToolK6, false, tool.Caveats{Pause: 50 * time.Millisecond, ReadsBodies: true}},
		"k6 over TLS":              {record.ToolK6, true, tool.Caveats{Pause: 50 * time.Millisecond, OtherBytes: true, ReadsBodies: true}},
		"h2load":                   {record.ToolH2load, true, tool.Caveats{}},
		"vegeta":                   {record.ToolVegeta, true, tool.Caveats{Pause: 10 * time.Millisecond, ReadsBodies: true}},
		"a tool that nobody knows": {"siege", true, tool.Caveats{}},
	} {
		if got := tools.Caveats(record.Cell{Tool: tc.tool, Connection: record.KeepAlive}, tc.tls); got != tc.want {
			t.Errorf("%s has the caveats %+v, want %+v", name, got, tc.want)
		}
	}
	if c := (record.Cell{Tool: record.ToolH2load}).Speaking(record.HTTP2); !tools.Caveats(c, true).OtherBytes {
		t.Error("the bytes of HTTP/2 are taken for those of HTTP/1.1")
	}
	for name, known := range tools.All("") {
		if known.Name() != name || known.Install() == "" {
			t.Errorf("%s is listed as %s, and is installed by %q", known.Name(), name, known.Install())
		}
	}
}

// Differences between tools are in package tool, so a new one needs no change elsewhere.
func TestNobodyElseAsksForAToolByItsName(t *testing.T) {
	byName := regexp.MustCompile(`record\.Tool(Wrk|Ab|K6|Vegeta|H2load)\b`)
	for _, folder := range []string{"../..", "../../../controllers", "../../../cmd"} {
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			inner := filepath.ToSlash(file)
			if strings.Contains(inner, "/recordtest/") || strings.Contains(inner, "/tool/") {
				return nil
			}
			body, err := os.ReadFile(file)
			if at := byName.Find(body); at != nil {
				t.Errorf("%s names %s: ask the tool instead", file, at)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

package planned_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

func manifest(changes ...func(*record.RunManifest)) record.RunManifest {
	m := record.RunManifest{
		Run: record.Run{Namespace: "bench", Name: "quick"}, Blocks: 7,
		Plan: record.Plan{
			Order: record.OrderBlocks, Baseline: "go", LatencyPercentiles: []string{"50", "99"},
			Implementations: []record.Implementation{
				{Name: "go", Image: "go:1", CPUs: 1, Role: record.RoleContender},
				{Name: "epoll", Image: "epoll:1", CPUs: 2, Role: record.RoleContender},
			},
			Loads:  []record.Load{{Name: "sweep"}},
			Cells:  []record.Cell{cell(10), cell(100)},
			Trials: []record.PlannedTrial{{Name: "quick-000-go", Block: 1, Servers: []string{"go"}}},
		},
	}
	for _, change := range changes {
		change(&m)
	}
	return m
}

func cell(connections int32) record.Cell {
	return record.Cell{
		Load: "sweep", Tool: record.ToolWrk, Connections: connections, Generators: 2, Threads: 3, Connection: record.KeepAlive,
		Request: record.Request{Path: "/x"}, WarmupSeconds: 1, DurationSeconds: 5,
	}
}

func searchOf(load string, steps int32) []record.Cell {
	search := &record.Search{Percentile: 99, MaxMilliseconds: 100, StartRequestsPerSecond: 50, Steps: steps}
	cells := make([]record.Cell, steps)
	for i := range cells {
		cells[i] = cell(8)
		cells[i].Load, cells[i].Tool, cells[i].Step, cells[i].Search = load, record.ToolK6, int32(i+1), search
	}
	return cells
}

func read(t *testing.T, m record.RunManifest) planned.Run {
	t.Helper()
	run, err := planned.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestOfRefusesAPlanThatCannotBeReported(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*record.RunManifest)
		refused bool
	}{
		"a whole plan":              {func(*record.RunManifest) {}, false},
		"no implementation":         {func(m *record.RunManifest) { m.Plan.Implementations = nil }, true},
		"no cell, as other kinds":   {func(m *record.RunManifest) { m.Plan.Cells = nil }, false},
		"no plan at all":            {func(m *record.RunManifest) { m.Plan = record.Plan{} }, true},
		"a baseline of another run": {func(m *record.RunManifest) { m.Plan.Baseline = "netty" }, true},
		"no baseline":               {func(m *record.RunManifest) { m.Plan.Baseline = "" }, true},
		"one implementation only":   {func(m *record.RunManifest) { m.Plan.Implementations = m.Plan.Implementations[:1] }, false},
		"no loads, as plans had":    {func(m *record.RunManifest) { m.Plan.Loads = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := planned.Of(manifest(tc.change)); (err != nil) != tc.refused {
				t.Errorf("error %v, want one: %v", err, tc.refused)
			}
		})
	}
}

func TestTheBlocksOfARunCountItsRepeats(t *testing.T) {
	for name, tc := range map[string]struct {
		planned, blocks, repeats, want int32
	}{
		"as planned":           {planned: 10, blocks: 10, want: 10},
		"ended early":          {planned: 30, blocks: 10, want: 10},
		"with repeats":         {planned: 7, blocks: 7, repeats: 3, want: 10},
		"nothing was measured": {planned: 7},
	} {
		t.Run(name, func(t *testing.T) {
			run := read(t, manifest(func(m *record.RunManifest) {
				m.Plan.Blocks, m.Blocks, m.RepeatBlocks = tc.planned, tc.blocks, tc.repeats
			}))
			if run.Blocks != tc.want {
				t.Errorf("%d blocks, want %d", run.Blocks, tc.want)
			}
		})
	}
}

func TestOnlyLoadsWithAWeightAreWeighed(t *testing.T) {
	for name, tc := range map[string]struct {
		loads []record.Load
		want  map[string]float64
	}{
		"none":            {nil, map[string]float64{}},
		"no weight":       {[]record.Load{{Name: "a"}, {Name: "b"}}, map[string]float64{}},
		"weights":         {[]record.Load{{Name: "a", Weight: 0.25}, {Name: "b", Weight: 0.75}}, map[string]float64{"a": 0.25, "b": 0.75}},
		"a search beside": {[]record.Load{{Name: "a", Weight: 1}, {Name: "find"}}, map[string]float64{"a": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Loads = tc.loads }))
			if diff := cmp.Diff(tc.want, run.Weights); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASearchIsOneEntryAndNoLevel(t *testing.T) {
	for name, tc := range map[string]struct {
		cells    []record.Cell
		levels   int
		searches []string
	}{
		"levels only":         {[]record.Cell{cell(1), cell(2)}, 2, nil},
		"a search only":       {searchOf("find", 12), 0, []string{"find"}},
		"levels and a search": {append([]record.Cell{cell(1)}, searchOf("find", 3)...), 1, []string{"find"}},
		"two searches":        {append(searchOf("find", 3), searchOf("more", 1)...), 0, []string{"find", "more"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Cells = tc.cells }))
			var searches []string
			for _, s := range run.Searches {
				searches = append(searches, s.Load)
			}
			if len(run.Levels) != tc.levels || cmp.Diff(tc.searches, searches) != "" {
				t.Errorf("%d levels and the searches %q, want %d and %q", len(run.Levels), searches, tc.levels, tc.searches)
			}
		})
	}
}

func TestAStepOfASearchHasItsOwnRateAndTheRestOfTheLoad(t *testing.T) {
	run := read(t, manifest(func(m *record.RunManifest) { m.Plan.Cells = searchOf("find", 4) }))
	search := run.Searches[0]
	if search.Percentile != 99 || search.MaxMilliseconds != 100 || search.StartRequestsPerSecond != 50 || search.Steps != 4 {
		t.Errorf("the search is %+v", search.Search)
	}
	at := record.Point{Load: "find", Connections: 8, RequestsPerSecond: 700, Step: 3}
	step := search.Step(at)
	if step.Point != at || !step.Imposed() {
		t.Errorf("the step is %+v, imposed %v; want %+v", step.Point, step.Imposed(), at)
	}
	step.Point = search.Point
	if diff := cmp.Diff(search.Level, step); diff != "" {
		t.Errorf("the step differs from its load (-want +got):\n%s", diff)
	}
	if search.Imposed() {
		t.Error("a search has a rate before it begins")
	}
}

func TestALevelHoldsWhatItsCellHolds(t *testing.T) {
	c := cell(10)
	c.RequestsPerSecond, c.RampToRequestsPerSecond, c.Script, c.Request.Method = 20, 30, &record.Script{Key: "a.js"}, "POST"
	c.Request.Expect.AnyBody, c.Request.Protocol, c.StreamsPerConnection = true, record.HTTP2, 40
	want := planned.Level{
		Point: record.Point{Load: "sweep", Connections: 10, RequestsPerSecond: 20}, Tool: record.ToolWrk, RampToRequestsPerSecond: 30,
		Generators: 2, Threads: 3, Connection: record.KeepAlive, Protocol: record.HTTP2, Scripted: true, Path: "/x", Request: c.Request.Key(), AnyBody: true, StreamsPerConnection: 40, WarmupSeconds: 1, DurationSeconds: 5,
	}
	got := planned.LevelOf(c)
	if got.Key() != c.Request.Key() || planned.LevelOf(cell(10)).Key() != "/x" {
		t.Errorf("the keys are %q and %q", got.Key(), planned.LevelOf(cell(10)).Key())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A field of Level that LevelOf forgets is zero here. A mix replaces a request and has its own test.
	got.Mix = []planned.Asked{{}}
	for v, i := reflect.ValueOf(got), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
}

func TestAGeneratorOwnsACPUAThread(t *testing.T) {
	for threads, want := range map[int32]int32{1: 1, 4: 4} {
		if got := (planned.Level{Threads: threads}).GeneratorCPUs(); got != want {
			t.Errorf("%d threads own %d CPUs, want %d", threads, got, want)
		}
	}
}

func TestARateAboveNothingIsImposed(t *testing.T) {
	for name, tc := range map[string]struct {
		level planned.Level
		want  bool
	}{
		"the closed model": {planned.Level{Point: record.Point{Connections: 10}}, false},
		"a constant rate":  {planned.Level{Point: record.Point{RequestsPerSecond: 1}}, true},
		"a ramp":           {planned.Level{Point: record.Point{RequestsPerSecond: 1}, RampToRequestsPerSecond: 9}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.level.Imposed(); got != tc.want {
				t.Errorf("imposed: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestImplementationsKnowWhetherTheyAreTheBaseline(t *testing.T) {
	run := read(t, manifest())
	want := []planned.Implementation{
		{Name: "go", Role: record.RoleContender, Baseline: true, Image: "go:1", CPUs: 1},
		{Name: "epoll", Role: record.RoleContender, Image: "epoll:1", CPUs: 2},
	}
	if diff := cmp.Diff(want, run.Implementations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, i := range want {
		if got, ok := run.Implementation(i.Name); !ok || !cmp.Equal(got, i) {
			t.Errorf("%s is found: %v, %+v", i.Name, ok, got)
		}
	}
	if got, ok := run.Implementation("netty"); ok || !cmp.Equal(got, planned.Implementation{}) {
		t.Errorf("an implementation that was not planned is %+v", got)
	}
}

const other = record.Role("Other")

func TestContendersAreComparedWithTheBaseline(t *testing.T) {
	role := func(roles ...record.Role) func(*record.RunManifest) {
		return func(m *record.RunManifest) {
			m.Plan.Implementations = nil
			for i, r := range roles {
				m.Plan.Implementations = append(m.Plan.Implementations, record.Implementation{Name: []string{"go", "epoll", "netty"}[i], Role: r})
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunManifest)
		want   []string
	}{
		"all but the baseline": {role(record.RoleContender, record.RoleContender, record.RoleContender), []string{"epoll", "netty"}},
		"no other role":        {role(record.RoleContender, other, record.RoleContender), []string{"netty"}},
		"the baseline alone":   {role(record.RoleContender), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range read(t, manifest(tc.change)).Contenders() {
				got = append(got, c.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestADuetIsRead(t *testing.T) {
	for order, want := range map[record.Order]bool{record.OrderBlocks: false, record.OrderSlicedDuet: true, "": false} {
		if got := read(t, manifest(func(m *record.RunManifest) { m.Plan.Order = order })).Duet; got != want {
			t.Errorf("the order %q is a duet: %v, want %v", order, got, want)
		}
	}
}

func TestRequestsThatAreMoreThanAPathAreListedOnceALoad(t *testing.T) {
	post := record.Request{Method: "POST", Path: "/x", Headers: []record.Header{{Name: "X-A", Value: "b"}}, Body: "{}"}
	run := read(t, manifest(func(m *record.RunManifest) {
		m.Plan.Cells = append(m.Plan.Cells, searchOf("orders", 3)...)
		for i := range m.Plan.Cells[2:] {
			m.Plan.Cells[2+i].Request = post
		}
	}))
	want := []planned.Request{{Load: "orders", Key: post.Key(), Method: "POST", Path: "/x", Headers: post.Headers, BodyBytes: 2, BodySHA256: post.BodySHA256()}}
	if diff := cmp.Diff(want, run.Requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

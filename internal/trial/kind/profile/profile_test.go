package profile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/profile"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

type change func(*v1alpha1.BenchmarkRunSpec)

// spec is a run of two servers, each profiled once.
func spec(changes ...change) v1alpha1.BenchmarkRunSpec {
	body := "hello"
	s := v1alpha1.BenchmarkRunSpec{
		Implementations: []v1alpha1.Implementation{
			{Name: "go", Image: "go:1", Command: []string{"/go"}, Port: 8080}, {Name: "epoll", Image: "epoll:1", Command: []string{"/epoll", "-v"}, Port: 8081, CPUs: 2},
		},
		Baseline: "go", Blocks: 3,
		Loads: []v1alpha1.Load{
			{Name: "scripted", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, Script: v1alpha1.Script{ConfigMap: "scripts", Key: "a.lua"}},
			{Name: "plain", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}, {Connections: 20}}, Request: v1alpha1.Request{Path: "/plain", Expect: v1alpha1.Expect{Status: 201, Body: &body}}},
			{Name: "other", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}, Request: v1alpha1.Request{Path: "/other"}},
		},
		Profiles: []v1alpha1.Profile{{Name: "costs", Tool: v1alpha1.ToolCallgrind}},
	}
	for _, c := range changes {
		c(&s)
	}
	return s
}

func own(c func(*v1alpha1.Profile)) change {
	return func(s *v1alpha1.BenchmarkRunSpec) { c(&s.Profiles[0]) }
}

func compiled(t *testing.T, changes ...change) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec(changes...), plan.Options{Name: "run", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProfileHasItsDefaultsAndTheyAreNoted(t *testing.T) {
	for name, tc := range map[string]struct {
		change change
		want   record.Profile
		notes  []string
	}{
		"of a tool that counts": {
			own(func(*v1alpha1.Profile) {}),
			record.Profile{Tool: profiler.Callgrind, Requests: 10_000, Connections: 1, Repeats: 3, LimitSeconds: 300},
			[]string{"repeats defaults to 3", "requests defaults to 10000", "connections defaults to 1", "limitSeconds defaults to 300"},
		},
		"of a tool that finds": {
			own(func(p *v1alpha1.Profile) { p.Tool = v1alpha1.ToolMemcheck }),
			record.Profile{Tool: profiler.Memcheck, Requests: 10_000, Connections: 1, Repeats: 1, LimitSeconds: 300},
			[]string{"repeats defaults to 1", "requests defaults to 10000", "connections defaults to 1", "limitSeconds defaults to 300"},
		},
		"none that is given": {
			own(func(p *v1alpha1.Profile) {
				p.Tool, p.Requests, p.Connections, p.Repeats, p.LimitSeconds = v1alpha1.ToolStrace, 50, 50, 2, 60
			}),
			record.Profile{Tool: profiler.Strace, Requests: 50, Connections: 50, Repeats: 2, LimitSeconds: 60},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, tc.change)
			body := "hello"
			tc.want.Name, tc.want.Request = "costs", record.Request{Path: "/plain", Expect: record.Expect{Status: 201, Body: &body}}
			if diff := cmp.Diff([]record.Profile{tc.want}, p.Profiles); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var notes []string
			for _, n := range p.Notes {
				if rest, found := strings.CutPrefix(n, "profiles[costs]."); found {
					notes = append(notes, rest)
				}
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProfileSendsTheRequestOfItsLoad(t *testing.T) {
	for load, want := range map[string]string{"": "/plain", "plain": "/plain", "other": "/other"} {
		if got := compiled(t, own(func(p *v1alpha1.Profile) { p.Load = load })).Profiles[0].Request; got.Path != want {
			t.Errorf("of the load %q it sends %+v, want %s", load, got, want)
		}
	}
}

func TestAProfileThatCannotBeIsRefusedWithASentence(t *testing.T) {
	memory := func(text string) change {
		return func(s *v1alpha1.BenchmarkRunSpec) {
			q := resource.MustParse(text)
			s.Implementations[1].Memory = &q
		}
	}
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"of no implementation":    {own(func(p *v1alpha1.Profile) { p.Implementations = []string{"go", "zig"} }), "spec.profiles[0].implementations names zig"},
		"of more connections":     {own(func(p *v1alpha1.Profile) { p.Requests, p.Connections = 10, 11 }), "spec.profiles[0].connections is 11, more than its requests"},
		"without a command":       {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Command = nil }, "spec.implementations[1].command is not set"},
		"of little memory":        {memory("16Mi"), "spec.implementations[1].memory is 16Mi"},
		"of no load":              {own(func(p *v1alpha1.Profile) { p.Load = "none" }), "spec.profiles[0].load is none, which is no load of the run"},
		"of a load with a script": {own(func(p *v1alpha1.Profile) { p.Load = "scripted" }), "spec.profiles[0].load is scripted, which has a script"},
		"of a load with a mix": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				own(func(p *v1alpha1.Profile) { p.Load = "plain" })(s)
				i := slices.IndexFunc(s.Loads, func(l v1alpha1.Load) bool { return l.Name == "plain" })
				s.Loads[i].Request = v1alpha1.Request{}
				s.Loads[i].Requests = []v1alpha1.MixedRequest{{Weight: 1}, {Weight: 1, Request: v1alpha1.Request{Path: "/a"}}}
			},
			"spec.profiles[0].load is plain, which sends a mix of requests, and a profile sends one request again and again: name a load with one request",
		},
		"of a load over HTTP/2": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				own(func(p *v1alpha1.Profile) { p.Load = "plain" })(s)
				i := slices.IndexFunc(s.Loads, func(l v1alpha1.Load) bool { return l.Name == "plain" })
				s.Loads[i].Tool, s.Loads[i].Protocol = v1alpha1.ToolK6, v1alpha1.ProtocolHTTP2
				for k := range s.Implementations {
					s.Implementations[k].TLS.Verify = v1alpha1.VerifyNone
				}
			},
			"spec.profiles[0].load is plain, which speaks HTTP/2, and a profile asks in HTTP/1: name a load with protocol: HTTP1",
		},
		"of loads with scripts alone": {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads = s.Loads[:1] }, "spec.profiles[0] sends the request of a load, and every load has a script, a mix of requests or HTTP/2: add a load with one request in HTTP/1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Compile(spec(tc.change), plan.Options{Name: "run", UID: "u"})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// Without a profile no command is needed: the image starts it.
func TestOnlyWhatIsProfiledNeedsACommand(t *testing.T) {
	p := compiled(t, own(func(p *v1alpha1.Profile) { p.Implementations = []string{"go"} }), func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Command = nil })
	if len(p.Following) != 1 || p.Following[0].Servers[0] != "go" {
		t.Errorf("what follows is %+v", p.Following)
	}
}

func TestEachProfileHasATrialOfEachImplementationInTheOrderOfTheSpec(t *testing.T) {
	p := compiled(t, func(s *v1alpha1.BenchmarkRunSpec) {
		s.Profiles = append(s.Profiles, v1alpha1.Profile{Name: "leaks", Tool: v1alpha1.ToolMemcheck, Implementations: []string{"epoll"}}, v1alpha1.Profile{Name: "calls", Tool: v1alpha1.ToolStrace})
	})
	// Six trials of three planned blocks, and as many of three repeat blocks.
	want := []record.PlannedTrial{
		{Name: "run-p00-go", Index: 12, Type: record.ProfileType, Servers: []string{"go"}, Item: "costs"},
		{Name: "run-p01-epoll", Index: 13, Type: record.ProfileType, Servers: []string{"epoll"}, Item: "costs"},
		{Name: "run-p02-epoll", Index: 14, Type: record.ProfileType, Servers: []string{"epoll"}, Item: "leaks"},
		{Name: "run-p03-go", Index: 15, Type: record.ProfileType, Servers: []string{"go"}, Item: "calls"},
		{Name: "run-p04-epoll", Index: 16, Type: record.ProfileType, Servers: []string{"epoll"}, Item: "calls"},
	}
	if diff := cmp.Diff(want, p.Following); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Contains(p.Notes, "5 trials follow the blocks, one after the other") {
		t.Errorf("the notes are %q", p.Notes)
	}
}

// Profiles do not change the plan and order of the blocks.
func TestWhatFollowsChangesNoBlock(t *testing.T) {
	with, without := compiled(t), compiled(t, func(s *v1alpha1.BenchmarkRunSpec) { s.Profiles = nil })
	if diff := cmp.Diff(without.Trials, with.Trials); diff != "" || len(without.Following) != 0 || len(without.Profiles) != 0 {
		t.Errorf("the blocks (-without +with):\n%s\nand without profiles %v follow", diff, without.Following)
	}
	longer := with.TimeoutSeconds - without.TimeoutSeconds
	end := timetable.End(with.Slots(with.Following[0]))
	if one := int32((end + plan.TrialOverhead).Seconds()); longer < 2*one-1 || longer > 2*one+1 {
		t.Errorf("two profiles of 300 s at most lengthen the timeout by %d s, want %d", longer, 2*one)
	}
}

func TestARunOnOneMachineIsProfiledAsOnACluster(t *testing.T) {
	there := compiled(t)
	here, err := plan.Compile(spec(), plan.Options{Name: "run", UID: "u", Local: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(there.Profiles, here.Profiles); diff != "" || len(here.Following) != len(there.Following) || len(here.Following) == 0 {
		t.Errorf("%d trials follow, and the profiles differ (-cluster +here):\n%s", len(here.Following), diff)
	}
}

func TestARunOnOneMachineChecksItsProfiles(t *testing.T) {
	_, err := plan.Compile(spec(own(func(p *v1alpha1.Profile) { p.Load = "none" })), plan.Options{Name: "run", UID: "u", Local: true})
	if err == nil || !strings.HasPrefix(err.Error(), "spec.profiles[0].load is none, which is no load of the run") {
		t.Errorf("a profile of no load ends with %v", err)
	}
}

func TestATrialOfAProfileDoesWhatWasPlanned(t *testing.T) {
	p := compiled(t, own(func(p *v1alpha1.Profile) {
		p.Requests, p.Connections, p.Repeats, p.LimitSeconds, p.Load = 70, 7, 2, 99, "plain"
	}))
	want := profile.Profile{Server: p.Implementation("epoll"), Profile: p.Profiles[0]}
	if diff := cmp.Diff(want, kinds.Planned(p.Plan, p.Following[1])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAProfileIsAServerWithItsProfilerAndAMonitorBesideIt(t *testing.T) {
	work := kinds.Planned(compiled(t).Plan, compiled(t).Following[1])
	members := work.Members()
	if len(members) != 1 || members[0].Name != record.MemberServer(0) || members[0].Role != v1alpha1.RoleServer || len(members[0].Processes) != 2 {
		t.Fatalf("the members are %+v", members)
	}
	server, monitor := members[0].Processes[0], members[0].Processes[1]
	if server.Image != "epoll:1" || !slices.Equal(server.Command, []string{"/epoll", "-v"}) || !server.Launched || !server.Toolbox || server.IsAgent() || server.MilliCPU != 2000 {
		t.Errorf("the server is %+v", server)
	}
	if want := profiler.MemoryBytes(profiler.Callgrind, plan.DefaultMemoryBytes); server.MemoryBytes != want {
		t.Errorf("the server has %d bytes, want %d: its own and the profiler's", server.MemoryBytes, want)
	}
	if !monitor.IsAgent() || !monitor.Exchanges || monitor.Toolbox || monitor.MilliCPU%1000 == 0 {
		t.Errorf("the monitor is %+v", monitor)
	}
	if slots := work.Slots(); len(slots) != 1 || slots[0].Measured != 300*time.Second || timetable.End(slots) <= 300*time.Second || !work.EndsItself() || work.Check(nil, nil) != nil {
		t.Errorf("its slots are %+v", slots)
	}
}

func TestTheMonitorIsToldEverything(t *testing.T) {
	empty := ""
	for name, tc := range map[string]struct {
		body *string
		want []string
	}{
		"a body that nobody compares": {nil, nil},
		"a body":                      {new("a b --c"), []string{"--compare-body", "--body=a b --c"}},
		"no body at all":              {&empty, []string{"--compare-body", "--body="}},
	} {
		t.Run(name, func(t *testing.T) {
			work := profile.Profile{Profile: record.Profile{
				Name: "p", Tool: profiler.Strace, Requests: 70, Connections: 7, Repeats: 2, LimitSeconds: 99,
				Request: record.Request{Path: "/a?b=c", Expect: record.Expect{Status: 404, Body: tc.body}},
			}}
			want := append([]string{"profile", "--tool=strace", "--limit=99", "--path=/a?b=c", "--status=404", "--requests=70", "--connections=7", "--repeats=2"}, tc.want...)
			if diff := cmp.Diff(want, work.Members()[0].Processes[1].Args); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheResultOfAProfileIsItsMonitorsAlone(t *testing.T) {
	result := json.RawMessage(`{"profiled": {"tool": "strace", "launches": [{"asked": 5}]}}`)
	for name, tc := range map[string]struct {
		results map[string]json.RawMessage
		servers int
		change  func(*record.TrialManifest)
		says    string
	}{
		"a result":                  {results: map[string]json.RawMessage{"server-0": result}, servers: 1},
		"no result":                 {servers: 1, says: "the results of 0 members"},
		"a result of a generator":   {results: map[string]json.RawMessage{"server-0": result, "generator-0": result}, servers: 1, says: "the results of 2 members"},
		"a result of another":       {results: map[string]json.RawMessage{"server-1": result}, servers: 1, says: "want that of server-0 alone"},
		"two servers":               {results: map[string]json.RawMessage{"server-0": result}, servers: 2, says: "2 servers: want 1"},
		"no JSON":                   {results: map[string]json.RawMessage{"server-0": json.RawMessage("{")}, servers: 1, says: "reading the result of server-0"},
		"a result of another kind":  {results: map[string]json.RawMessage{"server-0": json.RawMessage("{}")}, servers: 1, says: "it holds nothing of a profile"},
		"a manifest of another one": {results: map[string]json.RawMessage{"server-0": result}, servers: 1, change: func(m *record.TrialManifest) { m.Profiling = nil }, says: "it holds nothing of a profile"},
	} {
		t.Run(name, func(t *testing.T) {
			d := record.TrialData{Manifest: record.TrialManifest{Profiling: &record.Profile{}}}
			for i := range tc.servers {
				d.Manifest.Servers = append(d.Manifest.Servers, fmt.Sprint("s", i))
			}
			if tc.change != nil {
				tc.change(&d.Manifest)
			}
			err := profile.Kind{}.Decode(tc.results, &d)
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("got %v, want %q", err, tc.says)
				}
				return
			}
			if err != nil || len(d.Servers) != 1 || d.Servers[0].Profiled.Launches[0].Asked != 5 || len(profile.Kind{}.Rows(d)) != 0 {
				t.Errorf("%+v, %v", d.Servers, err)
			}
		})
	}
}

func TestTheCountsOfATrialAreOnePairForEachRepeatOfAToolThatCounts(t *testing.T) {
	for tool, want := range map[profiler.Tool][]int64{
		profiler.Callgrind: {7, 14, 7, 14}, profiler.Cachegrind: {7, 14, 7, 14}, profiler.Strace: {7, 14, 7, 14}, profiler.Memcheck: {7, 7}, profiler.Massif: {7, 7},
	} {
		if diff := cmp.Diff(want, record.Profile{Tool: tool, Requests: 7, Repeats: 2}.Counts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool, diff)
		}
	}
	if got := (record.Profile{Tool: profiler.Strace, Requests: 2_000_000_000, Repeats: 1}).Counts(); got[1] != 4_000_000_000 {
		t.Errorf("many requests are %v", got)
	}
}

// The monitor must know its server's stop signal and start limit.
func TestTheMonitorKnowsHowItsServerStartsAndEnds(t *testing.T) {
	p := compiled(t, func(s *v1alpha1.BenchmarkRunSpec) {
		s.Implementations[1].StopSignal, s.Implementations[1].Readiness.TimeoutSeconds = "SIGQUIT", 90
	})
	for name, want := range map[string][]string{"go": {"--start-seconds=30"}, "epoll": {"--start-seconds=90", "--stop-signal=SIGQUIT"}} {
		line := p.Following[slices.IndexFunc(p.Following, func(l record.PlannedTrial) bool { return l.Servers[0] == name })]
		work := kinds.Planned(p.Plan, line)
		var got []string
		for _, arg := range work.Members()[0].Processes[1].Args {
			if strings.HasPrefix(arg, "--st") && !strings.HasPrefix(arg, "--status") {
				got = append(got, arg)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

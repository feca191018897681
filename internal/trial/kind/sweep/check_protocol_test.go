package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// inHTTP2 is a k6 load in HTTP/2 on TLS servers.
func inHTTP2(s *v1alpha1.BenchmarkRunSpec) {
	for i := range s.Implementations {
		s.Implementations[i].TLS.Verify = v1alpha1.VerifyNone
	}
	s.Loads[0].Tool, s.Loads[0].Protocol = v1alpha1.ToolK6, v1alpha1.ProtocolHTTP2
}

func TestHTTP2IsForToolsAndServersThatSpeakIt(t *testing.T) {
	with := func(change func(*v1alpha1.BenchmarkRunSpec)) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) {
			inHTTP2(s)
			change(s)
		}
	}
	of := func(tool v1alpha1.Tool) func(*v1alpha1.BenchmarkRunSpec) {
		return with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Tool = tool })
	}
	const asks = "loads[sweep].protocol is HTTP2: each connection has 1 of its requests in flight, and a cell with a response in another version of HTTP is void"
	const stays = "loads[sweep].protocol defaults to HTTP1: HTTP/2 is offered to no server"
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		want   string
		noted  string
	}{
		"k6":  {change: inHTTP2, noted: asks},
		"wrk": {change: of(v1alpha1.ToolWrk), want: "spec.loads[0].protocol is HTTP2, and wrk speaks HTTP/1.1 alone: remove protocol, or use "},
		"ab":  {change: of(v1alpha1.ToolAb), want: "spec.loads[0].protocol is HTTP2, and ab speaks HTTP/1.0 alone: remove protocol, or use "},
		"vegeta": {change: with(func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads[0].Tool, s.Loads[0].Levels[0].RequestsPerSecond = v1alpha1.ToolVegeta, 9
		}), want: "spec.loads[0].protocol is HTTP2, and vegeta does not tell in which version it was answered: remove protocol, or use k6"},
		"a connection for each request": {
			change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Connection = v1alpha1.PerRequest }),
			want:   "spec.loads[0].protocol is HTTP2, whose connections carry many requests, and connection is PerRequest: remove one of the two",
		},
		"one server without TLS": {
			change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].TLS = v1alpha1.TLS{} }),
			want:   "spec.loads[0].protocol is HTTP2, on which k6 and a server agree in a handshake of TLS alone, and spec.implementations[1], zco, speaks none: set its tls, or remove protocol",
		},
		"streams over HTTP/1.1": {
			change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Protocol, s.Loads[0].StreamsPerConnection = "", 10 }),
			want:   "spec.loads[0].streamsPerConnection is 10, and HTTP/1.1 has one request at a time on each connection: set protocol: HTTP2, or remove streamsPerConnection",
		},
		"streams of a tool that has one": {
			change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].StreamsPerConnection = 10 }),
			want:   "spec.loads[0].streamsPerConnection is 10, and k6 sends one request at a time on each connection: remove it, and raise levels[].connections",
		},
		"more streams than servers accept": {
			change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].StreamsPerConnection = 101 }),
			want:   "spec.loads[0].streamsPerConnection is 101: give a number from 1 to 100",
		},
		"one stream":           {change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].StreamsPerConnection = 1 }), noted: asks},
		"HTTP/1.1 by default":  {change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Protocol = "" }), noted: stays},
		"HTTP/1.1 as it says":  {change: with(func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Protocol = v1alpha1.ProtocolHTTP1 })},
		"nobody who could":     {change: func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Tool = v1alpha1.ToolK6 }},
		"HTTP/1.1 without TLS": {change: func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Protocol = v1alpha1.ProtocolHTTP1 }},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			v := sweep.Kind{}.Plan(loads(tc.change), &p)
			if (v != nil) != (tc.want != "") || v != nil && (v.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(v.Message, tc.want)) {
				t.Fatalf("got %v, want %q", v, tc.want)
			}
			for _, note := range []string{asks, stays} {
				if slices.Contains(p.Notes, note) != (note == tc.noted) {
					t.Errorf("the notes are %q, want %q", p.Notes, tc.noted)
				}
			}
		})
	}
}

func TestHTTP2SurvivesItsTrial(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.Load){
		"one request": func(*v1alpha1.Load) {},
		"a mix": func(l *v1alpha1.Load) {
			l.Requests = []v1alpha1.MixedRequest{mixed(4, v1alpha1.Request{}), mixed(1, v1alpha1.Request{Path: "/b"})}
		},
		"a script": func(l *v1alpha1.Load) { l.Script = v1alpha1.Script{ConfigMap: "a", Key: "b.js"} },
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			if v := (sweep.Kind{}).Plan(loads(func(s *v1alpha1.BenchmarkRunSpec) {
				inHTTP2(s)
				change(&s.Loads[0])
				s.Loads = append(s.Loads, v1alpha1.Load{Name: "old", Tool: v1alpha1.ToolWrk, Levels: s.Loads[0].Levels})
			}), &p); v != nil {
				t.Fatal(v)
			}
			if p.Cells[0].Protocol() != record.HTTP2 || p.Cells[1].Protocol() != "" {
				t.Fatalf("the cells are %+v", p.Cells)
			}
			// The same path is checked in each version.
			want := map[string]int{"one request": 2, "a mix": 3, "a script": 1}[name]
			if got := sweep.Requests(p.Cells); len(got) != want {
				t.Errorf("the check sends %+v, want %d requests", got, want)
			}
		})
	}
}

// A server with HTTP/2 only can be asked nothing else; one with loads in both must speak both.
func TestAnObserverAsksInHTTP2WhereAllLoadsDo(t *testing.T) {
	one := record.Cell{Request: record.Request{Path: "/"}}
	two := one.Speaking(record.HTTP2)
	for name, tc := range map[string]struct {
		cells []record.Cell
		want  bool
	}{
		"all":  {[]record.Cell{two, two}, true},
		"some": {[]record.Cell{two, one}, false},
		"none": {[]record.Cell{one}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := sweep.Sweep{Implementations: []record.Implementation{{Name: "a", Port: 443, TLS: &record.TLS{}}}, Generators: record.Generators{Pods: 1, CPUs: 1}, Cells: tc.cells}
			if args := s.Members()[1].Processes[1].Args; slices.Contains(args, "--http2") != tc.want {
				t.Errorf("the observer is told %q", args)
			}
		})
	}
}

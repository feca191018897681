package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// perRequest opens a connection for each request; the second server has TLS.
func perRequest(tool v1alpha1.Tool) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		s.Implementations[1].TLS.Verify = v1alpha1.VerifyNone
		s.Loads[0].Tool, s.Loads[0].Connection = tool, v1alpha1.PerRequest
	}
}

func TestAHandshakeForEachRequestIsRefusedOrNoted(t *testing.T) {
	const note = "loads[sweep].connection is PerRequest: with a server that speaks TLS each request begins with a handshake, "
	for name, tc := range map[string]struct {
		change  func(*v1alpha1.BenchmarkRunSpec)
		refused string
		noted   string
	}{
		"wrk resumes": {perRequest(v1alpha1.ToolWrk), "", note + "which resumes the session where the server allows it"},
		"k6 does not": {perRequest(v1alpha1.ToolK6), "", note + "a whole one, since k6 resumes no session"},
		"ab waits":    {perRequest(v1alpha1.ToolAb), "spec.loads[0].connection is PerRequest, and spec.implementations[1] speaks TLS: after each handshake of TLS 1.3 ab waits up to 40 ms", ""},
		"ab without TLS": {func(s *v1alpha1.BenchmarkRunSpec) {
			perRequest(v1alpha1.ToolAb)(s)
			s.Implementations[1].TLS = v1alpha1.TLS{}
		}, "", ""},
		"ab that keeps": {func(s *v1alpha1.BenchmarkRunSpec) { perRequest(v1alpha1.ToolAb)(s); s.Loads[0].Connection = "" }, "", ""},
		"wrk over plain": {func(s *v1alpha1.BenchmarkRunSpec) {
			perRequest(v1alpha1.ToolWrk)(s)
			s.Implementations[1].TLS = v1alpha1.TLS{}
		}, "", ""},
		"wrk over what was": {func(s *v1alpha1.BenchmarkRunSpec) { perRequest(v1alpha1.ToolWrk)(s); s.Loads[0].Connection = "" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			v := sweep.Kind{}.Plan(loads(tc.change), &p)
			if (v != nil) != (tc.refused != "") || v != nil && !strings.HasPrefix(v.Message, tc.refused) {
				t.Fatalf("got %v, want %q", v, tc.refused)
			}
			at := slices.IndexFunc(p.Notes, func(n string) bool { return strings.HasPrefix(n, note) })
			if (at >= 0) != (tc.noted != "") || at >= 0 && p.Notes[at] != tc.noted {
				t.Errorf("the notes are %q, want %q", p.Notes, tc.noted)
			}
		})
	}
}

func TestWhoAsksAServerKnowsThatItSpeaksTLS(t *testing.T) {
	own := &record.TLS{CA: "PEM", ServerName: "a"}
	s := sweep.Sweep{Implementations: []record.Implementation{{Name: "plain", Port: 80}, {Name: "encrypted", Port: 443, TLS: own}}, Generators: record.Generators{Pods: 1, CPUs: 1}}
	if diff := cmp.Diff([]*record.TLS{nil, own}, s.Check([]string{"a:80", "a:443"}, nil).TLS); diff != "" {
		t.Errorf("the check (-want +got):\n%s", diff)
	}
	for i, want := range []bool{false, true} {
		if args := s.Members()[1+i].Processes[1].Args; slices.Contains(args, "--tls") != want {
			t.Errorf("the observer of server %d is told %q", i, args)
		}
	}
	if got := kind.TLS(s.Implementations[:1]); got != nil {
		t.Errorf("of plain servers it says %v", got)
	}
}

func TestAPercentileThatNoRunCanMeetIsNoted(t *testing.T) {
	const want = "objectives[0] bounds a percentile of load sweep, a closed loop: it can be missed, but not met. Add a load of k6 or vegeta with requestsPerSecond, and name it in the load of the objective"
	p99 := v1alpha1.Objective{Metric: v1alpha1.ObjectiveLatencyPercentile, Percentile: "99", Max: "5000"}
	for name, tc := range map[string]struct {
		objective v1alpha1.Objective
		rate      int32
		noted     bool
	}{
		"a percentile without a rate": {p99, 0, true},
		"a percentile at a rate":      {p99, 1000, false},
		"a mean without a rate":       {v1alpha1.Objective{Metric: v1alpha1.ObjectiveMeanLatency, Max: "5000"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var p record.Plan
			spec := loads(func(s *v1alpha1.BenchmarkRunSpec) {
				s.Objectives, s.Loads[0].Tool, s.Loads[0].Levels[0].RequestsPerSecond = []v1alpha1.Objective{tc.objective}, v1alpha1.ToolK6, tc.rate
			})
			if v := (sweep.Kind{}).Plan(spec, &p); v != nil {
				t.Fatal(v)
			}
			if slices.Contains(p.Notes, want) != tc.noted {
				t.Errorf("the notes are %q, want %q: %v", p.Notes, want, tc.noted)
			}
		})
	}
}

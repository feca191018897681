package notify

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

var update = flag.Bool("update", false, "write golden files")

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func at(minutes int) *metav1.Time {
	return &metav1.Time{Time: noon.Add(time.Duration(minutes) * time.Minute)}
}

func named() *v1alpha1.BenchmarkSuite {
	return &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "7d0e"}}
}

// ended is a round that ended some minutes after noon.
func ended(round int32, outcome v1alpha1.RoundOutcome, minutes int) v1alpha1.SuiteRound {
	return v1alpha1.SuiteRound{Round: round, Outcome: outcome, StartTime: at(minutes - 20), CompletionTime: at(minutes)}
}

func TestTheEventOfARound(t *testing.T) {
	missed := ended(12, v1alpha1.RoundMissed, 0)
	missed.Trigger, missed.Inputs, missed.Reason = v1alpha1.TriggerWebhook, "9c1f", v1alpha1.ReasonObjectivesMissed
	missed.Parameters = []v1alpha1.ParameterValue{{Name: "commit", Value: "1a2b3c4"}}
	missed.Message = "small: p99 +23 % (99 % CI +15..+31 %), at most +10 % wanted"
	for name, tc := range map[string]struct {
		line v1alpha1.SuiteRound
		gate *Gate
		runs []Run
	}{
		"missed": {
			missed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "round 12, with commit=1a2b3c4: " + missed.Message},
			[]Run{
				{"small", "checkout-1a2b3c4d-00", "candidate is slower than anchor", "s3://bench/perf/checkout-1a2b3c4d-00-7d0e/reports/0123456789ab/report.html"},
				{"large", "checkout-1a2b3c4d-01", strings.Repeat("no difference; ", 100), ""},
			},
		},
		"replaced": {line: ended(13, v1alpha1.RoundReplaced, 5)},
	} {
		t.Run(name, func(t *testing.T) {
			got := EventOf(named(), tc.line, tc.gate, tc.runs).Text()
			var indented any
			if err := json.Unmarshal(got, &indented); err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(indented, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, append(text, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(string(want)), string(text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A receiver that drops known IDs must drop a resent event, and no other.
func TestTheIDOfAnEvent(t *testing.T) {
	first := EventOf(named(), ended(12, v1alpha1.RoundPassed, 0), nil, nil)
	if again := EventOf(named(), ended(12, v1alpha1.RoundPassed, 0), &Gate{}, []Run{{}}); again.ID != first.ID || again.Source != first.Source {
		t.Errorf("the same round has the ids %q and %q", first.ID, again.ID)
	}
	remade := named()
	remade.UID = "0000"
	for what, other := range map[string]Event{
		"another round":                     EventOf(named(), ended(13, v1alpha1.RoundPassed, 0), nil, nil),
		"the round, once it was gone on":    EventOf(named(), ended(12, v1alpha1.RoundReplaced, 0), nil, nil),
		"the round of another suite's name": EventOf(remade, ended(12, v1alpha1.RoundPassed, 0), nil, nil),
	} {
		if other.ID == first.ID {
			t.Errorf("%s has the id %q, too", what, first.ID)
		}
	}
}

package controllers

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

// maxWrites bounds an operator's writes for a run of four trials of one cell with two pods each: 45 on a quiet machine, with the removal of the
// token.
const maxWrites = 45

// ledger counts the writes that an operator makes, by what they do.
type ledger struct {
	mu    sync.Mutex
	count map[string]int
}

// between counts writes. Those refused for stale data do not count.
func (l *ledger) between(to http.RoundTripper) http.RoundTripper {
	return way(func(q *http.Request) (*http.Response, error) {
		p, err := to.RoundTrip(q)
		if err == nil && writes(q) && p.StatusCode < http.StatusMultipleChoices {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.count[kindOfWrite(q)]++
		}
		return p, err
	})
}

// kindOfWrite is what a request does, such as "PATCH trials/status".
func kindOfWrite(q *http.Request) string {
	parts := strings.Split(q.URL.Path, "/")
	at := slices.Index(parts, "namespaces")
	what := parts[at+2]
	if len(parts) > at+4 {
		what += "/" + parts[at+4]
	}
	return q.Method + " " + what
}

// sum is the number of writes, and text tells it by kind.
func (l *ledger) sum() (sum int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(l.count)) {
		sum += l.count[kind]
		text += fmt.Sprintf("\n%4d %s", l.count[kind], kind)
	}
	return sum, text
}

func TestRunCostsTheAPIServerFewWrites(t *testing.T) {
	t.Parallel()
	l := &ledger{count: map[string]int{}}
	w := newWorld(t, func(w *world) { w.between = l.between })
	run := w.awaitEnd(w.apply("thrifty", with("go", v1alpha1.Implementation{Name: "epoll", Image: "epoll:1"}), func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 2 }))
	written, kinds := l.sum()
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	allowed, since := maxWrites, run.Status.StartTime.Time
	for _, trial := range w.trials(run) {
		// Waits longer than facts.Quickly are written, of two conditions at most. These times are cut to seconds.
		begun, ended := trial.Status.AttemptTime.Time, trial.Status.CompletionTime.Time
		allowed += 2*int(max(begun.Sub(since)+time.Second, 0)/facts.Quickly) + 2*int((ended.Sub(begun)+time.Second)/facts.Quickly)
		since = ended
	}
	t.Logf("%d writes, of which %d are allowed:%s", written, allowed, kinds)
	if written > allowed {
		t.Errorf("a run of four trials costs %d writes, want at most %d", written, allowed)
	}
}

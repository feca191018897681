package suite

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

const (
	// maxLines is how many rounds the status remembers.
	maxLines = 20
	// keptRounds is how many rounds stay in the cluster, unless the suite says.
	keptRounds = 10
)

// settle writes down how rounds have ended. A round of which runs are gone keeps the outcome that it had when they were there.
func (d *decision) settle() {
	lines := slices.Clone(d.Status.History)
	remember := func(line v1alpha1.SuiteRound) {
		if i := slices.IndexFunc(lines, func(l v1alpha1.SuiteRound) bool { return l.Round == line.Round }); i >= 0 {
			line.ChangePoints = lines[i].ChangePoints
			lines = slices.Delete(lines, i, i+1)
		}
		lines = append(lines, line)
	}
	for _, r := range d.rounds {
		switch {
		case r == d.open:
			lines = slices.DeleteFunc(lines, func(l v1alpha1.SuiteRound) bool { return l.Round == r.number })
		case slices.Contains(d.replaced, r):
			remember(r.line(ending{outcome: v1alpha1.RoundReplaced}, d.Now))
		case r.measuring():
		case r.whole():
			remember(r.line(r.ending(), d.Now))
		case !d.ended(r.number):
			remember(r.line(ending{outcome: v1alpha1.RoundIncomplete}, d.Now))
		}
	}
	if line, gone := d.gone(); gone {
		remember(line)
	}
	slices.SortFunc(lines, func(a, b v1alpha1.SuiteRound) int { return cmp.Compare(b.Round, a.Round) })
	d.lines = lines
	d.lookBack()
	d.Status.History = d.remembered()
	d.Status.LastRound = v1alpha1.SuiteRound{}
	own := slices.DeleteFunc(slices.Clone(lines), func(l v1alpha1.SuiteRound) bool { return l.PullRequest != "" })
	if len(own) > 0 {
		d.Status.LastRound = slices.MaxFunc(own, EndedBefore)
	}
	if good := slices.IndexFunc(own, func(l v1alpha1.SuiteRound) bool { return l.Outcome == v1alpha1.RoundPassed }); good >= 0 {
		d.Status.LastGood = own[good]
	}
	d.Status.GoodRounds, d.Status.Current = d.good, v1alpha1.CurrentRound{}
	if d.open != nil {
		d.Status.GoodRounds = slices.DeleteFunc(d.good, func(g v1alpha1.GoodRound) bool { return g.Round == d.open.number })
		d.Status.Current = d.open.current()
	}
	notify.Keep(d.Suite, &d.Status, d.shared(), d.Now)
}

// remembered are the rounds that the status remembers: the newest, the one that the suite is judged by, whose change points are read once, and the one
// that answers the request that is written down, even if it had left, or who asks for it would wait for ever.
func (d *decision) remembered() []v1alpha1.SuiteRound {
	judged, asked := d.result(), webhook.Read(d.Suite.Annotations[v1alpha1.AnnotationWebhook]).ID
	lines := slices.Clone(d.lines)
	for i := len(lines) - 1; i >= 0 && len(lines) > maxLines; i-- {
		if (judged == nil || lines[i].Round != judged.Round) && (asked == "" || lines[i].Webhook != asked) {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return lines
}

// gone is the round that was in progress and of which no run is left: somebody has deleted them, or an operator that has not lived to write it
// down, for another round.
func (d *decision) gone() (v1alpha1.SuiteRound, bool) {
	was := d.Suite.Status.Current
	if was.Round == 0 || d.ended(was.Round) || slices.ContainsFunc(d.rounds, func(r *round) bool { return r.number == was.Round }) {
		return v1alpha1.SuiteRound{}, false
	}
	line := v1alpha1.SuiteRound{
		Round: was.Round, Trigger: was.Trigger, Parameters: was.Parameters, PullRequest: was.PullRequest, Webhook: was.Webhook,
		Outcome: v1alpha1.RoundIncomplete, StartTime: was.StartTime, CompletionTime: &metav1.Time{Time: d.Now},
	}
	if was.Trigger != v1alpha1.TriggerWebhook && was.Webhook == "" {
		line.Inputs = d.Suite.Status.Inputs.Hash
	}
	if d.Suite.Spec.Concurrency == v1alpha1.ConcurrencyReplace && d.open != nil {
		line.Outcome = v1alpha1.RoundReplaced
	}
	return line, true
}

// EndedBefore orders rounds by when they ended. One that was ended, and then gone on with, can end after one with a higher number.
func EndedBefore(a, b v1alpha1.SuiteRound) int {
	at := func(line v1alpha1.SuiteRound) int64 {
		if line.CompletionTime == nil {
			return 0
		}
		return line.CompletionTime.Unix()
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Round, b.Round))
}

// result is the round that the suite is judged by: the newest with a result that measured the current inputs, or, where changes start nothing, the
// newest with a result. A pull request does not judge what it would change.
func (d *decision) result() *v1alpha1.SuiteRound {
	hash := d.in.hash
	if d.problem != nil { // A spec at fault measures nothing: the inputs before it stand.
		hash = d.Suite.Status.Inputs.Hash
	}
	for i := range d.lines {
		line := &d.lines[i]
		if isResult(line.Outcome) && line.PullRequest == "" && (line.Inputs == hash || !follows(d.Suite.Spec)) {
			return line
		}
	}
	return nil
}

// shared is the round that has the inputs of now: the one that the suite is judged by, or that measures them; nil if there is none, or if it is not known,
// as where what is measured can be another though the inputs are the same.
func (d *decision) shared() *v1alpha1.SuiteRound {
	if !follows(d.Suite.Spec) || d.problem != nil || d.in.unresolved != nil || !d.in.fixed() {
		return nil
	}
	if line := d.result(); line != nil || d.open == nil || d.open.PullRequest != "" || d.open.Inputs != d.in.hash {
		return line
	}
	line := d.open.line(ending{}, d.Now)
	return &line
}

// collect deletes the rounds that are too many or too old to stay. The last good one stays, and the one that the suite is judged by. Those of pull
// requests are counted by themselves, and take the place of none of the suite's own.
func (d *decision) collect() {
	bounds := map[bool]int32{true: kept(d.Suite.Spec.History.Passed), false: kept(d.Suite.Spec.History.Failed)}
	seen := map[[2]bool]int32{}
	judged := d.result()
	for _, r := range d.rounds {
		if r == d.open || r.measuring() {
			continue
		}
		sort := [2]bool{r.passed(), r.PullRequest != ""}
		seen[sort]++
		if seen[sort] <= bounds[sort[0]] && d.staysFor(r) > 0 || r.number == d.Status.LastGood.Round || judged != nil && r.number == judged.Round {
			continue
		}
		for _, run := range r.runs {
			d.Delete = append(d.Delete, *run.object)
		}
	}
}

// forever is longer than anything is waited for.
const forever = math.MaxInt64

// staysFor is for how long a round that has ended may stay by its age; 0 if it is too old.
func (d *decision) staysFor(r *round) time.Duration {
	days, over := d.Suite.Spec.History.MaxAgeDays, r.over()
	if days == 0 || over == nil {
		return forever
	}
	return max(0, over.Add(time.Duration(days)*24*time.Hour).Sub(d.Now))
}

// kept is how many rounds of a sort stay.
func kept(asked *int32) int32 {
	if asked == nil {
		return keptRounds
	}
	return *asked
}

// answer notes which requests and scheduled times have been answered: by a round, or by dropping them.
func (d *decision) answer() {
	begun := len(d.Create) > 0 && d.open != nil
	if d.requested != "" && (begun && d.open.Requested == d.requested || d.dropped && !d.suspended()) {
		d.Status.LastHandledRequest = d.requested
	}
	if d.reconcile != "" && (begun && d.open.Reconcile == d.reconcile || d.dropped && !d.suspended()) {
		d.Status.LastHandledReconcileAt = d.reconcile
	}
	if d.call != nil && (begun && d.open.Webhook == d.call.ID || d.dropped && !d.suspended() || d.skips()) {
		d.Status.LastHandledWebhook = d.call.ID
	}
	d.Status.NextScheduleTime = nil
	next := d.times.next
	answered := begun && d.open.Scheduled != nil && d.open.Scheduled.Time.Equal(d.times.due)
	if !d.times.due.IsZero() && !d.dropped && !answered {
		next = d.times.due // It waits.
	}
	if !next.IsZero() {
		d.Status.NextScheduleTime = &metav1.Time{Time: next}
	}
}

package suite

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

const (
	// maxLines is how many rounds the status keeps.
	maxLines = 20
	// linesBytes limits their JSON, since a round may have many long parameters. With the limits of the other lists it keeps the status far below
	// the 1.5 MiB that etcd stores.
	linesBytes = 128 << 10
	// keptRounds is the default number of rounds in the cluster.
	keptRounds = 10
)

// settle records how rounds ended. A round without its runs keeps its earlier outcome.
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

// remembered returns the newest rounds, the judging one (its change points are read once), and the one that answers the recorded request, for its
// waiting sender.
func (d *decision) remembered() []v1alpha1.SuiteRound {
	judged, asked := d.result(), webhook.Read(d.Suite.Annotations[v1alpha1.AnnotationWebhook]).ID
	lines := slices.Clone(d.lines)
	for i := len(lines) - 1; i > 0 && (len(lines) > maxLines || util.Size(lines) > linesBytes); i-- {
		if (judged == nil || lines[i].Round != judged.Round) && (asked == "" || lines[i].Webhook != asked) {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return lines
}

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

// EndedBefore orders rounds by their end. A round that was ended and then continued can end after a higher number.
func EndedBefore(a, b v1alpha1.SuiteRound) int {
	at := func(line v1alpha1.SuiteRound) int64 {
		if line.CompletionTime == nil {
			return 0
		}
		return line.CompletionTime.Unix()
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Round, b.Round))
}

// result returns the round that judges the suite: the newest with a result for the current inputs or, if changes
// start nothing, the newest with a result. Pull requests never judge.
func (d *decision) result() *v1alpha1.SuiteRound {
	hash := d.in.hash
	if d.problem != nil { // An invalid spec measures nothing, so earlier inputs stay.
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

// shared returns the round with the current inputs (judging or measuring them); nil if there is none, or if equal
// inputs need not mean equal measurements.
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

// collect deletes rounds beyond the limits of number and age. The last good round and the judging one stay. Pull
// requests' rounds are counted separately.
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

const forever = math.MaxInt64

// staysFor returns how long an ended round may stay by its age; 0 if it is too old.
func (d *decision) staysFor(r *round) time.Duration {
	days, over := d.Suite.Spec.History.MaxAgeDays, r.over()
	if days == 0 || over == nil {
		return forever
	}
	return max(0, over.Add(time.Duration(days)*24*time.Hour).Sub(d.Now))
}

func kept(asked *int32) int32 {
	if asked == nil {
		return keptRounds
	}
	return *asked
}

// answer records which requests and times a round answered, or which were dropped.
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

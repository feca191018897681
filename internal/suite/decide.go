package suite

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/notify"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

const (
	// RetryImages is when a registry is asked again that did not give a digest.
	RetryImages = 30 * time.Second
	// RetryRefused is when an API server is asked again that has denied the runs of a suite.
	RetryRefused = time.Minute
	// resolveEvery is how often a registry is asked, unless the suite says.
	resolveEvery = 10 * time.Minute
	// maxMessage bounds the messages of rounds, and maxToken those of requests.
	maxMessage, maxToken = 512, 256
)

// Facts are all that a decision rests upon.
type Facts struct {
	Suite *v1alpha1.BenchmarkSuite
	// Runs are those that the suite owns and that nobody is deleting.
	Runs []v1alpha1.BenchmarkRun
	// Images are what registries said of the images that package function Images names.
	Images map[string]Resolution
	// Refused is why the API server refuses the runs of a round; nil if it takes them. RefusedCall is the same of a round that answers the webhook.
	Refused, RefusedCall *Problem
	// Reading is what was read for an earlier decision that asked; nil if nothing was.
	Reading *Reading
	Now     time.Time
}

// Decision is what is to be done, and the status of the suite once it is done.
type Decision struct {
	// Create are the runs to create, in this order.
	Create []v1alpha1.BenchmarkRun
	// Delete are the runs to delete.
	Delete []v1alpha1.BenchmarkRun
	// Read is what to read before the decision is made again with it; nil if nothing is missing.
	Read   *Asked
	Status v1alpha1.BenchmarkSuiteStatus
	// After is when to decide again if nothing happens before; 0 for never.
	After time.Duration
}

// decision is a decision in the making.
type decision struct {
	Facts
	Decision
	in      inputs
	problem *Problem
	rounds  []*round
	// open is the round in progress; nil if there is none. If what it lacks cannot be made for now, and nothing of it is measured, waits is why.
	open  *round
	waits *Problem
	// good are the newest rounds that have passed, the newest first.
	good  []v1alpha1.GoodRound
	times timetable
	// requested and reconcile are requests that no round has answered; empty if there are none.
	requested, reconcile string
	// call is a request to the webhook that no round has answered; nil if there is none.
	call *call
	// dropped is true if scheduled times and requests that came are not answered by a round.
	dropped bool
	// replaced are the rounds that this decision ends.
	replaced []*round
	// lines are all rounds that have ended, of the history and of the cluster, the newest first.
	lines []v1alpha1.SuiteRound
}

// Draft returns the runs that the next rounds would have now. They are to be shown to the API server once: those of inputs that the status names
// were taken before. It is empty if there is nothing to show.
func Draft(f Facts) []v1alpha1.BenchmarkRun {
	rounds := roundsOf(f.Runs)
	good := goodRounds(f.Suite.Status.GoodRounds, rounds)
	var runs []v1alpha1.BenchmarkRun
	draft := func(in inputs, record roundRecord) {
		record.Against = in.against(good)
		runs = append(runs, runsOf(f.Suite, in, record, 1, good)...)
	}
	if in, problem := inputsOf(f.Suite, nil, f.Images); problem == nil && in.hash != f.Suite.Status.Inputs.Hash {
		draft(in, f.change(in))
	}
	if c := f.call(rounds); c != nil && c.problem == nil {
		draft(c.in, f.answering(c, roundRecord{}))
	}
	return runs
}

// change is the record of the round that the inputs start by themselves.
func (f Facts) change(in inputs) roundRecord {
	record := roundRecord{Inputs: in.hash, Trigger: v1alpha1.TriggerChange, Runs: len(in.specs), Begun: metav1.Time{Time: f.Now.Truncate(time.Second)}}
	record.ID = roundID(f.Suite, record)
	return record
}

// runsOf are all runs of a round. Of the good rounds those count with which the round is compared.
func runsOf(suite *v1alpha1.BenchmarkSuite, in inputs, record roundRecord, number int32, good []v1alpha1.GoodRound) []v1alpha1.BenchmarkRun {
	var against []v1alpha1.GoodRound
	for _, g := range good {
		if slices.Contains(record.Against, g.Round) {
			against = append(against, g)
		}
	}
	var runs []v1alpha1.BenchmarkRun
	for i := range in.specs {
		record.Run = in.names[i]
		runs = append(runs, runOf(suite, record, number, in.compared(i, against), i))
	}
	return runs
}

// Decide returns what is to be done for a suite. The same facts give the same decision, and facts that show it done give one that does nothing.
func Decide(f Facts) Decision {
	d := &decision{Facts: f}
	d.Status = *f.Suite.Status.DeepCopy()
	d.Status.ObservedGeneration = &f.Suite.Generation
	d.rounds = roundsOf(f.Runs)
	d.good = goodRounds(f.Suite.Status.GoodRounds, d.rounds)
	d.readInputs()
	d.readTimes()
	d.readRequests()
	d.readCall()
	d.open = d.inProgress()
	d.start()
	d.settle()
	d.collect()
	d.answer()
	d.conditions()
	d.After = d.again()
	return d.Decision
}

// readInputs finds out what a round would measure now, and whether it could.
func (d *decision) readInputs() {
	d.in, d.problem = inputsOf(d.Suite, nil, d.Images)
	d.problem = cmp.Or(d.problem, d.Refused)
	for _, err := range []error{webhook.Check(d.Suite.Spec), notify.Check(d.Suite.Spec)} {
		if err != nil && d.problem == nil {
			d.problem = invalid("%v", err)
		}
	}
	if d.problem != nil {
		return
	}
	if d.in.hash != d.Status.Inputs.Hash {
		if d.problem = d.in.compile(runsOf(d.Suite, d.in, d.change(d.in), 1, nil)); d.problem != nil {
			return
		}
	}
	d.Status.Inputs = v1alpha1.SuiteInputs{Hash: d.in.hash, Images: d.in.images, Parameters: d.in.parameters}
}

// readTimes finds out which scheduled time has come. Those of schedules that are new count from now on.
func (d *decision) readTimes() {
	from := d.Now
	if next := d.Suite.Status.NextScheduleTime; next != nil && !next.After(d.Now) {
		from = next.Add(-time.Second)
	}
	for _, r := range d.rounds {
		if r.Scheduled != nil && r.Begun.After(from) {
			from = r.Begun.Time
		}
	}
	var problem *Problem
	d.times, problem = timetableAt(d.Suite.Spec.Triggers.Schedules, from, d.Now)
	d.problem = cmp.Or(d.problem, problem)
}

// readRequests finds out which requests no round has answered.
func (d *decision) readRequests() {
	ask := func(annotation string, handled *string, answered func(*round) string) string {
		token := util.Clip(d.Suite.Annotations[annotation], maxToken)
		if token == "" || token == *handled {
			return ""
		}
		if slices.ContainsFunc(d.rounds, func(r *round) bool { return answered(r) == token }) {
			*handled = token
			return ""
		}
		return token
	}
	d.requested = ask(v1alpha1.AnnotationRequestedAt, &d.Status.LastHandledRequest, func(r *round) string { return r.Requested })
	d.reconcile = ask(v1alpha1.AnnotationReconcileAt, &d.Status.LastHandledReconcileAt, func(r *round) string { return r.Reconcile })
}

// ready reports whether a round could begin, were there a reason to.
func (d *decision) ready() bool { return d.problem == nil && d.in.unresolved == nil && !d.suspended() }

func (d *decision) suspended() bool { return d.Suite.Spec.Suspend != nil && *d.Suite.Spec.Suspend }

// inProgress is the round in progress: one of which a run has not ended, or the newest if it lacks a run that can still be made,
// now or when it is no longer denied, an image is known again or a suspension ends.
func (d *decision) inProgress() *round {
	for i, r := range d.rounds {
		if r.measuring() {
			return r
		}
		if i > 0 || r.whole() || d.ended(r.number) {
			continue
		}
		if _, waits, ok := d.completes(r.roundRecord); ok {
			d.waits = waits
			return r
		}
	}
	return nil
}

// ended reports whether the history has the outcome of a round.
func (d *decision) ended(number int32) bool {
	return slices.ContainsFunc(d.Status.History, func(line v1alpha1.SuiteRound) bool { return line.Round == number })
}

// start begins a round if something asks for one and nothing stands in the way, and completes one of which a run is missing.
func (d *decision) start() {
	d.dropped = d.suspended() // A request waits for the end of a suspension, and a scheduled time does not.
	record, in, asked := d.asked()
	if asked && d.waits != nil && d.waits.Reason != v1alpha1.ReasonRunDenied {
		d.open, d.waits = nil, nil // An image may stay away for ever: its round gives way.
	}
	if d.open != nil && asked {
		switch d.Suite.Spec.Concurrency {
		case v1alpha1.ConcurrencyReplace:
			if record.PullRequest == "" || d.open.PullRequest != "" { // What is proposed waits for what there is.
				d.replace()
			}
		case v1alpha1.ConcurrencySkip:
			d.dropped = record.PullRequest != "" || d.open.PullRequest == "" // What the suite has waits for what is proposed.
		case v1alpha1.ConcurrencyQueue:
		}
	}
	switch {
	case d.open != nil:
		if in, waits, ok := d.completes(d.open.roundRecord); ok && waits == nil {
			d.create(d.open, in)
		}
	case asked:
		d.begin(record, in)
	}
}

// asked returns the round that is to begin, and what it measures. What the suite has by itself goes before what the webhook asks for, unless it would
// be replaced by that, or skipped for it: then the round of the webhook answers all but a change, which waits. That of a pull request answers nothing else.
func (d *decision) asked() (roundRecord, inputs, bool) {
	own, due := d.due()
	if d.call == nil || d.call.problem != nil || !d.callable() {
		return own, d.in, due
	}
	record := d.answering(d.call, own)
	queues := d.Suite.Spec.Concurrency != v1alpha1.ConcurrencyReplace && d.Suite.Spec.Concurrency != v1alpha1.ConcurrencySkip
	if due && (queues || record.PullRequest != "") {
		return own, d.in, due
	}
	record.Beside = d.in.hash
	return record, d.call.in, true
}

// due returns the round that is to begin for a change, a request or a scheduled time. A round answers all that have come.
func (d *decision) due() (roundRecord, bool) {
	if !d.ready() {
		return roundRecord{}, false
	}
	record := d.change(d.in)
	record.Requested, record.Reconcile = d.requested, d.reconcile
	if !d.times.due.IsZero() {
		record.Scheduled = &metav1.Time{Time: d.times.due}
	}
	switch {
	case d.changed():
	case d.requested != "" || d.reconcile != "":
		record.Trigger = v1alpha1.TriggerRequest
	case record.Scheduled != nil:
		record.Trigger = v1alpha1.TriggerSchedule
	default:
		return roundRecord{}, false
	}
	record.ID = roundID(d.Suite, record)
	return record, true
}

// changed reports whether the inputs are to be measured because they are new. They are not, beside a round of the webhook, if they are as old. What a
// pull request has measured is new all the same.
func (d *decision) changed() bool {
	if !follows(d.Suite.Spec) || d.open != nil && (d.open.Inputs == d.in.hash || d.open.Beside == d.in.hash) {
		return false
	}
	for _, r := range d.rounds {
		if r.Inputs == d.in.hash && r.PullRequest == "" && r.whole() && !r.measuring() {
			return false
		}
	}
	return !slices.ContainsFunc(d.Status.History, func(line v1alpha1.SuiteRound) bool {
		return line.Inputs == d.in.hash && line.PullRequest == "" && isResult(line.Outcome)
	})
}

// begin starts a round, or goes on with one of its id that was ended before it was whole.
func (d *decision) begin(record roundRecord, in inputs) {
	number := max(1, d.Status.Current.Round+1, d.Status.LastRound.Round+1, d.Status.LastGood.Round+1)
	for _, line := range d.Status.History {
		number = max(number, line.Round+1)
	}
	for _, r := range d.rounds {
		if r.ID == record.ID {
			d.open = r
			d.create(r, in)
			return
		}
		number = max(number, r.number+1)
	}
	record.Against, record.Noted = in.against(d.good), notify.Noted(d.Suite.Spec, in.parameters, record.Parameters)
	d.open = &round{roundRecord: record, number: number}
	d.rounds = append([]*round{d.open}, d.rounds...)
	d.create(d.open, in)
}

// create makes the runs of a round that do not exist.
func (d *decision) create(r *round, in inputs) {
	for _, run := range runsOf(d.Suite, in, r.roundRecord, r.number, d.good) {
		if slices.ContainsFunc(r.runs, func(there roundRun) bool { return there.object.Name == run.Name }) {
			continue
		}
		d.Create = append(d.Create, run)
		r.runs = append(r.runs, roundRun{&run, r.roundRecord})
	}
	r.sort()
}

// replace ends all rounds in progress: what they have not measured is deleted.
func (d *decision) replace() {
	for _, r := range d.rounds {
		if !r.measuring() && r != d.open {
			continue
		}
		for _, run := range r.runs {
			if !run.ended() {
				d.Delete = append(d.Delete, *run.object)
			}
		}
		d.replaced = append(d.replaced, r)
	}
	d.open, d.waits = nil, nil
}

// again is when to decide again if nothing happens before.
func (d *decision) again() time.Duration {
	var after time.Duration
	sooner := func(other time.Duration) {
		if other > 0 && (after == 0 || other < after) {
			after = other
		}
	}
	if !d.times.next.IsZero() {
		sooner(max(d.times.next.Sub(d.Now), time.Second))
	}
	for _, p := range []*Problem{d.problem, d.RefusedCall} {
		if p != nil && p.Reason == v1alpha1.ReasonRunDenied {
			sooner(RetryRefused)
		}
	}
	sooner(d.unread())
	for _, r := range d.rounds {
		if left := d.staysFor(r); left < forever && !r.measuring() {
			sooner(left)
		}
	}
	if images := Images(d.Suite, d.Runs); len(images) > 0 {
		sooner(Interval(d.Suite.Spec))
		if d.in.unresolved != nil || d.call != nil && d.call.in.unresolved != nil || d.waits != nil && !d.suspended() {
			sooner(RetryImages)
		}
	}
	return after
}

// Interval is how often a registry is asked for the images of a suite.
func Interval(spec v1alpha1.BenchmarkSuiteSpec) time.Duration {
	if s := spec.Triggers.Change.IntervalSeconds; s > 0 {
		return time.Duration(s) * time.Second
	}
	return resolveEvery
}

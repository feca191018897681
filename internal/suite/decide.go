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
	// RetryImages is the pause before a failed registry is asked again.
	RetryImages = 30 * time.Second
	// RetryRefused is the pause after an API server denied runs.
	RetryRefused = time.Minute
	// resolveEvery is the default interval for asking registries.
	resolveEvery = 10 * time.Minute
	// imagesBytes limits the JSON of the images in the status. If a registry is unavailable, images that are left out are not known.
	imagesBytes = 96 << 10
	// maxMessage bounds messages of rounds, maxToken tokens of requests.
	maxMessage, maxToken = 512, 256
)

// Facts are everything that a decision depends on.
type Facts struct {
	Suite *v1alpha1.BenchmarkSuite
	// Runs belong to the suite and are not being deleted.
	Runs []v1alpha1.BenchmarkRun
	// Images are the registries' answers for the images from function Images.
	Images map[string]Resolution
	// Refused is why the API server refuses a round's runs; nil if it accepts them. RefusedCall is the same for a
	// round that answers the webhook.
	Refused, RefusedCall *Problem
	// Reading answers an earlier decision's request; nil if there was none.
	Reading *Reading
	Now     time.Time
}

// Decision holds the actions to take, and the suite's status after them.
type Decision struct {
	// Create are the runs to create, in order.
	Create []v1alpha1.BenchmarkRun
	Delete []v1alpha1.BenchmarkRun
	// Read must be read before deciding again; nil if nothing is missing.
	Read   *Asked
	Status v1alpha1.BenchmarkSuiteStatus
	// After is when to decide again if nothing happens before; 0 for never.
	After time.Duration
}

type decision struct {
	Facts
	Decision
	in                   inputs
	problem              *Problem
	rounds               []*round
	open                 *round
	waits                *Problem
	good                 []v1alpha1.GoodRound
	times                timetable
	requested, reconcile string
	call                 *call
	dropped              bool
	replaced             []*round
	lines                []v1alpha1.SuiteRound
}

// Draft returns the runs of possible next rounds, for one dry run by the API server. It is empty if the status shows
// that the same inputs were accepted before.
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

func (f Facts) change(in inputs) roundRecord {
	record := roundRecord{Inputs: in.hash, Trigger: v1alpha1.TriggerChange, Runs: len(in.specs), Begun: metav1.Time{Time: f.Now.Truncate(time.Second)}}
	record.ID = roundID(f.Suite, record)
	return record
}

// runsOf returns all runs of a round, compared with the good rounds in its record.
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

// Decide returns what to do for a suite. It is deterministic: the same facts give the same decision, and facts that
// show it done give an empty one.
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
	d.Status.Inputs = v1alpha1.SuiteInputs{Hash: d.in.hash, Images: util.Within(d.in.images, imagesBytes), Parameters: d.in.parameters}
}

// readTimes finds the scheduled time that has come. New schedules count from now on.
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

func (d *decision) ready() bool { return d.problem == nil && d.in.unresolved == nil && !d.suspended() }

func (d *decision) suspended() bool { return d.Suite.Spec.Suspend != nil && *d.Suite.Spec.Suspend }

// inProgress returns the round with a run that has not ended. Otherwise it is the newest round, if it lacks a run that can still be created: now, or
// once a denial, an unknown image or a suspension ends.
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

func (d *decision) ended(number int32) bool {
	return slices.ContainsFunc(d.Status.History, func(line v1alpha1.SuiteRound) bool { return line.Round == number })
}

// start begins a round if one is due and possible, or completes one that lacks a run.
func (d *decision) start() {
	d.dropped = d.suspended() // A request waits for the end of a suspension; a scheduled time does not.
	record, in, asked := d.asked()
	if asked && d.waits != nil && d.waits.Reason != v1alpha1.ReasonRunDenied {
		d.open, d.waits = nil, nil // An image may never return, so its round gives way.
	}
	if d.open != nil && asked {
		switch d.Suite.Spec.Concurrency {
		case v1alpha1.ConcurrencyReplace:
			if record.PullRequest == "" || d.open.PullRequest != "" { // Pull requests wait for the suite's own rounds.
				d.replace()
			}
		case v1alpha1.ConcurrencySkip:
			d.dropped = record.PullRequest != "" || d.open.PullRequest == "" // The suite's own rounds wait for pull requests.
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

// asked returns the round to begin and its inputs. The suite's own round goes before a webhook's, unless it would be
// replaced or skipped: then the webhook's round answers everything but a change, which waits. A pull request's round
// answers nothing else.
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

// changed reports whether the inputs are new and must be measured. Not if the round in progress has them as Inputs or
// Beside. Inputs that only a pull request measured are new.
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

// replace ends all rounds in progress by deleting their unfinished runs.
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

// again returns when to decide again if nothing happens before.
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

// Interval returns how often to ask registries for a suite's images.
func Interval(spec v1alpha1.BenchmarkSuiteSpec) time.Duration {
	if s := spec.Triggers.Change.IntervalSeconds; s > 0 {
		return time.Duration(s) * time.Second
	}
	return resolveEvery
}

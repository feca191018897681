package suite

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

const maxCondition = 1024

func (d *decision) conditions() {
	s := d.stands()
	d.set(v1alpha1.ConditionReady, s.ready, s.reason, s.message)
	d.set(v1alpha1.ConditionReconciling, s.reconciling, s.reason, s.message)
	d.set(v1alpha1.ConditionStalled, s.stalled, s.reason, s.message)
	switch {
	case d.open != nil:
		d.set(v1alpha1.ConditionMeasuring, metav1.ConditionTrue, v1alpha1.ReasonInProgress, fmt.Sprintf("round %d (%s): %s", d.open.number, d.open.Trigger, d.progress()))
	case d.call != nil && d.call.problem != nil:
		d.set(v1alpha1.ConditionMeasuring, metav1.ConditionFalse, d.call.problem.Reason, d.call.Who()+" waits: "+d.call.problem.Message)
	default:
		d.set(v1alpha1.ConditionMeasuring, metav1.ConditionFalse, v1alpha1.ReasonNoRound, "no round is in progress")
	}
	switch {
	case d.in.unresolved != nil:
		d.set(v1alpha1.ConditionImagesResolved, metav1.ConditionFalse, d.in.unresolved.Reason, d.in.unresolved.Message)
	case d.in.hash == "":
		d.set(v1alpha1.ConditionImagesResolved, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
	case !resolves(d.Suite.Spec):
		d.set(v1alpha1.ConditionImagesResolved, metav1.ConditionTrue, v1alpha1.ReasonDone, "images are taken as they are written")
	default:
		d.set(v1alpha1.ConditionImagesResolved, metav1.ConditionTrue, v1alpha1.ReasonDone, known(len(d.in.images)))
	}
	slices.SortFunc(d.Status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
}

func (d *decision) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: util.Clip(message, maxCondition),
		ObservedGeneration: d.Suite.Generation, LastTransitionTime: metav1.Time{Time: d.Now},
	})
}

// standing is the suite's state for kstatus and users.
type standing struct {
	ready, reconciling, stalled metav1.ConditionStatus
	reason, message             string
}

func passed(reason, message string) standing {
	return standing{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionFalse, reason, message}
}

func failed(reason, message string) standing {
	return standing{metav1.ConditionFalse, metav1.ConditionFalse, metav1.ConditionTrue, reason, message}
}

func waiting(reason, message string) standing {
	return standing{metav1.ConditionUnknown, metav1.ConditionTrue, metav1.ConditionFalse, reason, message}
}

func (d *decision) stands() standing {
	if d.problem != nil && d.problem == d.in.unresolved {
		return waiting(d.problem.Reason, "no round starts until the suite's images are resolved: "+d.problem.Message)
	}
	if d.problem != nil {
		return failed(d.problem.Reason, d.problem.Message)
	}
	line := d.result()
	switch {
	case line != nil:
		return d.judged(*line)
	case !follows(d.Suite.Spec):
		return passed(v1alpha1.ReasonNoRound, d.none()+" has a result yet: "+d.next())
	case d.open != nil && d.open.PullRequest == "" && d.open.Inputs == d.in.hash && (d.waits == nil || !d.suspended()):
		return waiting(v1alpha1.ReasonInProgress, fmt.Sprintf("round %d measures the inputs: %s", d.open.number, d.progress()))
	case d.suspended():
		s := waiting(v1alpha1.ReasonSuspended, "the inputs are not measured, and no round starts while spec.suspend is true")
		s.reconciling = metav1.ConditionFalse
		return s
	case d.open != nil:
		return waiting(v1alpha1.ReasonQueued, fmt.Sprintf("the changed inputs wait for the end of round %d: %s", d.open.number, d.progress()))
	}
	why := cmp.Or(d.in.unresolved, &Problem{v1alpha1.ReasonInProgress, "a round of the inputs is starting"})
	return waiting(why.Reason, why.Message)
}

// none describes that no round has a result. Pull requests' rounds may have one, but do not judge.
func (d *decision) none() string {
	if slices.ContainsFunc(d.lines, func(l v1alpha1.SuiteRound) bool { return l.PullRequest != "" }) {
		return "no round of the suite's own"
	}
	return "no round"
}

// next says what follows if no change starts a round.
func (d *decision) next() string {
	if d.open != nil {
		return fmt.Sprintf("round %d is in progress: %s", d.open.number, d.progress())
	}
	if d.suspended() {
		return "no round starts while spec.suspend is true"
	}
	return "the next one waits for its trigger"
}

func (d *decision) judged(line v1alpha1.SuiteRound) standing {
	message := fmt.Sprintf("round %d: %s", line.Round, line.Message)
	switch {
	case len(line.Parameters) > 0:
		message = fmt.Sprintf("round %d, with %s: %s", line.Round, webhook.Given(line.Parameters), line.Message)
	case line.Inputs != d.in.hash:
		message = fmt.Sprintf("round %d, of an earlier spec, since no trigger follows changes: %s", line.Round, line.Message)
	}
	switch {
	case !d.opens(line):
		return failed(line.Reason, message)
	case d.within() > 0:
		return d.watched(line, message)
	}
	return passed(line.Reason, message)
}

func (d *decision) opens(line v1alpha1.SuiteRound) bool {
	return line.Outcome == v1alpha1.RoundPassed || line.Outcome == v1alpha1.RoundInconclusive && d.lenient()
}

func (d *decision) lenient() bool {
	return d.Suite.Spec.Gate.OnInconclusive == v1alpha1.InconclusivePasses
}

func (d *decision) progress() string {
	c := d.Status.Current
	text := c.Progress + " runs have ended"
	if c.Run != "" {
		text += ", " + c.Run + " is next or measured"
	}
	for _, run := range d.open.runs {
		if run.suspended() {
			text += ", " + run.object.Name + " does not start while its own spec.suspend is true"
		}
	}
	if d.waits != nil {
		text += "; the rest wait: " + d.waits.Message
	}
	return text
}

func known(tags int) string {
	switch tags {
	case 0:
		return "all images have a digest"
	case 1:
		return "the tag is resolved to a digest"
	}
	return fmt.Sprintf("%d tags are resolved to digests", tags)
}

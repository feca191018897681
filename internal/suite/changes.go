package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/history"
)

const (
	// RetryStore is when the store is asked again that did not give the reports of a suite's rounds.
	RetryStore = 10 * time.Second
	// StoreDeadline bounds how long it is waited for, from the first try on. Then the gate decides without it, and it is asked again as seldom as that: what it
	// has after all counts.
	StoreDeadline = 10 * time.Minute
	// maxWorse is how many values the status names that became worse, and maxGaps how many runs without a report.
	maxWorse, maxGaps = 8, 3
)

// Asked is what a decision asks to be read: the reports up to a round.
type Asked struct {
	Round    int32
	Measured []Measured
}

// Reading is what the reports up to a round say.
type Reading struct {
	Round   int32
	History history.History
	// Away is why the store does not give them now; nil if it does.
	Away *Problem
}

// within is how many rounds count for the change points of the gate; 0 if it has none.
func (d *decision) within() int32 { return d.Suite.Spec.Gate.ChangePoints.WithinRounds }

// unreadOf reports whether the gate needs the change points of a round, and waits for them.
func (d *decision) unreadOf(line *v1alpha1.SuiteRound) bool {
	return d.looksAt(line) && line.ChangePoints.CompletionTime == nil
}

// looksAt reports whether the gate asks for the change points of a round.
func (d *decision) looksAt(line *v1alpha1.SuiteRound) bool {
	return d.within() > 0 && line != nil && d.opens(*line)
}

// unread is when the store is asked for what the gate does not have; 0 if it has all.
func (d *decision) unread() time.Duration {
	line := d.result()
	switch {
	case d.unreadOf(line):
		return RetryStore
	case d.looksAt(line) && line.ChangePoints.Reason != "":
		return max(line.ChangePoints.CompletionTime.Add(StoreDeadline).Sub(d.Now), RetryStore)
	}
	return 0
}

// lookBack asks for the reports up to the round that the suite is judged by, and writes down what they say. Rounds that came later are no matter of
// that round. A store that was given up is asked again.
func (d *decision) lookBack() {
	line := d.result()
	if !d.looksAt(line) {
		return
	}
	had := line.ChangePoints
	if had.CompletionTime != nil && (had.Reason == "" || d.Now.Sub(had.CompletionTime.Time) < StoreDeadline) {
		return
	}
	if d.Reading == nil || d.Reading.Round != line.Round {
		later := func(m Measured) bool { return m.Round > line.Round }
		d.Read = &Asked{line.Round, slices.DeleteFunc(MeasuredBy(d.Suite, d.Runs), later)}
		return
	}
	now := metav1.Time{Time: d.Now}
	c := v1alpha1.RoundChangePoints{StartTime: had.StartTime}
	if c.StartTime == nil {
		c.StartTime = &now
	}
	if away := d.Reading.Away; away != nil {
		c.Reason, c.Message = away.Reason, util.Clip(away.Message, maxMessage)
	} else {
		c.Worse, c.Message = worseOf(d.Reading.History), util.Clip(remarks(d.Reading.History), maxMessage)
	}
	if d.Reading.Away == nil || d.Now.Sub(c.StartTime.Time) >= StoreDeadline {
		c.CompletionTime = &now
	}
	line.ChangePoints = c
}

// worseOf are the values of a history that became worse, and stay so; those with the newest change first.
func worseOf(h history.History) []v1alpha1.WorseValue {
	var all []v1alpha1.WorseValue
	for _, l := range h.Losses() {
		all = append(all, v1alpha1.WorseValue{Round: l.Round, Rounds: int32(l.Rounds), Message: util.Clip(l.Text, maxMessage)})
	}
	slices.SortStableFunc(all, func(a, b v1alpha1.WorseValue) int { return cmp.Compare(a.Rounds, b.Rounds) })
	return all[:min(len(all), maxWorse)]
}

// remarks say what the change points of a history are worth: which runs it lacks, and whether there are rounds enough; empty if there is nothing to say.
func remarks(h history.History) string {
	var all []string
	if young := h.Young(); young != "" {
		all = append(all, young)
	}
	for i, g := range h.Gaps {
		if i == maxGaps {
			all = append(all, fmt.Sprintf("%d more runs left out", len(h.Gaps)-i))
			break
		}
		all = append(all, fmt.Sprintf("%s of round %d left out: %s", g.Run, g.Round, g.Reason))
	}
	return strings.Join(all, "; ")
}

// watched is how the suite stands after a round that opens the gate, unless a value has become worse.
func (d *decision) watched(line v1alpha1.SuiteRound, message string) standing {
	c := line.ChangePoints
	var worse []string
	for _, w := range c.Worse {
		if w.Rounds <= d.within() {
			worse = append(worse, w.Message)
		}
	}
	switch {
	case c.CompletionTime == nil:
		return waiting(cmp.Or(c.Reason, v1alpha1.ReasonInProgress), fmt.Sprintf(
			"round %d: gate.changePoints waits for the reports of its rounds: %s", line.Round, cmp.Or(c.Message, "they are read after those of another suite")))
	case c.Reason != "" && d.lenient():
		return passed(line.Reason, message+"; change points are not known: "+c.Message)
	case c.Reason != "":
		return failed(c.Reason, fmt.Sprintf(
			"round %d: gate.changePoints cannot be known, since the store gave no reports for %s and more; it is asked again every %[2]s: %s", line.Round, StoreDeadline, c.Message))
	case len(worse) > 0:
		return failed(v1alpha1.ReasonRegressed, fmt.Sprintf("round %d: worse within the newest %d rounds: %s", line.Round, d.within(), strings.Join(worse, "; ")))
	case c.Message != "":
		message += "; change points: " + c.Message
	}
	return passed(line.Reason, message)
}

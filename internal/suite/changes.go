package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite/history"
)

const (
	// RetryStore is the pause before the store is asked again for the reports of rounds.
	RetryStore = 10 * time.Second
	// StoreDeadline bounds the wait for the store, from the first try on. Then the gate decides without it, and asks
	// again at this interval: late reports still count.
	StoreDeadline = 10 * time.Minute
	// minimumEffect is the default smallest change of interest.
	minimumEffect = 0.03
	// maxWorse is the most values that became worse in the status, maxGaps the most runs without a report.
	maxWorse, maxGaps = 8, 3
)

// Asked requests the reports up to a round.
type Asked struct {
	Round    int32
	Measured []Measured
}

// Reading is the content of these reports.
type Reading struct {
	Round   int32
	History history.History
	// Away says why the store does not give them now; nil if it does.
	Away *Problem
}

// MinimumEffect returns the smallest change of interest in a suite's values, as a share.
func MinimumEffect(of *v1alpha1.BenchmarkSuite) float64 {
	if asked, err := strconv.ParseFloat(of.Spec.Gate.ChangePoints.MinimumEffect, 64); err == nil && asked > 0 {
		return asked
	}
	return minimumEffect
}

func (d *decision) within() int32 { return d.Suite.Spec.Gate.ChangePoints.WithinRounds }

// unreadOf reports whether the gate waits for a round's change points.
func (d *decision) unreadOf(line *v1alpha1.SuiteRound) bool {
	return d.looksAt(line) && line.ChangePoints.CompletionTime == nil
}

// looksAt reports whether the gate needs a round's change points.
func (d *decision) looksAt(line *v1alpha1.SuiteRound) bool {
	return d.within() > 0 && line != nil && d.opens(*line)
}

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

// lookBack requests the reports up to the judging round and records what they say. Later rounds do not matter. A
// store that was given up is asked again.
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

func worseOf(h history.History) []v1alpha1.WorseValue {
	var all []v1alpha1.WorseValue
	for _, l := range h.Losses() {
		all = append(all, v1alpha1.WorseValue{Round: l.Round, Rounds: int32(l.Rounds), Message: util.Clip(l.Text, maxMessage)})
	}
	slices.SortStableFunc(all, func(a, b v1alpha1.WorseValue) int { return cmp.Compare(a.Rounds, b.Rounds) })
	return all[:min(len(all), maxWorse)]
}

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
			"round %d: gate.changePoints waits for the reports of its rounds: %s", line.Round, cmp.Or(c.Message, "waiting for the reports of another suite")))
	case c.Reason != "" && d.lenient():
		return passed(line.Reason, message+"; change points are not known: "+c.Message)
	case c.Reason != "":
		return failed(c.Reason, fmt.Sprintf(
			"round %d: gate.changePoints is unknown, because the store has been unavailable for at least %s; it is retried every %[2]s: %s", line.Round, StoreDeadline, c.Message))
	case len(worse) > 0:
		return failed(v1alpha1.ReasonRegressed, fmt.Sprintf("round %d: found to be worse within the newest %d rounds: %s", line.Round, d.within(), strings.Join(worse, "; ")))
	case c.Message != "":
		message += "; change points: " + c.Message
	}
	return passed(line.Reason, message)
}

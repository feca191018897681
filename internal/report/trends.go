package report

import (
	"loadstone.dev/loadstone/internal/analysis/trend"
	"loadstone.dev/loadstone/internal/report/format"
)

// trends says what the tests for drift and for the age of servers found; empty if nothing could be tested.
func (v run) trends() string {
	t := v.Table.Trends
	var words []string
	switch {
	case t.LevelOrders > 1:
		words = append(words, v.Say("trend.orders", format.Integer(t.LevelOrders)))
	case t.LevelOrders == 1:
		words = append(words, v.Say("trend.order"))
	}
	changed := 0
	for _, c := range t.WithAge {
		if c.Found() {
			words = append(words, v.Say("trend.age", c.Implementation, format.Change(1+c.Change), v.Confidence(), v.reach(c)))
			changed++
		}
	}
	if len(t.WithAge) > 0 && changed == 0 {
		words = append(words, v.Say("trend.noAge"))
	}
	if c := t.OverRun; c != nil {
		said := v.Say("trend.noDrift", v.Confidence(), v.reach(*c))
		if c.Found() {
			said = v.Say("trend.drift", format.Change(1+c.Change), v.Confidence(), v.reach(*c))
		}
		words = append(words, said)
	}
	return format.Join(" ", words...)
}

func (v run) reach(c trend.Change) string {
	return v.Say("change.interval", format.Change(1+c.Low), format.Change(1+c.High))
}

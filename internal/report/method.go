package report

import (
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

// method is the section on how a verdict is found.
func (v run) method() page.Section {
	s := v.section("method", "method.title")
	rules, percent := v.Table.Rules, format.PlainPercent
	s.Data = []string{
		v.Say("method.1"),
		v.Say("method.2"),
		v.Say("method.3", percent(rules.LoadsShare), percent(rules.DecidingShare), percent(1-rules.LoadsShare), format.Integer(rules.MinBlocks)),
		v.Say("method.4", v.Confidence(), percent(rules.EquivalenceMargin)),
		v.Say("method.5"),
	}
	return s
}

package main

import "regexp"

// rule is a word that users no longer read, and what they read instead.
type rule struct {
	old     *regexp.Regexp
	instead string
}

var rules = []rule{
	{words(`strangers?`), "noisy neighbours"},
	{words(`spoil(s|ed)?|hit from outside`), "disturb, disturbed"},
	{words(`looked after|looks whether|after the look`), "interim analysis"},
	{words(`spare (block|one|trial)s?|(measured|made|prepared) anew`), "repeat block, repeated"},
	{words(`own faults?|ownFaults|by its own fault`), "implementation failure"},
	{words(`faults? from outside|from outside has`), "infrastructure failure, external disturbance"},
	{words(`beside the server|server beside`), "peer"},
	{words(`role:? "?Limit"?`), "role Reference"},
	{words(`(keeps?|kept) (a|the|its|that|no) (rate|bound|latency)`), "sustain a rate, meet a bound"},
	{words(`difference worth the name`), "practically equivalent"},
	{words(`stolen`), "steal"},
	{words(`review(s|ed)? (blocks?|cells?)|reviewedBlocks`), "scan, scanned"},
	{words(`whoever|lest|speaks? of no`), "a plain sentence"},
}

// words matches an expression between the borders of words, in capitals or not.
func words(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + expression + `)\b`)
}

// checked are the folders and files where users read, and that are clean.
var checked = []string{
	"README.md", "CONTRIBUTING.md", "docs/analyse.md", "docs/design.md", "docs/roadmap.md",
	"charts/loadstone/values.yaml", "charts/loadstone/templates",
	"cmd", "controllers", "internal/agent", "internal/artifact", "internal/conduct", "internal/generate", "internal/httpcheck", "internal/kernel",
	"internal/observe", "internal/plan", "internal/protocol", "internal/render", "internal/search", "internal/tool",
}

// unchecked are the other places where users read. Old words may be left there: move a place to checked when words -all finds none in it.
var unchecked = []string{
	"api/v1alpha1", "config/crd", "charts/loadstone/files/crds", "config/samples",
	"docs/faults.md", "docs/workloads.md", "internal/lint", "internal/measured", "internal/printout", "internal/report", "internal/validity", "internal/verdict",
}

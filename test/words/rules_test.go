package words

import "regexp"

// rule is a word that users no longer read, and what they read instead.
type rule struct {
	old     *regexp.Regexp
	instead string
}

var rules = []rule{
	{words(`strangers?`), "noisy neighbours"},
	{words(`spoil(s|ed)?|hit from outside|hit the (blocks?|implementations?|cells?)`), "disturb, disturbed"},
	{words(`looked after|looks whether|after the look`), "interim analysis"},
	{words(`a look at the history|each look|looks? after every round`), "analysis"},
	{words(`spare (block|one|trial)s?|(measured|made|prepared) anew`), "repeat block, repeated"},
	{words(`own faults?|ownFaults|by its own fault|faults? of (its|their) own`), "implementation failure"},
	{words(`faults? from outside|from outside has`), "infrastructure failure, external disturbance"},
	{words(`beside the server|server beside`), "peer"},
	{words(`role:? "?Limit"?`), "role Reference"},
	{words(`(keeps?|kept|keeping) ((an?|the|its|that|no|imposed|arrival|constant) )*(rates?|bounds?|latency)|rates? that (is|are|was|were) kept|keeps nothing else`), "sustain a rate, meet a bound"},
	{words(`climit|(legend|badge)\.limits?|limit (curves?|lines?|marks?)|contenders? (and|or) (a )?limits?`), "reference"},
	{words(`players?`), "peer"},
	{words(`(store|start|signed) orders?|orders? to agents?`), "command"},
	{words(`difference worth the name`), "practically equivalent"},
	{words(`stolen`), "steal"},
	{words(`review(s|ed)? (blocks?|cells?)|reviewedBlocks`), "scan, scanned"},
	{words(`counted anew`), "updated"},
	{words(`quote no`), "do not report"},
	{words(`ends? to rise`), "stops rising"},
	{words(`belongs? to nobody`), "a plain sentence"},
	{words(`whoever|lest|speaks? of no`), "a plain sentence"},
}

// words matches an expression between the borders of words, in capitals or not.
func words(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + expression + `)\b`)
}

// places are the folders and files where users read.
var places = []string{
	"README.md", "CONTRIBUTING.md", "Makefile", "docs", "charts/loadstone", "config/crd", "config/samples", "config/suites", "config/workloads", "api/v1alpha1",
	"cmd", "controllers", "hack", "internal",
}

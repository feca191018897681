package words

// englishCases are the words of values that are compared as they are.
var englishCases = map[string]string{
	"cases.title":  "Cases",
	"cases.lead":   "Each case is compared with that of %s, block by block. The tests share one correction with those of the loads.",
	"cases.metric": "%s (%s, %s is better)",
	"cases.More":   "more",
	"cases.Less":   "less",
}

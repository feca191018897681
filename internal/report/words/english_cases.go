package words

// englishCases are the words of programs that measure themselves.
var englishCases = map[string]string{
	"cases.title":  "Cases",
	"cases.lead":   "Each case is compared with that of %s, block by block. The first metric of a case decides; all tests share one correction.",
	"cases.metric": "%s (%s, %s is better)",
	"cases.More":   "more",
	"cases.Less":   "less",
	"cases.void":   "void in %s",

	"reason.BothZero":       "0 on both sides",
	"reason.ZeroHasNoRatio": "a value of 0 has no ratio",

	"headline.cases":         "%s against %s, of %s: %s better, %s worse, %s practically equivalent, %s inconclusive",
	"headline.cases.void":    "void: %s of %s processes",
	"headline.cases.largest": "most in %s: %s (%s)",
	"cases.change":           "%s %s",
	"cases.1":                "%s case",
	"cases.n":                "%s cases",

	"care.processes":   "all cases",
	"values.title":     "Values by case",
	"values.lead":      "Each value is the mean over the processes that count, of each the median of the repetitions that it made by itself, with its %s interval.",
	"values.processes": "%s of %s",
	"values.optimised": "An operation cannot take less than a cycle of a CPU: the work was probably optimised away.",
	"values.lacks":     "%s does not print the case %s (%s).",
	"values.failed":    "The case %s of %s failed in %s: %s",
	"values.unit":      "%s, %s",
	"values.name":      "%s of %s",
	"values.point":     "%s, %s: %s %s (%s)",

	"processes.title": "Processes",
	"processes.1":     "%s process",
	"processes.n":     "%s processes",
	"th.processes":    "processes",
	"th.repetitions":  "repetitions each",
	"th.seconds":      "mean seconds",
	"th.void":         "void",
}

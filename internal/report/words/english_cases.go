package words

// englishCases are the words of programs that measure themselves.
var englishCases = map[string]string{
	"cases.title":     "Cases",
	"cases.lead":      "Each case is compared with that of %s, block by block. The first metric of a case decides; all tests share one correction.",
	"cases.metric":    "%s (%s, %s is better)",
	"cases.More":      "more",
	"cases.Less":      "less",
	"cases.optimised": "the work of %s was probably optimised away",
	"cases.void":      "void in %s",

	"reason.BothZero":       "0 on both sides",
	"reason.ZeroHasNoRatio": "a value of 0 has no ratio",

	"headline.cases":         "%s against %s, of %s: %s better, %s worse, %s practically equivalent, %s inconclusive",
	"headline.cases.void":    "void: %s of %s processes",
	"headline.cases.largest": "most in %s: %s (%s)",
	"cases.change":           "%s %s",
	"cases.1":                "%s case",
	"cases.n":                "%s cases",

	"care.values":      "Some cases are missing, have failed, could not be read or were probably optimised away: see the values by case.",
	"care.processes":   "all cases",
	"values.title":     "Values by case",
	"values.lead":      "Each value is the mean over the processes that count, of each the median of the repetitions that it made by itself, with its %s interval.",
	"values.processes": "%s of %s",
	"values.optimised": "An operation took less than about two cycles of a CPU: unless several threads share it, the work was probably optimised away.",
	"values.lacks":     "%s does not print the case %s (%s).",
	"values.failed":    "The case %s of %s gave no value in %s: %s",
	"values.taken":     "%s of %s is taken for %s (%s).",
	"values.unprinted": "spec.microbenchmark.outputs renames %s of %s, which printed no such case: correct the name, as the report shows it.",
	"line.gaps":        ", and %s more like it",
	"values.unread":    "What %s printed could not be read as a whole in %s (%s), first in block %d: %s",
	"values.line":      "line %d: %s",
	"values.begins":    "%s (it begins with %q)",
	"parts.1":          "%s part",
	"parts.n":          "%s parts",
	"values.unit":      "%s, %s",
	"values.name":      "%s of %s",
	"values.point":     "%s, %s: %s %s (%s)",

	"method.2.programs":    "Each case is compared separately, by its first metric; its other metrics are tested as well. Of the repetitions that a process makes by itself, the median counts as one value. Where both sides are 0 in every block, there is no difference.",
	"builds.lead.programs": "What the executable of each program shows, read from its file before it was started. Below each answer stands what it follows from; what the file does not show is unknown.",

	"processes.title": "Processes",
	"processes.1":     "%s process",
	"processes.n":     "%s processes",
	"th.processes":    "processes",
	"th.repetitions":  "repetitions each",
	"th.seconds":      "mean seconds",
	"th.void":         "void",
}

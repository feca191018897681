package report

import "maps"

func init() { maps.Copy(english, englishCapacity) }

// englishCapacity are the words of searches.
var englishCapacity = language{
	"line.kept": "%s sustains %s requests/s at p%d <= %d ms (mean of %d)",

	"metric.Capacity":           "sustained rate",
	"effect.Capacity.more":      "%[1]s sustains a rate %[2]s above that of %[3]s",
	"effect.Capacity.less":      "%[1]s sustains a rate %[2]s below that of %[3]s",
	"effect.Capacity.times":     "%[1]s sustains %[2]s the rate of %[3]s",
	"same.Capacity":             "%[1]s and %[2]s sustain the same rate within %[3]s",
	"found.at":                  "At p%d ≤ %d ms, ",
	"found.rate":                "%s sustains %s requests/s",
	"objective.Capacity":        "sustained rate",
	"why.LowerBound":            "searches found only lower bounds",
	"why.NoRateKept":            "no search found a rate that keeps the bound",
	"capacity.title":            "Capacity",
	"capacity.lead":             "Each trial searches anew for the highest arrival rate at which no request fails, the rate is achieved and the latency keeps its bound. The mean is the geometric one over the trials, with its %s interval. A rate is only a lower bound (≥) where no step missed, where a generator was busy and the server was not, or where the miss has causes outside the implementation; a search that kept no rate gives no number, and an implementation with such searches cannot win.",
	"capacity.family":           "These verdicts share the run's budget of errors with those of the other loads.",
	"capacity.bound":            "p%d from the intended start ≤ %d ms, no errors, with up to %s",
	"capacity.to":               "to %s",
	"capacity.Better":           "sustains more",
	"capacity.Worse":            "sustains less",
	"capacity.BoundsOnly":       "the rates are only lower bounds",
	"capacity.chart":            "Rates that were tried: %s",
	"capacity.unit":             "requests/s; filled: p%d ≤ %d ms was kept, hollow: it was missed",
	"care.search":               "%s: steps of the search",
	"th.kept":                   "sustained rate",
	"th.searches":               "searches",
	"axis.steps":                "steps",
	"point.met":                 "%s, block %s, step %s: %s requests/s, kept.",
	"point.missed":              "%s, block %s, step %s: %s requests/s, missed.",
	"searches.Found":            "%s found the boundary",
	"searches.NotReached":       "%s missed no rate",
	"searches.BelowStart":       "%s kept no rate",
	"searches.NotTried":         "%s tried none",
	"searches.Unusable":         "%s void",
	"searches.Missing":          "%s missing",
	"searches.GeneratorLimited": "%s found the limit of the generator",
	"searches.Disturbed":        "%s disturbed at the boundary",
}

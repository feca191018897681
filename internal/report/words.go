package report

import "fmt"

// language holds every word of the report, as formats of package fmt. Another language is another such map with the same keys.
type language map[string]string

// say prints a sentence. An unknown key is a mistake of the program, and shows itself in tests as well as on the page.
func (l language) say(key string, args ...any) string {
	format, ok := l[key]
	if !ok {
		return "!(" + key + ")"
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// count picks between one and several: keys end in ".1" and ".n".
func (l language) count(key string, n int, args ...any) string {
	if n == 1 {
		return l.say(key+".1", append([]any{integer(int64(n))}, args...)...)
	}
	return l.say(key+".n", append([]any{integer(int64(n))}, args...)...)
}

// english is the only language so far. Keys that begin with "line." make the one-line verdict, and are ASCII.
var english = language{
	"lang": "en",

	"line.Faster":                     "%s is %sx faster than %s (%s)",
	"line.Slower":                     "%s is %sx slower than %s (%s)",
	"line.NoDifference":               "%s and %s do not differ by more than %s: %s (%s)",
	"line.observed":                   "%s/%s %sx",
	"line.evidence":                   "%s, %s, %s, %d blocks",
	"line.interval":                   "%s interval %s-%s",
	"line.nointerval":                 "no interval",
	"line.level":                      "one level",
	"line.levels":                     "mean of %d levels",
	"line.metric.ServerCPUPerRequest": "CPU time per request",
	"line.metric.Throughput":          "throughput",
	"line.TooFewBlocks":               "inconclusive: %d of %d blocks needed; %s observed (%s)",
	"line.NoiseTooHigh":               "inconclusive: %s (%s) may be chance; about %d blocks would decide",
	"line.other":                      "inconclusive: %s (%s): %s",
	"line.reason.NoiseTooHigh":        "may be chance, and more blocks would hardly decide",
	"line.reason.ManyComparisons":     "may be chance among so many comparisons",
	"line.reason.BoundsOnly":          "the generator was the limit",
	"line.reason.OwnFaults":           "the better side failed in some cells",
	"line.nopair":                     "inconclusive: %s and %s have no block in common",
	"line.void":                       ": %d of %d cells are void (%s)",
	"line.nothing":                    "no verdict: %d of %d trials were measured and none gave a number",
	"line.alone":                      "nothing to compare; %s",
	"line.peak":                       "%s: %s%s requests/s at %d connections (mean of %d)",
	"line.atleast":                    "at least ",
	"line.more":                       "; and %d more",

	"title":                  "Benchmark report: %s",
	"kicker":                 "Loadstone benchmark report",
	"run.when":               "%s to %s",
	"headline.Faster":        "%s is %s faster than %s.",
	"headline.Slower":        "%s is %s slower than %s.",
	"headline.NoDifference":  "%s and %s do not differ by more than %s.",
	"headline.Inconclusive":  "This run cannot say whether %s is faster or slower than %s.",
	"headline.alone":         "There is nothing to compare in this run.",
	"headline.nothing":       "This run has no result.",
	"sub.evidence":           "Decided by %s: %s the %s of %s (%s interval %s to %s), mean of %s, from %s measured side by side.",
	"sub.observed":           "Observed: %s the %s of %s (%s interval %s to %s), mean of %s, from %s measured side by side.",
	"sub.observed.few":       "Observed: %s the %s of %s, mean of %s, from %s measured side by side.",
	"sub.same":               "The verdict is the same at each of the %s levels.",
	"sub.from":               "From %s at %s to %s at %s.",
	"sub.some":               "Of the levels alone, %s of %s have the same verdict.",
	"sub.crossing":           "Which side is faster depends on the load: see the levels below.",
	"sub.disagrees":          "The other metric says the opposite: look at both below.",
	"sub.TooFewBlocks":       "A verdict needs %s complete blocks; this run has %s.",
	"sub.NoiseTooHigh":       "The difference could be chance.",
	"sub.ManyComparisons":    "The difference would count alone, but not among as many comparisons as this run makes.",
	"sub.BoundsOnly":         "The load generator was the limit, so that the throughputs are only lower bounds.",
	"sub.OwnFaults":          "The side that looks better failed in some cells or trials by its own fault, and so it cannot win.",
	"sub.nopair":             "There is no block in which both have a cell that can be believed.",
	"sub.needed":             "About %s blocks of this noise would decide it.",
	"sub.hopeless":           "No sensible number of blocks of this noise would decide it.",
	"sub.detectable":         "The smallest difference that this run would have seen in 8 of 10 cases: %s.",
	"badge.trials":           "%s of %s trials measured",
	"badge.valid":            "%s of %s cells valid",
	"badge.suspect":          "%s suspect",
	"badge.void":             "%s void",
	"badge.pinned":           "all cells pinned",
	"badge.pinned.not":       "%s of %s cells not pinned",
	"badge.environment":      "the environment changed between trials",
	"badge.environment.same": "the same environment in all trials",

	"blocks.1": "%s block", "blocks.n": "%s blocks", "levels.1": "%s level", "levels.n": "%s levels", "cells.1": "%s cell", "cells.n": "%s cells",

	"metric.ServerCPUPerRequest": "server CPU time per request",
	"metric.Throughput":          "throughput",
	"short.ServerCPUPerRequest":  "CPU time",
	"short.Throughput":           "throughput",

	"verdict.Faster": "%s faster", "verdict.Slower": "%s slower", "verdict.NoDifference": "no difference", "verdict.Inconclusive": "cannot say",
	"reason.TooFewBlocks":     "%s of %s blocks needed",
	"reason.NoiseTooHigh":     "could be chance",
	"reason.ManyComparisons":  "could be chance among so many",
	"reason.BoundsOnly":       "the generator was the limit",
	"reason.OwnFaults":        "the better side failed in places",
	"reason.OverallUndecided": "counts only if the mean decides",
	"reason.nopair":           "no block in common",

	"forest.title":   "How many times as fast as %s",
	"forest.lead":    "Each row compares one contender with %s, block by block. A point is one block, a bar is the %s interval, the diamond the mean. Right of the line is better. The filled row is the metric that decides there; the hollow one stands beside it.",
	"forest.overall": "mean of %s",
	"forest.level":   "%s: %s", "connections.1": "%s connection", "connections.n": "%s connections",
	"forest.slower":   "← slower than %s",
	"forest.faster":   "faster than %s →",
	"forest.same":     "±%s: no difference worth the name",
	"forest.interval": "%s to %s",
	"forest.pair":     "block %s: %s as fast in %s (%s/%s = %s)",

	"levels.title":     "Level by level",
	"levels.lead":      "A point is one block, in the order of the blocks from left to right; the line is their mean and the shade its %s interval. Crosses are void cells, which count nowhere. A hollow point is a lower bound: the generator was the limit.",
	"throughput.title": "Throughput",
	"throughput.unit":  "requests/s, more is better",
	"cpu.title":        "Server CPU time per request",
	"cpu.unit":         "µs, less is better",
	"axis.connections": "connections",
	"point.throughput": "%s, block %s: %s requests/s",
	"point.cpu":        "%s, block %s: %s per request",
	"point.bound":      "%s (a lower bound: the generator was the limit)",
	"point.void":       "%s (void)",
	"legend.limit":     "practical limit",
	"legend.baseline":  "baseline",

	"latency.title":         "Latency",
	"latency.lead":          "The whole distribution of all blocks together, merged bucket by bucket. A curve ends where fewer than ten samples lie beyond. Latencies are %s: %s.",
	"latency.Observed":      "one sample for each request that was sent and answered",
	"latency.Corrected":     "with samples that the tool inserted for requests which it did not send while it waited",
	"latency.kind.Observed": "observed", "latency.kind.Corrected": "corrected",
	"latency.none":    "No latency was measured.",
	"axis.percentile": "percentile",

	"numbers.title": "All numbers",
	"numbers.lead":  "Means over blocks, with the sample standard deviation and the range from smallest to largest; n is the number of blocks.",
	"th.impl":       "implementation", "th.n": "n", "th.throughput": "throughput", "th.sd": "sd", "th.range": "range", "th.cpu": "CPU time per request",
	"th.servercpu": "server CPUs used", "th.generatorcpu": "generator CPUs used", "th.memory": "server memory", "th.errors": "errors", "th.validity": "cells",
	"th.pinned": "pinned",
	"th.kind":   "kind", "th.samples": "samples", "th.mean": "mean", "th.max": "max", "th.p": "p%s",
	"unit.rate": "requests/s", "unit.cpus": "of %s",
	"level.heading": "%s, %s", "level.detail": "%s, %s, %s s a cell after %s s of warm-up",
	"threads.1": "%s thread", "threads.n": "%s threads",
	"atleast": "≥ %s", "range": "%s–%s", "none": "none",
	"cells.valid": "%s valid", "cells.suspect": "%s suspect", "cells.void": "%s void", "cells.missing": "%s missing",
	"errors.connect": "connect: %s", "errors.read": "read: %s", "errors.write": "write: %s", "errors.timeout": "timeouts: %s", "errors.status": "error answers: %s",
	"quantile.TooFewSamples": "too few samples", "quantile.TimedOut": "timed out",

	"tests.title":   "How sure",
	"tests.lead":    "Ratios are contender / baseline. p is of the paired t on the logs of the ratios, then Holm's correction for the number of comparisons; the exact sign-flip p needs no normal distribution. A verdict needs an adjusted p of at most %s.",
	"th.comparison": "comparison", "th.at": "at", "th.metric": "metric", "th.blocks": "blocks", "th.ratio": "ratio", "th.interval": "%s interval",
	"th.pt": "p", "th.padj": "p adjusted", "th.pflip": "p sign-flip", "th.detectable": "smallest visible difference", "th.verdict": "verdict",
	"badge.of": "%s of %s", "comparison.heading": "%s against %s", "decides": "decides",

	"care.title":    "What to be careful about",
	"care.none":     "Every planned trial was measured, and every cell passed every check.",
	"care.missing":  "Trials that were not measured",
	"care.repeated": "Trials that were measured again after a fault from outside",
	"care.unknown":  "What could not be measured",
	"care.cells":    "Cells that are void or suspect",
	"th.trial":      "trial", "th.block": "block", "th.reason": "why", "th.message": "message", "th.attempt": "attempt", "th.faults": "faults",
	"missing.NotStarted": "the run ended before its turn", "missing.NotRead": "its manifest was not given to this report",
	"unknown.cells.1": "in %s cell", "unknown.cells.n": "in %s cells",

	"Validity.Valid": "valid", "Validity.Suspect": "suspect", "Validity.Void": "void",
	"scope.ThroughputAndLatency": "throughput and latency only", "scope.Latency": "latency only",
	"hit.all": "all blocks", "hit.some.1": "block %[2]s", "hit.some.n": "%[1]s blocks: %[2]s",
	"finding.ToolFailed":       "{subject} gave no measurement{details}",
	"finding.ObserverFailed":   "the server was not observed{details}",
	"finding.NoRequests":       "not one request was completed",
	"finding.CutShort":         "the load lasted only {share} of its time",
	"finding.WrongLabel":       "{subject} ran other threads/connections than planned{details}",
	"finding.WrongStatus":      "the server answered with an error status ({count} times)",
	"finding.Errors":           "{share} of the requests failed (more than {limit} voids a cell)",
	"finding.Starved":          "connections were left waiting: {share} timeouts per connection",
	"finding.NotPinned":        "{subject} did not own the CPUs that it was to own{details}",
	"finding.SharedCPUs":       "{subject} shared a CPU with the server{details}",
	"finding.GeneratorLimited": "the generator used {share} of its CPUs and the server had CPU left: the throughput is a lower bound, and requests may have waited in the generator",
	"finding.GeneratorBusy":    "the generator used {share} of its CPUs: requests may have waited in it",
	"finding.Strangers":        "others used {share} of the server's CPUs",
	"finding.Stolen":           "the hypervisor took {share} of the server's CPUs away",
	"finding.Throttled":        "a CPU quota held the server back for {share} of the time",
	"finding.server":           "the server", "finding.generator": "the generator",

	"spread.title": "Spread over the blocks", "spread.lead": "Every quantity with its mean, sample standard deviation, smallest and largest block, over the cells that are not void.",
	"th.quantity": "quantity", "th.min": "smallest", "th.meansd": "sd", "th.most": "largest",
	"quantity.throughput": "throughput, requests/s", "quantity.latency": "mean latency (%s)", "quantity.cpu": "server CPU time per request",
	"quantity.servercpu": "server CPUs used", "quantity.generatorcpu": "generator CPUs used", "quantity.rss": "server resident memory", "quantity.peak": "server peak memory",

	"raw.title": "Every cell", "raw.lead": "The values that everything above is made from.",
	"th.latency": "mean latency", "th.requests": "requests",

	"environment.title":    "Environment",
	"environment.differs":  "differs between trials",
	"environment.trials.1": "%s trial", "environment.trials.n": "%s trials",
	"role.server": "server", "role.generator": "generator", "role.": "operator", "role.of": "%s %s",
	"fact.node": "node", "fact.kernel": "kernel", "fact.os": "system", "fact.cpuModel": "CPU", "fact.onlineCPUs": "CPUs online",
	"fact.cpus": "CPUs allowed", "fact.smtSiblings": "SMT siblings", "fact.governor": "frequency governor", "fact.memoryBytes": "memory",
	"fact.cgroupVersion": "cgroup", "fact.qosClass": "QoS class", "fact.image": "image", "fact.imageID": "image digest",
	"fact.toolVersion": "load generator", "fact.agentVersion": "agent", "fact.operatorVersion": "version",

	"plan.title": "Plan", "plan.reproduce": "To measure it again: the same spec, and for the same order of trials the seed below. The plan's hash says whether two runs asked the same question.",
	"plan.seed": "order seed", "plan.hash": "plan hash", "plan.uid": "run UID", "plan.blocks": "blocks", "plan.baseline": "baseline", "plan.pinning": "pinning", "plan.operator": "operator",
	"artifacts.title": "Raw data", "artifacts.lead": "Every number comes from these objects, which were written once. SHA-256 tells whether they are still what they were.",
	"th.name": "file", "th.key": "key", "th.bytes": "bytes", "th.sha": "SHA-256", "th.role": "of",
	"method.title": "How the verdict is found",
	"method.1":     "Every implementation is measured once in each block, in a fresh process and in random order. Only ratios within a block are compared, so that slow changes of the machine hit both sides.",
	"method.2":     "Where the load generator was not the limit, throughput decides; elsewhere a throughput says nothing about the server, and the server's CPU time per request decides. Who was the bottleneck makes that choice, and never who won.",
	"method.3":     "First the mean over the levels of each contender is tested, then its levels; with Holm's correction at each step, at most one run in a hundred names a wrong winner. Fewer than %s blocks give no verdict.",
	"method.4":     "No difference means that the whole %s interval lies within ±%s.",
	"method.5":     "An implementation of role Limit shows what the hardware gives, and takes part in no comparison.",
}

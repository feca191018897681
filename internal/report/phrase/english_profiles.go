package phrase

// englishProfiles are the words of what profilers have found.
var englishProfiles = map[string]string{
	"profiles.title":   "Profiles",
	"profiles.lead":    "What the servers did under profilers, when all blocks had been measured. Nothing here takes part in a verdict, and no time of an answer was compared. Instructions and system calls are counted, not sampled, unless a line says that a value is an estimate, and no test is made of them: counts that are all apart say that these launches differed. Where counts vary from launch to launch, three of each of two equal servers lie apart by chance one time in ten.",
	"profiles.of":      "%s (%s)",
	"profiles.what":    "%s, %s requests over %s.",
	"profiles.counted": "%s over %[4]s: once with %[2]s requests and once with %[3]s, %[5]s. The difference is what a request costs, without start and end of the server, but with what the server does by time meanwhile.",
	"profiles.times.1": "%s time", "profiles.times.n": "%s times",

	"profiles.errors": "errors", "profiles.leaks": "leaks", "profiles.requests": "answered rightly", "profiles.first": "first answer within",
	"profiles.versus":         "to %s",
	"profiles.value.memcheck": "", "profiles.value.massif": "peak heap", "profiles.value.massif-heap": "peak heap", "profiles.value.massif-pages": "peak memory",
	"profiles.value.callgrind": "instructions per request", "profiles.value.cachegrind": "instructions per request", "profiles.value.strace": "system calls per request",
	"profiles.value.perf-stat": "instructions per request", "profiles.userOnly": "outside the kernel alone",
	"profiles.spread": "n = %s; %s to %s",
	"profiles.apart":  "all counts apart", "profiles.together": "counts overlap", "profiles.once": "counted once: no spread is known",
	"profiles.launches.1": "%s launch", "profiles.launches.n": "%s launches",

	"profiles.answer.found": "found", "profiles.answer.clean": "none", "profiles.answer.inconclusive": "inconclusive",
	"profiles.contexts": "%s, %s times", "profiles.sites.1": "%s place", "profiles.sites.n": "%s places", "profiles.lost": "%s in %s blocks lost",

	"profiles.missing": "not made", "profiles.limit": "limit",
	"line.profile":       "profile %s of %s went wrong: %s",
	"line.starved":       "%s of %s exceeded the memory of the pod",
	"profiles.mute":      "%s of %s never answered rightly: %s",
	"profiles.wrong":     "%s of %s requests were not answered rightly: %s",
	"profiles.unended.1": "%s launch did not end when it was told to, and was killed", "profiles.unended.n": "%s launches did not end when they were told to, and were killed",
	"profiles.starved": "%s exceeded the memory of the pod, %s, of which %s are the implementation's own and the rest is for the profiler: raise spec.implementations[].memory",
	"profiles.said":    "its last words: %q", "profiles.unread": "%s: %s",

	"profiles.memory": "%s: where memory is lost or misused", "profiles.count": "times", "profiles.each": "per request",
	"profiles.finding": "finding", "profiles.where": "where", "profiles.origin": "comes from",
	"profiles.Leak_DefinitelyLost": "definitely lost", "profiles.Leak_IndirectlyLost": "indirectly lost", "profiles.Leak_PossiblyLost": "possibly lost",
	"profiles.Leak_StillReachable": "still reachable at the end: not lost",

	"profiles.costs": "%s: where the instructions go", "profiles.costsLead": "%s instructions in all, start and end included, of the last launch.",
	"profiles.function": "function", "profiles.functions": "functions, by their own instructions", "profiles.lines": "lines, by their own instructions",
	"profiles.inclusive": "functions, with what they call", "profiles.edges": "calls, with what they lead to",
	"profiles.open.callgrind":  "The whole call graph is in the trial's file callgrind.*.out: callgrind_annotate prints it, with the source beside its costs where that is at hand, and KCachegrind draws it.",
	"profiles.open.cachegrind": "The costs of all lines are in the trial's file cachegrind.*.out: cg_annotate prints them, with the source beside them where that is at hand.",
	"profiles.own":             "own", "profiles.withCalled": "with what it calls", "profiles.flame": "stacks of %s by instructions",

	"profiles.calls": "%s: system calls", "profiles.callsLead": "All calls of the last launch, start and end included, over its %s requests.",
	"profiles.call": "system call", "profiles.failed": "failed",

	"profiles.counters": "%s: counters of the CPU and the kernel", "profiles.event": "event", "profiles.whole": "whole launch", "profiles.unmeasured": "not measured",
	"profiles.countersLead": "A whole launch is the last one, start and end included. Counters of the kernel hold what the scheduler and other programs do to a server, so that a difference may be 0, or below it by chance.",
	"profiles.extrapolated": "The event shared its counter with others: the value is an estimate.",

	"profiles.peak.heap": "%s: what held the heap when heap and stacks were largest", "profiles.peak.pages": "%s: what held the pages when most were held", "profiles.held": "held", "profiles.share": "share",
	"profiles.treeLead": "A tree: below each place that asked for memory stand those that led there. What holds less than 1 % is left out; what massif has not put together itself is in its file.",
	"profiles.stacks":   "Asked for: %s; the allocator adds %s, and stacks have %s. At their largest, stacks had %s.",
	"profiles.small.1":  "%s place below 1 %%", "profiles.small.n": "%s places below 1 %%, together",
	"profiles.full.1": "%s more place", "profiles.full.n": "%s more places, together",
	"profiles.over.heap": "heap", "profiles.unit.heap": "as asked of the allocator", "profiles.over.pages": "pages", "profiles.unit.pages": "as asked of the kernel, used or not",
	"profiles.by.massif": "heap", "profiles.by.massif-heap": "heap", "profiles.by.massif-pages": "pages asked of the kernel, used or not",
	"profiles.heapName": "heap over the run, by %s", "profiles.heapAxis": "share of the run, in instructions",
}

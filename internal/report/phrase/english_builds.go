package phrase

// englishBuilds are the words of how servers were built.
var englishBuilds = map[string]string{
	"builds.title":   "Builds",
	"builds.lead":    "What the executable of each server shows, read from the file of the process that listens on the port, before any load. Below each answer stands what it follows from; what the file does not show is unknown.",
	"builds.unlike":  "The rows that are marked differ between implementations.",
	"builds.differs": "differs",
	"builds.fact":    "fact",

	"builds.rest":     "before any load",
	"builds.code":     "code",
	"builds.linking":  "linking and hardening",
	"builds.file":     "file",
	"builds.start":    "start-up time",
	"builds.startBy":  "from the creation of the process to its listening port, right to %s ms",
	"builds.answer":   "first answer",
	"builds.answerBy": "from the same creation to an HTTP answer, asked for when the port has opened",
	"builds.idle":     "resident memory at rest",
	"builds.atMost":   "at most %s",
	"builds.spread":   "n = %s; %s to %s",
	"builds.bounds":   "n = %s, of which %s only bounded from above; %s to %s",
	"builds.late":     "none within a second of the open port in %s of %s trials",
	"builds.files.1":  "%s file", "builds.files.n": "%s different files: that of most trials is described",
	"builds.yes": "yes", "builds.no": "no", "builds.unknown": "unknown",
	"build.path": "path", "build.script": "script that it runs", "build.bytes": "size", "build.sha256": "SHA-256", "build.buildID": "build ID",
	"build.format": "format", "build.compilers": "compilers", "build.flags": "flags", "build.optimized": "optimised", "build.assertions": "assertions",
	"build.coverage": "coverage", "build.sanitizers": "sanitizers", "build.debugInfo": "debug information", "build.stripped": "stripped",
	"build.static": "static", "build.interpreter": "interpreter", "build.libraries": "libraries", "build.allocator": "allocator", "build.pie": "PIE",
	"build.relro": "RELRO", "build.bindNow": "BIND_NOW", "build.stackProtector": "stack protector", "build.stackClash": "stack clash protection",
	"build.fortify": "FORTIFY", "build.branchTargets": "checked branch targets (IBT, BTI)", "build.shadowStack": "checked return addresses (SHSTK, PAC)",
	"build.go": "Go version", "build.goSettings": "Go build settings",
}

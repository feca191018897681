package words

// englishDrawn are the words of pictures, and of what stands around tables.
var englishDrawn = map[string]string{
	"contents.title": "Contents",
	"details.title":  "All data",

	"forest.title":        "Compared with %s",
	"forest.lead":         "Each row shows by how much a contender differs from %s. A dot is one block, the bar is the %s interval, and the diamond is the mean: filled for the deciding metric, hollow for the others. Green is better, orange is worse, blue is practically equivalent, and grey is undecided.",
	"forest.overall":      "mean of %s",
	"forest.loads":        "all loads, weighted",
	"forest.same":         "±%s: practically equivalent",
	"forest.pair":         "block %s: %s",
	"forest.more":         "change from %s; more is better",
	"forest.less":         "change from %s; less is better",
	"forest.better.left":  "← better",
	"forest.better.right": "better →",
	"forest.worse.left":   "← worse",
	"forest.worse.right":  "worse →",
	"th.change":           "change",

	"levels.lead":        "Each point is one block, in block order from left to right; the line is the mean, and the shade its %s interval. A cross is a void cell, which is excluded. A hollow point is a lower bound: the generator was the bottleneck. The scale follows the contenders; an arrow gives the value of a reference beyond it.",
	"levels.name":        "%s by level, load %s",
	"facet.closed":       "%s: fixed connections",
	"facet.open":         "%s: imposed arrival rate",
	"throughput.imposed": "requests/s, at an imposed rate",
	"limit.label":        "%s %s",
	"limit.beyond":       "%s lies below this scale",
	"badge.limits":       "reference: %s of %s cells valid",
	"badge.missed":       "%s missed",

	"latency.lead":   "All blocks together, with their histograms merged. Different kinds of latency are never compared: %s.",
	"latency.curves": "The full distribution. The values of the highest and the lowest curve are next to them. A curve ends at its last rise, or where fewer than ten samples remain. For a tool that reports percentiles only, the distribution lies between the dashed and the solid curve.",
	"latency.kinds":  "All kinds of latency, with means",
	"latency.name":   "Latency distributions, %s",

	"over.title": "Throughput over time",
	"over.lead":  "Responses per interval relative to the mean of the cell, estimated from the TCP segments that the server sent, or from its CPU time where those are unknown. The line is the mean over the blocks, the band spans the slowest to the fastest block, and the ring marks the deepest dip of any block. The first and the last interval of a cell are omitted.",
	"over.name":  "Throughput over time, %s",
	"over.lane":  "%s, mean %s requests/s",
	"over.mark":  "%s in block %s",
	"over.dip":   "%s: deepest dip %s, at %s, %s after the start of the cell in block %s",

	"objectives.met": "Objectives met: %s",

	"environment.differs": "differs between trials",
	"environment.differ":  "These facts differ between trials, so the trials did not run under equal conditions:",
	"environment.same":    "No fact differs between trials.",
	"environment.all":     "All %s facts",
	"environment.rest":    "The other %s facts, identical in all trials",
	"fact.headers":        "%s bytes of headers for %s",

	"raw.lead":       "The data behind this report. Names are links to the raw output of the load generator where this report is stored with the objects of its run, as in the bucket.",
	"artifacts.lead": "Every number comes from these objects, which are written once. Verify them with SHA-256. Keys are links where this report is stored with the objects, as in the bucket; a key without a prefix is relative to the folder of the run.",
	"method.5":       "A reference implementation shows what the hardware can do and takes part in no comparison.",

	"missing.ImagePull":          "its image could not be pulled",
	"missing.ServerNotListening": "the server did not start listening",
	"missing.ServerExited":       "the server exited",
	"missing.WrongResponse":      "the server gave a wrong response",
	"missing.LoadImpossible":     "the load could not be generated",
	"missing.Unschedulable":      "no node had room for a pod",
	"missing.PodLost":            "a pod was lost",
	"missing.AgentLost":          "an agent was lost",
	"missing.AgentFailed":        "an agent failed",
	"missing.PodRejected":        "a pod could not be created",
	"missing.UploadFailed":       "uploading its files failed",
	"missing.TimedOut":           "it timed out",
}

package words

// englishDrawn are the words of pictures, and of what stands around tables.
var englishDrawn = map[string]string{
	"contents.title": "Contents",
	"details.title":  "All the data",

	"forest.title":        "Compared with %s",
	"forest.lead":         "Each row shows by how much a contender differs from %s. A dot is one block, the bar is the %s interval, and the diamond is the mean: filled where that metric decides, hollow where it only accompanies. Green is better, orange is worse, blue is no difference, and grey is undecided.",
	"forest.overall":      "mean of %s",
	"forest.loads":        "all loads, by weight",
	"forest.same":         "±%s: treated as no difference",
	"forest.pair":         "block %s: %s",
	"forest.more":         "change from %s; more is better",
	"forest.less":         "change from %s; less is better",
	"forest.better.left":  "← better",
	"forest.better.right": "better →",
	"forest.worse.left":   "← worse",
	"forest.worse.right":  "worse →",
	"th.change":           "change",

	"levels.lead":        "A point is one block, in the order of the blocks from left to right; the line is their mean, and the shade its %s interval. A cross is a void cell, which counts nowhere. A hollow point is a lower bound: the generator was the limit. The scale follows the contenders; an arrow gives the value of a limit that lies beyond it.",
	"levels.name":        "%s by level, load %s",
	"facet.closed":       "%s: fixed connections",
	"facet.open":         "%s: imposed arrival rate",
	"throughput.imposed": "requests/s; the rate was imposed",
	"limit.label":        "%s %s",
	"limit.beyond":       "%s lies below this scale",
	"badge.limits":       "limit, apart: %s of %s cells valid",
	"badge.missed":       "%s missed",

	"latency.lead":   "All blocks together, merged bucket by bucket. Kinds of latency are never compared with each other: %s.",
	"latency.curves": "The whole distribution. The values of the highest and the lowest curve stand next to them. A curve ends at its last rise, or where fewer than ten samples lie beyond. A tool that reports percentiles alone gives intervals: its distribution lies between the dashed curve and the solid one.",
	"latency.kinds":  "All kinds of latency, with means",
	"latency.name":   "Latency distributions, %s",

	"over.title": "Throughput over time",
	"over.lead":  "Answers in each interval against the mean of the cell, by the TCP segments that the server sent, or by its CPU time where those are unknown. The line is the mean over the blocks, the band reaches from the slowest block to the fastest, and the ring marks the deepest dip of any block. The first and the last interval of a cell are left out.",
	"over.name":  "Throughput over time, %s",
	"over.lane":  "%s, mean %s requests/s",
	"over.mark":  "%s in block %s",
	"over.dip":   "%s: deepest dip %s, at %s, %s after the start of the cell in block %s",

	"objectives.met": "The %s objectives that are met",

	"environment.differs": "differs between trials",
	"environment.differ":  "These facts differ between trials, which were then not measured under equal conditions:",
	"environment.same":    "No fact differs between trials.",
	"environment.all":     "All %s facts",
	"environment.rest":    "The other %s facts, which are the same in all trials",
	"fact.headers":        "%s bytes of headers for %s",

	"raw.lead":       "The data behind everything above. A name, where it is a link, leads to the raw output of the load generator, where this report lies with the objects of its run as it does in the bucket.",
	"artifacts.lead": "Every number comes from these objects, which are written once. Verify them with SHA-256. Their keys lead to them where this report lies with them as it does in the bucket; a key without a prefix lies below the folder of the run.",
	"method.5":       "An implementation of role Limit shows what the hardware gives, and takes part in no comparison.",

	"missing.ImagePull":          "its image could not be pulled",
	"missing.ServerNotListening": "the server did not listen",
	"missing.ServerExited":       "the server exited",
	"missing.WrongResponse":      "the server gave a wrong response",
	"missing.LoadImpossible":     "the load could not be made",
	"missing.Unschedulable":      "no node had room for a pod",
	"missing.PodLost":            "a pod was lost",
	"missing.AgentLost":          "an agent was lost",
	"missing.AgentFailed":        "an agent failed",
	"missing.PodRejected":        "the node rejected a pod",
	"missing.UploadFailed":       "the upload of its files failed",
	"missing.TimedOut":           "it took too long",
}

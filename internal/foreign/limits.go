package foreign

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/stats"
)

// The limits of the checks. The first are those of internal/stats and of the API, where their reasons stand.
const (
	// failedVoid is the share of requests that may fail before a sample is void.
	failedVoid = v1alpha1.LoosestErrorRate
	// starvedVoid is the number of timeouts a connection beyond which connections were left waiting.
	starvedVoid = stats.StarvedVoid
	// cutShort is the share of the asked time that a run must have lasted.
	cutShort = stats.MinDuration
	// samplesBeyond is how many samples must lie above a quantile.
	samplesBeyond = stats.SamplesBeyond
	// littleLimit is the number of requests under way for each connection, by throughput and mean latency.
	littleLimit = stats.LittleSuspect

	// voidSeconds and suspectSeconds: below a second, start-up and the scheduler's first decisions are most of what was measured;
	// the noise of throughput falls until a few seconds, and not after.
	voidSeconds, suspectSeconds = 1, 5
	// fewRequests: with fewer than a thousand, chance alone moves a count by 3 % and p99 is unknown.
	fewRequests = 1000
	// unaccounted: where measured latency explains less than nine tenths of the connections' time, requests waited unseen.
	unaccounted = 0.9
	// missedShare and missedStarts are what an arrival rate may miss: the larger of the two.
	missedShare, missedStarts = 0.01, 2
	// keptShare is the share of requests that must have reused a connection where that was asked for; servers commonly close a
	// connection after 100 or 1,000 requests.
	keptShare = 0.99
	// coarse: a latency of fewer than ten steps of its tool is good to no better than a tenth.
	coarse = 10
	// spreadSuspect: repeats of one server on one quiet machine vary by 6 to 9 %.
	spreadSuspect = 0.1
	// flat is how far below the largest throughput of a sweep a saturated level may lie: that of the noise of single runs.
	flat = 0.1
	// wide is how far apart the connections of saturated levels must lie, as a factor, for latency to tell from them.
	wide = 2
	// following is the share of the growth of connections by which latency must have grown to say that it follows them.
	following = 0.5
	// unequalBytes is the share by which the bytes of a response may differ between two samples.
	unequalBytes = 0.01
	// roundStep and roundSamples: tools print hundredths, so that one throughput in 5,000 is a multiple of 50.
	roundStep, roundSamples = 50, 3
	// enoughRepeats is how many repeats of each side a verdict needs.
	enoughRepeats = stats.MinBlocks
)

package lint

import (
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// The limits of the checks. The first are those of the packages that judge a run, and of the API, where their reasons stand.
const (
	// failedVoid is the share of requests that may fail before a sample is void.
	failedVoid = plan.MaxErrorRate
	// starvedVoid is the number of timeouts a connection beyond which connections were left waiting.
	starvedVoid = validity.StarvedVoid
	// cutShort is the share of the asked time that a run must have lasted.
	cutShort = validity.MinDuration
	// samplesBeyond is how many samples must lie above a quantile.
	samplesBeyond = inference.SamplesBeyond
	// littleLimit is the number of requests under way for each connection, by throughput and mean latency.
	littleLimit = validity.LittleSuspect
	// missedShare and missedStarts are what an arrival rate may miss: the larger of the two.
	missedShare, missedStarts = record.MissedShare, record.MissedStarts

	// voidSeconds and suspectSeconds: below a second, start-up and the scheduler's first decisions are most of what was measured;
	// the noise of throughput falls until a few seconds, and not after.
	voidSeconds, suspectSeconds = 1, 5
	// fewRequests: with fewer than a thousand, chance alone moves a count by 3 % and p99 is unknown.
	fewRequests = 1000
	// stalledRatio is how much more than its throughput wrk's threads may have got while answers came: 9 % of the time without any.
	// Of 45 good runs of 1 to 6 s on two CPUs that up to 15 programs wanted, 39 gave 1.00 to 1.10; the 6 others, 1.11 to 1.23, had
	// most likely stood still for want of CPU, with largest latencies of 312 to 682 ms. Three at a real-time priority gave 1.01: wrk cuts each
	// sample's time to whole milliseconds, which adds up to 1 %. A start of two empty samples adds 5 % to 3 s. Planted stalls and hangs
	// of 12 % of the time and more gave 1.13 to 3.1.
	stalledRatio = 1.1
	// sampledRate and sampledTurn say when an empty sample of wrk is no chance: a thread gets 10 answers in each on average, of which
	// random ones are all missing in 1 of 20,000 samples, and each connection has two turns in it, so that even answers that all come
	// at once leave none empty. The first is in requests per second, the second in seconds.
	sampledRate, sampledTurn = 100, 0.05
	// stalledShare is the share of all waiting that the slowest hundredth of ab's requests may have: about that of stalledRatio.
	stalledShare = 0.1
	// stallMicros and stalledTail are the largest latency, in microseconds and as a multiple of p99, from which on one request alone
	// tells of a stall: below 100 ms a busy machine's scheduler explains it, and p99 at a hundredth leaves no continuous tail.
	stallMicros, stalledTail = 100e3, 100
	// unanswered: where ab's latencies explain less than half of the connections' time, most of them carried nothing that was answered.
	// Before each connection has made ten requests, the last few that run alone explain that too.
	unanswered, unansweredTurns = 0.5, 10
	// unaccounted: where measured latency explains less than nine tenths of the connections' time, requests waited unseen.
	unaccounted = 0.9
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
	enoughRepeats = verdict.MinBlocks
)

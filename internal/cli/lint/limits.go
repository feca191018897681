package lint

import (
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Limits of the checks. The first are those of the API and the packages that judge a run, with their reasons.
const (
	failedVoid = plan.MaxErrorRate
	// starvedVoid is the number of timeouts per connection that shows starved connections.
	starvedVoid = validity.StarvedVoid
	// cutShort is the least share of the requested time.
	cutShort      = validity.MinDuration
	samplesBeyond = inference.SamplesBeyond
	// littleLimit is requests in flight per connection.
	littleLimit = validity.LittleSuspect
	// missedShare and missedStarts: an arrival rate may miss the larger of the two.
	missedShare, missedStarts = record.MissedShare, record.MissedStarts

	// voidSeconds and suspectSeconds: the first second mostly measures start-up and early scheduling; the noise of throughput falls for a few
	// seconds.
	voidSeconds, suspectSeconds = 1, 5
	// fewRequests: with fewer than a thousand, chance alone moves a count by 3 % and p99 is unknown.
	fewRequests = 1000
	// stalledRatio is wrk's rate per thread while answers came, relative to its throughput: 9 % of the time without answers. Of 45 good runs of 1 to
	// 6 s on two CPUs shared with up to 15 programs, 39 gave 1.00 to 1.10; the 6 others (1.11 to 1.23, with latencies of 312 to 682 ms) most likely
	// lacked CPU. wrk's rounding to whole milliseconds adds up to 1 %, two empty samples at the start add 5 % to 3 s. Planted stalls of at least 12 %
	// of the time gave 1.13 to 3.1.
	stalledRatio = 1.1
	// sampledRate (requests/s) and sampledTurn (s): from there on an empty sample of wrk is no chance. With 10 answers per sample and thread, all are
	// missing by chance once in 20,000; with two turns per connection, bursts leave no sample empty.
	sampledRate, sampledTurn = 100, 0.05
	// stalledShare is the allowed share of the slowest hundredth of ab's requests in all waiting: about stalledRatio.
	stalledShare = 0.1
	// stallMicros and stalledTail: a largest latency (in microseconds, and as a multiple of p99) that shows a stall by itself. A busy scheduler
	// explains less than 100 ms, and no continuous tail has 100 times its p99.
	stallMicros, stalledTail = 100e3, 100
	// unanswered: if ab's latencies explain less than half of the connections' time, most were not answered. With fewer than ten requests per
	// connection, the last ones, running alone, explain that too.
	unanswered, unansweredTurns = 0.5, 10
	// unaccounted: if latencies explain less than nine tenths of the connections' time, requests waited unseen.
	unaccounted = 0.9
	// keptShare is the least share of requests on reused connections, if requested; servers commonly close one after 100 or 1,000 requests.
	keptShare = 0.99
	// coarse: fewer than ten steps of the tool are accurate to a tenth at best.
	coarse = 10
	// spreadSuspect: repeats of one server on one quiet machine vary by 6 to 9 %.
	spreadSuspect = 0.1
	// unevenLatency is the largest allowed ratio of mean latencies of repeats or parts; throughputs vary by a tenth.
	unevenLatency = 1.5
	// alikeRange and alikeSources: three servers within a hundredth share a limit, since repeats of one vary by more.
	alikeRange, alikeSources = 0.01, 3
	// wholeTest is the least share that completes a distributed test, since shares are rounded.
	wholeTest = 0.995
	// flat is how far below the peak a saturated level may lie: the noise of single runs.
	flat = 0.1
	// wide is the least factor between the connections of saturated levels that makes their latencies differ.
	wide = 2
	// following is the least growth of latency, as a share of the connections' growth.
	following = 0.5
	// unequalBytes is the allowed difference of response sizes.
	unequalBytes = 0.01
	// roundStep and roundSamples: tools print hundredths, so one throughput in 5,000 is a multiple of 50.
	roundStep, roundSamples = 50, 3
	enoughRepeats           = verdict.MinBlocks
)

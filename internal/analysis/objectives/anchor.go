package objectives

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// LeastRegressionRuns is how many earlier runs a Regression needs: their spread is its error.
const LeastRegressionRuns = record.LeastEarlierRuns

// regression compares an implementation with itself in earlier runs, through an anchor that all runs measured.
// Machines drift by more than most changes; the drift divides out if it hits both alike. The value is
//
//	(implementation now / anchor now) / (implementation then / anchor then)
//
// as geometric means over blocks and over the earlier runs. Its interval covers at least the spread within the runs.
// From LeastRegressionRuns earlier runs on, it also covers the spread between runs, such as by a rebuilt image,
// memory layout or node. With fewer, it decides nothing.
func (j judge) regression(o record.Objective, l planned.Level, i planned.Implementation) estimate {
	metric := verdict.MetricOf(o.Of, o.Percentile)
	if metric == verdict.Throughput && l.Imposed() {
		return unknown(NotMeasured, "at an imposed rate a throughput is what was asked for")
	}
	now := verdict.ByBlock(metric, j.run.group(l, i.Name), j.run.group(l, o.Against.Anchor))
	var then []verdict.Result
	for _, past := range o.Against.Runs {
		earlier, missing := j.earlierRun(past.UID)
		if earlier == nil {
			return unknown(NoEarlierRun, missing)
		}
		if why, detail := alike(j.run, *earlier, l, o.Against.Anchor, i.Name); why != "" {
			return unknown(why, detail)
		}
		then = append(then, verdict.ByBlock(metric, earlier.group(l, i.Name), earlier.group(l, o.Against.Anchor)))
	}
	f := against(now, then)
	var laterBound, earlierBound bool
	shared := now.Diluted
	for _, t := range then {
		shared = shared || t.Diluted
		laterBound, earlierBound = laterBound || t.ContenderIsBound, earlierBound || t.BaselineIsBound
	}
	f.loosen(metric, now.ContenderIsBound || earlierBound, now.BaselineIsBound || laterBound)
	f.share(shared)
	g := j.run.group(l, i.Name)
	f.suspect, f.closedLoop = now.OnlySuspect() || slices.ContainsFunc(then, verdict.Result.OnlySuspect), verdict.ClosedLoop(metric, l)
	f.faulty = j.run.ImplementationFailures[i.Name]+g.ImplementationFailures(false) > 0
	return f
}

func (j judge) earlierRun(uid string) (r *Run, missing string) {
	if r := j.earlier[uid]; r != nil {
		return r, ""
	}
	loaded := j.run.Data.Earlier[uid]
	if loaded.Data == nil {
		return nil, loaded.Error
	}
	alone := *loaded.Data
	alone.Manifest.Plan.Objectives, alone.Earlier = nil, nil
	analysed, err := j.analyse(alone)
	if err != nil {
		return nil, err.Error()
	}
	j.earlier[uid] = &analysed
	return &analysed, ""
}

func alike(now, then Run, l planned.Level, anchor, name string) (why Reason, detail string) {
	if why, detail := sameAnchor(&now.Data, &then.Data, anchor); why != "" {
		return why, detail
	}
	if !slices.ContainsFunc(then.Implementations, func(k planned.Implementation) bool { return k.Name == name }) {
		return LoadDiffers, fmt.Sprintf("the earlier run has not measured %s", name)
	}
	if a, b := then.Data.Manifest.Plan.Order, now.Data.Manifest.Plan.Order; a != b {
		return LoadDiffers, fmt.Sprintf("spec.order was %s and is %s", a, b)
	}
	level := util.First(then.Levels, func(k *planned.Level) bool { return k.Point == l.Point })
	if level == nil {
		return LoadDiffers, fmt.Sprintf("the earlier run has no level %s", l.Name())
	}
	for _, d := range []struct{ name, then, now string }{
		{"tool", string(level.Tool), string(l.Tool)},
		{"connection", string(level.Connection), string(l.Connection)},
		{"path", pathBeside(*level, l), pathBeside(l, *level)},
		{"request", level.Key(), l.Key()},
		{"expect.bodies", bodies(*level), bodies(l)},
		{"generators.pods", fmt.Sprint(level.Generators), fmt.Sprint(l.Generators)},
		{"generators.cpus", fmt.Sprint(level.Threads), fmt.Sprint(l.Threads)},
		{"rampToRequestsPerSecond", fmt.Sprint(level.RampToRequestsPerSecond), fmt.Sprint(l.RampToRequestsPerSecond)},
	} {
		if d.then != d.now {
			return LoadDiffers, fmt.Sprintf("%s of load %s was %s and is %s", d.name, l.Load, d.then, d.now)
		}
	}
	if why, detail := sameBodies(now.Requests, then.Requests, l.Load); why != "" {
		return why, detail
	}
	return sameScript(&now.Data, &then.Data, *level, l)
}

// sameBodies: an unknown digest counts as equal.
func sameBodies(now, then []planned.Request, load string) (why Reason, detail string) {
	for _, is := range now {
		was := util.First(then, func(r *planned.Request) bool { return r.Load == load && r.Key == is.Key })
		if is.Load == load && was != nil && was.BodySHA256 != is.BodySHA256 && was.BodySHA256 != "" && is.BodySHA256 != "" {
			return LoadDiffers, fmt.Sprintf("bodyFrom of load %s, %s, had SHA-256 %s and has %s", load, is.From, was.BodySHA256, is.BodySHA256)
		}
	}
	return "", ""
}

// pathBeside returns nothing for a mix, whose requests show the difference.
func pathBeside(l, other planned.Level) string {
	if len(l.Mix)+len(other.Mix) > 0 {
		return ""
	}
	return l.Path
}

func bodies(l planned.Level) string {
	var all []string
	for _, a := range l.Asked() {
		how := "Same"
		if a.AnyBody {
			how = "Any"
		}
		all = append(all, how)
	}
	return strings.Join(all, ", ")
}

// sameAnchor requires the same namespace, image digest, command, settings, ConfigMaps and CPUs.
func sameAnchor(now, then *record.RunData, anchor string) (why Reason, detail string) {
	if was, is := then.Manifest.Run.Namespace, now.Manifest.Run.Namespace; was != is {
		return NoEarlierRun, fmt.Sprintf("it is of namespace %s: name one of the namespace %s", was, is)
	}
	a, b := plannedAs(now, anchor), plannedAs(then, anchor)
	digest, before := imagesOf(now, anchor), imagesOf(then, anchor)
	switch {
	case a == nil || len(digest) == 0:
		return NoAnchor, fmt.Sprintf("this run has not measured %s", anchor)
	case b == nil || len(before) == 0:
		return NoAnchor, fmt.Sprintf("the earlier run has not measured %s", anchor)
	case len(digest) > 1 || len(before) > 1 || digest[0] != before[0]:
		return AnchorDiffers, fmt.Sprintf("the image of %s was %s and is %s", anchor, strings.Join(before, ", "), strings.Join(digest, ", "))
	case !slices.Equal(a.Command, b.Command):
		return AnchorDiffers, fmt.Sprintf("the command of %s was %q and is %q", anchor, b.Command, a.Command)
	case !a.SetAlike(*b):
		return AnchorDiffers, fmt.Sprintf("what %s is given beside its image and command is not what it was", anchor)
	case a.CPUs != b.CPUs:
		return AnchorDiffers, fmt.Sprintf("%s had %d CPUs and has %d", anchor, b.CPUs, a.CPUs)
	}
	return sameConfigMaps(now.Manifest.Given(*a), then.Manifest.Given(*b), anchor)
}

// sameConfigMaps: a run without a record of them, or with other keys, counts as equal.
func sameConfigMaps(now, then []record.ConfigMap, anchor string) (why Reason, detail string) {
	for _, is := range now {
		was := util.First(then, func(c *record.ConfigMap) bool { return c.Name == is.Name && slices.Equal(c.Keys, is.Keys) })
		if was != nil && was.SHA256 != is.SHA256 {
			return AnchorDiffers, fmt.Sprintf("ConfigMap %s of %s had SHA-256 %s and has %s", is.Name, anchor, was.SHA256, is.SHA256)
		}
	}
	return "", ""
}

func plannedAs(d *record.RunData, name string) *record.Implementation {
	return util.First(d.Manifest.Plan.Implementations, func(i *record.Implementation) bool { return i.Name == name })
}

// imagesOf gives an unknown image its trial's name, so it equals nothing.
func imagesOf(d *record.RunData, name string) []string {
	var out []string
	for _, t := range d.Trials {
		if t.Manifest.Servers[0] != name {
			continue
		}
		for _, p := range t.Manifest.Pods {
			if p.Member != record.MemberServer(0) {
				continue
			}
			id := p.ImageID
			if id == "" {
				id = "unknown in trial " + t.Manifest.Name
			}
			out = append(out, id)
		}
	}
	return util.Distinct(out)
}

func against(now verdict.Result, then []verdict.Result) estimate {
	f := unknown(TooFewBlocks, "")
	f.n, f.earlierRuns = now.Blocks, len(then)
	f.withinRuns = len(then) < LeastRegressionRuns
	var means []float64
	known := now.InLogs().Known
	for _, t := range then {
		f.earlierN += t.Blocks
		if t.Blocks > 0 {
			means = append(means, t.InLogs().Mean)
		}
		known = known && t.InLogs().Known
	}
	if len(then) == 0 {
		return unknown(NoEarlierRun, "the objective names none")
	}
	if now.Blocks == 0 || len(means) < len(then) {
		return f
	}
	mean, between := inference.Moments(means)
	change := now.InLogs().Mean - mean
	f.value = math.Exp(change)
	if !known {
		return f
	}
	half := withinRuns(now, then)
	if !f.withinRuns {
		half = max(half, betweenRuns(now, then, between))
	}
	half += now.InLogs().Width() / 2
	for _, t := range then {
		half += t.InLogs().Width() / 2 / float64(len(then))
	}
	f.low, f.high, f.why = math.Exp(change-half), math.Exp(change+half), ""
	return f
}

// betweenRuns is half of the interval from the spread of the earlier runs' means. This spread includes the noise
// within those runs. If the noise within this run is larger, the difference of the variances is added.
func betweenRuns(now verdict.Result, then []verdict.Result, between float64) float64 {
	k := float64(len(then))
	square := func(freedom, variance float64) float64 {
		t := inference.TQuantile(1-inference.Alpha/2, freedom)
		return t * t * variance
	}
	own := func(e inference.Estimate) float64 { return e.SD * e.SD / float64(e.Blocks) }
	more := own(now.InLogs())
	for _, t := range then {
		more -= own(t.InLogs()) / k
	}
	sum := square(k-1, between*between*(1+1/k))
	if more > 0 {
		sum += square(now.InLogs().Freedom, more)
	}
	return math.Sqrt(sum)
}

// withinRuns is half of the interval from the spread between the blocks of each run, by Welch and Satterthwaite.
func withinRuns(now verdict.Result, then []verdict.Result) float64 {
	var variance, terms float64
	add := func(e inference.Estimate, share float64) {
		v := share * share * e.SD * e.SD / float64(e.Blocks)
		variance += v
		terms += v * v / e.Freedom
	}
	add(now.InLogs(), 1)
	for _, t := range then {
		add(t.InLogs(), 1/float64(len(then)))
	}
	if variance == 0 {
		return 0
	}
	return inference.TQuantile(1-inference.Alpha/2, variance*variance/terms) * math.Sqrt(variance)
}

// sameScript: a run that froze no script counts as equal.
func sameScript(now, then *record.RunData, before, l planned.Level) (why Reason, detail string) {
	if before.Scripted != l.Scripted {
		return LoadDiffers, fmt.Sprintf("script of load %s is set in one of the runs only", l.Load)
	}
	a, b := scriptOf(then.Manifest, l.Load), scriptOf(now.Manifest, l.Load)
	if a != "" && b != "" && a != b {
		return LoadDiffers, fmt.Sprintf("script of load %s had SHA-256 %s and has %s", l.Load, a, b)
	}
	return "", ""
}

func scriptOf(m record.RunManifest, load string) string {
	if s := util.First(m.Scripts, func(s *record.FrozenScript) bool { return s.Load == load }); s != nil {
		return s.SHA256
	}
	return ""
}

// Change computes a Regression from the logs of the ratios to the anchor, one per block. Like verdict.Decide it
// exists to test the rules. Without an interval low and high are 0.
func Change(now []float64, then [][]float64) (ratio, low, high float64) {
	result := func(logs []float64) verdict.Result {
		samples := make([]inference.Sample, len(logs))
		for b, log := range logs {
			samples[b] = inference.Sample{Block: int32(b + 1), Span: inference.Exactly(log)}
		}
		return verdict.NewResult("", samples)
	}
	var earlier []verdict.Result
	for _, logs := range then {
		earlier = append(earlier, result(logs))
	}
	f := against(result(now), earlier)
	return f.value, f.low, f.high
}

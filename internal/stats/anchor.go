package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// regression compares an implementation with itself in an earlier run, through an anchor that both runs have measured: machines drift
// by more than most changes are worth, and the drift divides out where it hits both alike. The figure is
//
//	(implementation now / anchor now) / (implementation then / anchor then)
//
// as geometric means over blocks; its interval is Welch's t on the logs of the blocks' ratios, since the runs share no blocks.
func (j judge) regression(o v1alpha1.Objective, l Level, i Implementation) figure {
	run := j.data.Earlier[o.Against.Artifacts]
	if run.Data == nil {
		return unknown(NoEarlierRun, run.Error)
	}
	then, err := j.tableOf(o.Against.Artifacts, run.Data)
	if err != nil {
		return unknown(NoEarlierRun, err.Error())
	}
	earlier := split(*run.Data)
	if why, detail := alike(&j.data, &earlier, *then, l, o.Against.Anchor, i.Name); why != "" {
		return unknown(why, detail)
	}
	metric := Metric(o.Of)
	a := atLevel(metric, j.t.Group(l.Point, i.Name), j.t.Group(l.Point, o.Against.Anchor))
	b := atLevel(metric, then.Group(l.Point, i.Name), then.Group(l.Point, o.Against.Anchor))
	f := welch(a.logs, b.logs)
	f.loosen(a.ContenderIsBound || b.BaselineIsBound, a.BaselineIsBound || b.ContenderIsBound)
	f.faulty = j.t.Coverage.ownFaults(i.Name)+cellFaults(j.t.Group(l.Point, i.Name)) > 0
	return f
}

// tableOf analyses an earlier run, once. What that run compared itself with is of no interest here.
func (j judge) tableOf(prefix string, data *record.RunData) (*Table, error) {
	if t := j.earlier[prefix]; t != nil {
		return t, nil
	}
	alone := *data
	alone.Manifest.Spec.Objectives, alone.Earlier = nil, nil
	t, err := Analyse(alone)
	if err != nil {
		return nil, err
	}
	j.earlier[prefix] = &t
	return &t, nil
}

// alike says why two runs cannot be compared at a level through an anchor; empty if they can.
func alike(now, then *record.RunData, before Table, l Level, anchor, name string) (why ObjectiveReason, detail string) {
	if now.Manifest.Run.Namespace != then.Manifest.Run.Namespace {
		return NoEarlierRun, fmt.Sprintf("it is of namespace %s: name one of the namespace %s", then.Manifest.Run.Namespace, now.Manifest.Run.Namespace)
	}
	if why, detail := sameAnchor(now, then, anchor); why != "" {
		return why, detail
	}
	if !slices.ContainsFunc(before.Implementations, func(k Implementation) bool { return k.Name == name }) {
		return LoadDiffers, fmt.Sprintf("the earlier run has not measured %s", name)
	}
	if a, b := orderOf(then), orderOf(now); a != b {
		return LoadDiffers, fmt.Sprintf("spec.order was %s and is %s", a, b)
	}
	level := find(before.Levels, func(k *Level) bool { return k.Point == l.Point })
	if level == nil {
		return LoadDiffers, fmt.Sprintf("the earlier run has no level %s", l.Name())
	}
	for _, d := range []struct{ name, then, now string }{
		{"tool", string(level.Tool), string(l.Tool)},
		{"connection", string(level.Connection), string(l.Connection)},
		{"path", level.Path, l.Path},
		{"generators.pods", fmt.Sprint(level.Generators), fmt.Sprint(l.Generators)},
		{"generators.cpus", fmt.Sprint(level.Threads), fmt.Sprint(l.Threads)},
		{"rampToRequestsPerSecond", fmt.Sprint(level.RampToRequestsPerSecond), fmt.Sprint(l.RampToRequestsPerSecond)},
	} {
		if d.then != d.now {
			return LoadDiffers, fmt.Sprintf("%s of load %s was %s and is %s", d.name, l.Load, d.then, d.now)
		}
	}
	return sameScript(now, then, *level, l)
}

// orderOf is the order of a run. That of trials of one server each makes no difference to what they measure.
func orderOf(d *record.RunData) v1alpha1.Order {
	if d.Manifest.Spec.Order == v1alpha1.OrderSlicedDuet {
		return v1alpha1.OrderSlicedDuet
	}
	return v1alpha1.OrderBlocks
}

// sameAnchor checks that the anchor was measured in both runs and that it was the same thing: image digest, command and CPUs.
func sameAnchor(now, then *record.RunData, anchor string) (why ObjectiveReason, detail string) {
	a, b := specOf(now, anchor), specOf(then, anchor)
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
	case max(a.CPUs, 1) != max(b.CPUs, 1):
		return AnchorDiffers, fmt.Sprintf("%s had %d CPUs and has %d", anchor, max(b.CPUs, 1), max(a.CPUs, 1))
	}
	return "", ""
}

func specOf(d *record.RunData, name string) *v1alpha1.Implementation {
	return find(d.Manifest.Spec.Implementations, func(i *v1alpha1.Implementation) bool { return i.Name == name })
}

// imagesOf are the distinct digests of the images that ran as an implementation; one that is not known is "unknown" and its trial's
// own, so that it equals nothing.
func imagesOf(d *record.RunData, name string) []string {
	var out []string
	for _, t := range d.Trials {
		if t.Manifest.Implementation != name {
			continue
		}
		for _, p := range t.Manifest.Pods {
			if p.Role != record.RoleServer {
				continue
			}
			id := p.ImageID
			if id == "" {
				id = "unknown in trial " + t.Manifest.Trial
			}
			out = append(out, id)
		}
	}
	return distinct(out)
}

// welch compares the means of two samples of logs whose spreads may differ: the ratio of now over then, with the interval of Welch
// and Satterthwaite.
func welch(now, then []float64) figure {
	f := unknown(FewBlocks, "")
	f.n, f.earlierN = len(now), len(then)
	if f.n == 0 || f.earlierN == 0 {
		return f
	}
	m1, s1 := moments(now)
	m2, s2 := moments(then)
	f.value = math.Exp(m1 - m2)
	if f.n < minPairs || f.earlierN < minPairs {
		return f
	}
	n1, n2 := float64(f.n), float64(f.earlierN)
	v1, v2 := s1*s1/n1, s2*s2/n2
	half := 0.0
	if v := v1 + v2; v > 0 {
		freedom := v * v / (v1*v1/(n1-1) + v2*v2/(n2-1))
		half = tQuantile(1-Alpha/2, freedom) * math.Sqrt(v)
	}
	f.low, f.high, f.why = math.Exp(m1-m2-half), math.Exp(m1-m2+half), ""
	return f
}

package objectives_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// twoDays are two runs of go-slow and its anchor go. The first machine was slower by a fifth; go-slow's cost has
// since changed by a factor.
func twoDays(factor float64) (now, then record.RunData) {
	o := recordtest.Duel(10)
	o.Levels, o.Servers, o.Seconds, o.Noise = []int32{100}, o.Servers[:2], 1, 0.01
	old := o
	old.Seed, old.Servers = 8, append([]recordtest.Server{}, o.Servers...)
	for i := range old.Servers {
		old.Servers[i].CPUMicros *= 1.2
	}
	o.Servers = append([]recordtest.Server{}, o.Servers...)
	o.Servers[1].CPUMicros *= factor
	now, then = recordtest.Run(o), recordtest.Run(old)
	now.Manifest.Plan.Objectives = []record.Objective{{
		Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedServerCPUPerRequest, Max: "1.05",
		Against: &record.Reference{Runs: []v1alpha1.PastRun{{UID: "default/duel-2f1c7d0a"}}, Anchor: "go"},
	}}
	return now, then
}

// earlier makes a run compare with another so many times, since fewer than three decide nothing.
func earlier(now *record.RunData, then record.RunData, times int) {
	now.Earlier = map[string]record.EarlierRun{}
	runs := &now.Manifest.Plan.Objectives[0].Against.Runs
	*runs = nil
	for i := range times {
		uid := fmt.Sprintf("default/earlier-%d", i)
		*runs, now.Earlier[uid] = append(*runs, v1alpha1.PastRun{UID: uid}), record.EarlierRun{Data: &then}
	}
}

func TestARegressionIsSeenThroughItsAnchor(t *testing.T) {
	for name, tc := range map[string]struct {
		factor float64
		want   objectives.Outcome
		reason objectives.Reason
	}{
		"nothing changed but the machine": {1, objectives.Met, ""},
		"it costs a fifth more":           {1.2, objectives.Missed, ""},
		"it costs a fifth less":           {0.8, objectives.Met, ""},
		"it costs what the bound allows":  {1.05, objectives.Undecided, objectives.IntervalStraddles},
	} {
		t.Run(name, func(t *testing.T) {
			now, then := twoDays(tc.factor)
			earlier(&now, then, 3)
			got := analysed(t, now).Objectives
			if len(got) != 1 || got[0].Outcome != tc.want || got[0].Reason != tc.reason || got[0].N != 10 || got[0].EarlierN != 30 {
				t.Fatalf("got %+v, want %s %s", got, tc.want, tc.reason)
			}
			earlier(&now, then, 2)
			if few := analysed(t, now).Objectives[0]; few.Outcome != objectives.Undecided || few.Reason != objectives.TooFewEarlierRuns || few.Value == nil {
				t.Errorf("with two earlier runs: %+v, want a value that decides nothing", few)
			}
			if *got[0].Low > tc.factor || *got[0].High < tc.factor || math.Abs(*got[0].Value/tc.factor-1) > 0.05 {
				t.Errorf("value %v from %v to %v, want %v", *got[0].Value, *got[0].Low, *got[0].High, tc.factor)
			}
		})
	}
}

func TestARegressionIsUndecidedWhereRunsCannotBeCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(now, then *record.RunData)
		reason objectives.Reason
		says   string
	}{
		"the earlier run is of another namespace": {func(_, then *record.RunData) { then.Manifest.Run.Namespace = "other" }, objectives.NoEarlierRun, "namespace other"},
		"the anchor has another image":            {func(_, then *record.RunData) { images(then, "go", "sha256:other") }, objectives.AnchorDiffers, "sha256:other"},
		"the anchor's digest was not recorded":    {func(_, then *record.RunData) { images(then, "go", "") }, objectives.AnchorDiffers, "unknown in trial"},
		"neither digest was recorded":             {func(now, then *record.RunData) { images(now, "go", ""); images(then, "go", "") }, objectives.AnchorDiffers, "unknown in trial"},
		"the anchor has another command":          {func(_, then *record.RunData) { then.Manifest.Plan.Implementations[0].Command = []string{"/go", "-x"} }, objectives.AnchorDiffers, "command of go"},
		"the anchor had more CPUs":                {func(_, then *record.RunData) { then.Manifest.Plan.Implementations[0].CPUs = 2 }, objectives.AnchorDiffers, "go had 2 CPUs and has 1"},
		"the anchor had other files": {func(now, then *record.RunData) {
			given := func(d *record.RunData, sha string) {
				own := &d.Manifest.Plan.Implementations[0]
				own.Container.Files = []record.FileMount{{Path: "/etc/app", From: record.Object{ConfigMap: "app"}}}
				d.Manifest.ConfigMaps = []record.ConfigMap{{Name: "app", SHA256: sha}}
			}
			given(now, "a")
			given(then, "b")
		}, objectives.AnchorDiffers, "ConfigMap app of go had SHA-256 b and has a"},
		"the earlier run lost its anchor":        {func(_, then *record.RunData) { then.Trials = only(then.Trials, "go-slow") }, objectives.NoAnchor, "the earlier run has not measured go"},
		"this run lost its anchor":               {func(now, _ *record.RunData) { now.Trials = only(now.Trials, "go-slow") }, objectives.NoAnchor, "this run has not measured go"},
		"the earlier run had no such level":      {func(_, then *record.RunData) { then.Manifest.Plan.Cells[0].Connections = 50 }, objectives.LoadDiffers, "no level sweep-100"},
		"the earlier run was a duet":             {func(_, then *record.RunData) { then.Manifest.Plan.Order = record.OrderSlicedDuet }, objectives.LoadDiffers, "spec.order was SlicedDuet and is Blocks"},
		"the earlier run asked for another path": {func(_, then *record.RunData) { then.Manifest.Plan.Cells[0].Request.Path = "/old" }, objectives.LoadDiffers, "path of load sweep was /old and is /"},
		"only this run sends a mix": {func(now, _ *record.RunData) {
			c := &now.Manifest.Plan.Cells[0]
			c.Mix = []record.MixedRequest{{Request: c.Request, Weight: 2}, {Request: record.Request{Path: "/next"}, Weight: 1}}
			c.Request = record.Request{}
		}, objectives.LoadDiffers, "request of load sweep was / and is 2 /, 1 /next"},
		"only this run compares answers":    {func(_, then *record.RunData) { then.Manifest.Plan.Cells[0].Request.Expect.AnyBody = true }, objectives.LoadDiffers, "expect.bodies of load sweep was Any and is Same"},
		"only the earlier run had a script": {func(_, then *record.RunData) { then.Manifest.Plan.Cells[0].Script = &record.Script{} }, objectives.LoadDiffers, "script of load sweep is set in one of the runs only"},
		"the earlier run had another script": {func(now, then *record.RunData) {
			now.Manifest.Scripts = []record.FrozenScript{{Load: "sweep", Artifact: record.Artifact{SHA256: "a"}}}
			then.Manifest.Scripts = []record.FrozenScript{{Load: "sweep", Artifact: record.Artifact{SHA256: "b"}}}
		}, objectives.LoadDiffers, "script of load sweep had SHA-256 b and has a"},
		"the earlier run sent another body": {func(now, then *record.RunData) {
			sent := func(d *record.RunData, sha string) {
				d.Manifest.Plan.Cells[0].Request.From = &record.BodySource{ConfigMap: "orders", Key: "one.json"}
				d.Manifest.Bodies = []record.FrozenBody{{From: "orders/one.json", Artifact: record.Artifact{SHA256: sha}}}
			}
			sent(now, "a")
			sent(then, "b")
		}, objectives.LoadDiffers, "bodyFrom of load sweep, orders/one.json, had SHA-256 b and has a"},
		"the earlier run sent another body, on one machine": {func(now, then *record.RunData) {
			for d, body := range map[*record.RunData]string{now: "{}", then: "[]"} {
				d.Manifest.Plan.Cells[0].Request.From, d.Manifest.Plan.Cells[0].Request.Body = &record.BodySource{ConfigMap: "orders", Key: "one.json"}, body
			}
		}, objectives.LoadDiffers, "bodyFrom of load sweep, orders/one.json, had SHA-256 4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945 and has 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		"the earlier run had no such implementation": {func(_, then *record.RunData) {
			then.Trials = only(then.Trials, "go")
			then.Manifest.Plan.Implementations = then.Manifest.Plan.Implementations[:1]
		}, objectives.LoadDiffers, "has not measured go-slow"},
		"two blocks now": {func(now, _ *record.RunData) { now.Manifest.Blocks, now.Trials = 2, now.Trials[:4] }, objectives.TooFewBlocks, ""},
		"it cannot be read, as it contradicts itself": {func(_, then *record.RunData) { then.Manifest.Run.UID = "another" }, objectives.NoEarlierRun, "belongs to run"},
	} {
		t.Run(name, func(t *testing.T) {
			now, then := twoDays(1)
			tc.change(&now, &then)
			now.Earlier = map[string]record.EarlierRun{"default/duel-2f1c7d0a": {Data: &then}}
			got := analysed(t, now).Objectives[0]
			if got.Outcome != objectives.Undecided || got.Reason != tc.reason || !strings.Contains(got.Detail, tc.says) {
				t.Errorf("%s %s %q, want %s that says %q", got.Outcome, got.Reason, got.Detail, tc.reason, tc.says)
			}
		})
	}
	now, _ := twoDays(1)
	now.Earlier = map[string]record.EarlierRun{"default/duel-2f1c7d0a": {Error: "no such object"}}
	if got := analysed(t, now).Objectives[0]; got.Reason != objectives.NoEarlierRun || got.Detail != "no such object" {
		t.Errorf("a run that was not found: %+v", got)
	}
}

func TestDigestsOfOtherKeysOfAConfigMapSayNothing(t *testing.T) {
	now, then := twoDays(1)
	for d, keys := range map[*record.RunData][]string{&now: {"port"}, &then: nil} {
		d.Manifest.Plan.Implementations[0].Container.Env = []record.Variable{{Name: "PORT", From: record.Object{ConfigMap: "app"}, Key: "port"}}
		d.Manifest.ConfigMaps = []record.ConfigMap{{Name: "app", Keys: keys, SHA256: strings.Join(keys, "")}}
	}
	earlier(&now, then, 3)
	if got := analysed(t, now).Objectives[0]; got.Outcome != objectives.Met {
		t.Errorf("%s %s %q", got.Outcome, got.Reason, got.Detail)
	}
}

func TestARegressionIsSeenFromOneDuetToAnother(t *testing.T) {
	now, then := turns(1.2), turns(1)
	now.Manifest.Plan.Objectives = []record.Objective{{
		Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedServerCPUPerRequest, Max: "1.05", Implementations: []string{"go2"},
		Against: &record.Reference{Runs: []v1alpha1.PastRun{{UID: "default/twins-2f1c7d0a"}}, Anchor: "go"},
	}}
	earlier(&now, then, 3)
	for _, got := range analysed(t, now).Objectives {
		if got.Outcome != objectives.Missed || got.N != 10 || got.EarlierN != 30 {
			t.Errorf("got %+v, want it missed", got)
		}
	}
}

func images(d *record.RunData, implementation, id string) {
	for i := range d.Trials {
		if d.Trials[i].Manifest.Servers[0] == implementation {
			d.Trials[i].Manifest.Pods[0].ImageID = id
		}
	}
}

func only(trials []record.TrialData, implementation string) []record.TrialData {
	var out []record.TrialData
	for _, t := range trials {
		if t.Manifest.Servers[0] == implementation {
			out = append(out, t)
		}
	}
	return out
}

// turns is a duet; the second server costs more CPU time.
func turns(more float64) record.RunData {
	return recordtest.Run(recordtest.Options{
		Name: "twins", Seed: 11, Blocks: 10, Levels: []int32{10, 100}, Seconds: 5, Noise: 0.004, Drift: 0.07, Duet: true,
		Servers: []recordtest.Server{{Name: "go", CPUMicros: 11.2, RSSBytes: 9 << 20}, {Name: "go2", CPUMicros: 11.2 * more, RSSBytes: 9 << 20}},
	})
}

// The larger of the two spreads, instead of their sum, saw a change in 2.4% of these runs.
func TestNoisierRunIsNoChange(t *testing.T) {
	const runs, earlier, blocks = 4000, 20, 10
	r, wrong := rand.New(rand.NewPCG(1, 2)), 0
	draw := func(noise float64) []float64 {
		logs, whole := make([]float64, blocks), 0.02*r.NormFloat64()
		for b := range logs {
			logs[b] = whole + noise*r.NormFloat64()
		}
		return logs
	}
	for range runs {
		var then [][]float64
		for range earlier {
			then = append(then, draw(0.02))
		}
		if _, low, high := objectives.Change(draw(0.06), then); low > 1 || high < 1 {
			wrong++
		}
	}
	if wrong > runs*15/1000 {
		t.Errorf("%d of %d runs of an unchanged server, three times as noisy as before, show a change", wrong, runs)
	}
}

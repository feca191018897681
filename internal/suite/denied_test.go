package suite

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// A round with one run is completed once the obstacle for the other is gone, whatever began it.
func TestInterruptedRoundIsCompleted(t *testing.T) {
	asked := annotate(v1alpha1.AnnotationRequestedAt, "now")
	called := func(w *world) { has("shop/checkout:1")(w); request("a", "shop/checkout:1")(w) }
	nothing := func(*world) {}
	denied := &Problem{v1alpha1.ReasonRunDenied, "exceeded quota: runs"}
	gone := away(v1alpha1.ReasonRegistryUnavailable, "shop answers 503")
	back := func(w *world) { has("shop/checkout:1")(w); push("sha256:aa")(w) }
	for name, tc := range map[string]struct {
		begins, hinders, mends func(*world)
		refuse                 *Problem
	}{
		"a round by hand is denied":                    {asked, nothing, nothing, denied},
		"a round by schedule is denied":                {after(13*time.Hour + 45*time.Minute), nothing, nothing, denied},
		"a round of the webhook is denied":             {called, nothing, nothing, denied},
		"the registry is away from a round by hand":    {asked, gone, back, nil},
		"the registry is away from that of a webhook":  {called, gone, back, nil},
		"a round by hand is suspended":                 {asked, commit(suspend), commit(resume), nil},
		"a round of the webhook is suspended":          {called, commit(suspend), commit(resume), nil},
		"a denied round of the webhook is suspended":   {called, commit(suspend), commit(resume), denied},
		"the registry is away from a round it has not": {called, away(v1alpha1.ReasonImageNotFound, "shop has none"), back, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, commit(hooked), func(w *world) {
				w.suite.Spec.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "0 2 * * *", StartingDeadlineSeconds: 3600}}
			})
			w.step("the suite is applied")
			w.step("its round passes", ends(well, well))
			tc.begins(w)
			w.apply(Decide(w.facts()), 1) // The second run is denied, or the operator dies.
			if len(w.runs) != 3 {
				t.Fatalf("%d runs are there, want 3", len(w.runs))
			}
			tc.hinders(w)
			ends(well)(w)
			for range 2 {
				f := w.facts()
				if tc.refuse != nil {
					f.Refuse(w.runs[2], tc.refuse)
				}
				d := Decide(f)
				if d.Status.Current.Round != 2 || len(d.Create) > 0 || len(d.Status.History) != 1 {
					t.Errorf("while it is held up, in progress is %+v, %d runs are created, the history is %+v", d.Status.Current, len(d.Create), d.Status.History)
				}
				w.apply(d, always)
			}
			tc.mends(w)
			w.step("nothing holds it up")
			w.step("the other run passes", ends(well))
			if l := w.suite.Status.LastRound; l.Round != 2 || l.Outcome != v1alpha1.RoundPassed || len(w.runs) != 4 {
				t.Errorf("the last round is %+v, of %d runs", l, len(w.runs))
			}
		})
	}
}

// An image may be gone for good, so a round that waits for it blocks no other.
func TestRoundWaitingForImageYields(t *testing.T) {
	w := newWorld(t, commit(hooked))
	w.step("the suite is applied")
	w.step("its round passes", ends(well, well))
	has("shop/checkout:1")(w)
	request("a", "shop/checkout:1")(w)
	w.apply(Decide(w.facts()), 1)
	delete(w.digests, "shop/checkout:1")
	w.step("its first run passes, and the image of the second is gone", ends(well))
	w.step("a round is asked for", annotate(v1alpha1.AnnotationRequestedAt, "now"))
	if s := w.suite.Status; s.Current.Round != 3 || s.LastRound.Outcome != v1alpha1.RoundIncomplete {
		t.Errorf("in progress is %+v, the last round %+v", s.Current, s.LastRound)
	}
}

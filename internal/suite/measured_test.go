package suite

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestWhatHasBeenMeasuredIsKnownByItsRunsAndByTheStatus(t *testing.T) {
	w := newWorld(t)
	w.step("the suite is applied")
	w.step("the round passes", ends(well, well))
	w.step("another spec is committed", commit(faster))
	w.step("its round ends badly, and one of its runs leaves nothing", ends(missed, func(r *v1alpha1.BenchmarkRun) { broken(r); r.Status.Report = v1alpha1.ReportRef{} }))
	w.step("a third is committed", commit(asBefore), push("sha256:bb"))
	var first, second []v1alpha1.BenchmarkRun
	for _, r := range w.runs {
		switch r.Labels[v1alpha1.LabelRound] {
		case "1":
			first = append(first, r)
		case "2":
			second = append(second, r)
		}
	}
	page := func(r v1alpha1.BenchmarkRun) string { return lies(&r) + "/reports/0123456789ab/report.html" }
	want := []Measured{
		{1, "large", lies(&first[1]), page(first[1]), manifestOf(&first[1])},
		{1, "small", lies(&first[0]), page(first[0]), manifestOf(&first[0])},
		{2, "large", "", "", ""},
		{2, "small", lies(&second[0]), page(second[0]), manifestOf(&second[0])},
	}
	if diff := cmp.Diff(want, MeasuredBy(w.suite, w.runs)); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
	// The first round's runs are gone, but the status knows where a good round's reports are.
	w.runs = slices.DeleteFunc(w.runs, func(r v1alpha1.BenchmarkRun) bool { return r.Labels[v1alpha1.LabelRound] == "1" })
	if diff := cmp.Diff(want, MeasuredBy(w.suite, w.runs)); diff != "" {
		t.Errorf("measured when the first round is gone (-want +got):\n%s", diff)
	}
}

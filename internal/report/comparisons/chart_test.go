package comparisons

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func shown(all ...analysis.Case) cases {
	return cases{view.New(analysis.Table{
		Rules:           analysis.Rules{Confidence: 0.99, MinBlocks: 7},
		Implementations: []planned.Implementation{{Name: "old", Baseline: true, CPUs: 1}, {Name: "new", CPUs: 1}}, Cases: all,
	}, phrase.English)}
}

func timed(implementation, name string, mean float64) analysis.Case {
	c := analysis.Case{
		Implementation: implementation, Case: name, Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Processes: 7, Repetitions: 3,
		Summary: &inference.Summary{N: 7, Mean: mean, Min: mean * 0.9, Max: mean * 1.1, Low: ptr(mean * 0.95), High: ptr(mean * 1.05)},
	}
	for _, part := range strings.Split(name, "/")[1:] {
		if at := strings.IndexAny(part, ":="); at > 0 {
			c.Axes = append(c.Axes, record.Axis{Name: part[:at], Value: part[at+1:]})
		}
	}
	return c
}

func in(metric string, c analysis.Case) analysis.Case {
	c.Metric = metric
	return c
}

func TestCasesThatDifferInOneNumberAreAFamily(t *testing.T) {
	type family struct {
		Name, Axis string
		Places     []string
		Cases      int
	}
	for name, tc := range map[string]struct {
		cases []analysis.Case
		want  []family
	}{
		"numbers are in the order of numbers": {
			[]analysis.Case{timed("old", "parse/size:16", 1), timed("old", "parse/size:256", 1), timed("old", "parse/size:4", 1), timed("old", "parse/size:0.5", 1)},
			[]family{{"parse/size:*", "size", []string{"0.5", "4", "16", "256"}, 4}},
		},
		"both sides are in one family": {
			[]analysis.Case{timed("old", "copy/n=8", 1), timed("old", "copy/n=64", 1), timed("new", "copy/n=8", 1), timed("new", "copy/n=64", 1)},
			[]family{{"copy/n=*", "n", []string{"8", "64"}, 4}},
		},
		"a place that one side alone has": {
			[]analysis.Case{timed("old", "copy/n=8", 1), timed("new", "copy/n=64", 1)}, []family{{"copy/n=*", "n", []string{"8", "64"}, 2}},
		},
		"each of two axes, where the other agrees": {
			[]analysis.Case{timed("old", "f/a:1/b:1", 1), timed("old", "f/a:2/b:1", 1), timed("old", "f/a:2/b:9", 1)},
			[]family{{"f/a:*/b:1", "a", []string{"1", "2"}, 2}, {"f/a:2/b:*", "b", []string{"1", "9"}, 2}},
		},
		"two axes of the same value": {
			[]analysis.Case{timed("old", "f/a:1/b:1", 1), timed("old", "f/a:2/b:1", 1)}, []family{{"f/a:*/b:1", "a", []string{"1", "2"}, 2}},
		},
		"a number alone":           {[]analysis.Case{timed("old", "copy/n=8", 1), timed("new", "copy/n=8", 1)}, nil},
		"words":                    {[]analysis.Case{timed("old", "copy/as:bytes", 1), timed("old", "copy/as:words", 1)}, nil},
		"what is no finite number": {[]analysis.Case{timed("old", "f/a:NaN", 1), timed("old", "f/a:Inf", 1), timed("old", "f/a:1", 1)}, nil},
		"cases of other names":     {[]analysis.Case{timed("old", "f/a:1", 1), timed("old", "g/a:2", 1)}, nil},
		"the first metric of each case alone": {
			[]analysis.Case{timed("old", "f/a:1", 1), in("CPU time", timed("old", "f/a:1", 1)), timed("old", "f/a:2", 1), in("CPU time", timed("old", "f/a:2", 1))},
			[]family{{"f/a:*", "a", []string{"1", "2"}, 2}},
		},
		"cases whose first metrics differ": {[]analysis.Case{timed("old", "f/a:1", 1), in("Rate", timed("old", "f/a:2", 1))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []family
			for _, c := range shown(tc.cases...).curves() {
				got = append(got, family{c.name, c.axis, c.places, len(c.cases)})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// marks returns those whose class begins with a word.
func marks(of chart.Chart, word string) []chart.Mark {
	return slices.DeleteFunc(slices.Clone(of.Plot), func(m chart.Mark) bool { return m.Class != word && !strings.HasPrefix(m.Class, word+" ") })
}

func drawn(t *testing.T, all ...analysis.Case) chart.Chart {
	t.Helper()
	charts := shown(all...).charts()
	if len(charts) != 1 {
		t.Fatalf("%d charts", len(charts))
	}
	return charts[0]
}

func TestAGapBreaksTheLineOfAFamily(t *testing.T) {
	gap := timed("new", "f/n:4", 20)
	gap.Summary = nil
	got := drawn(t,
		timed("old", "f/n:1", 10), timed("old", "f/n:2", 10), timed("old", "f/n:4", 10), timed("old", "f/n:8", 10),
		timed("new", "f/n:1", 20), timed("new", "f/n:2", 20), gap, timed("new", "f/n:8", 20),
	)
	lines := map[string]int{}
	for _, m := range marks(got, "path") {
		lines[m.Class]++
	}
	if diff := cmp.Diff(map[string]int{"path c0": 3, "path c1": 1}, lines); diff != "" {
		t.Errorf("lines from mean to mean (-want +got):\n%s", diff)
	}
	if n := len(marks(got, "dotted")); n != 7 {
		t.Errorf("%d points", n)
	}
	if n := len(marks(got, "mean")); n != 7 {
		t.Errorf("%d intervals", n)
	}
}

func TestTheAxisOfAFamilyIsNamed(t *testing.T) {
	got := drawn(t, timed("old", "f/n:16", 10), timed("old", "f/n:2", 12))
	var places []string
	for _, m := range marks(got, "tick") {
		places = append(places, m.Text)
	}
	if diff := cmp.Diff([]string{"2", "16", "n"}, places); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Title != "f/n:*" || got.Unit != "Time, ns" || got.Name != "Time of f/n:*" {
		t.Errorf("it is named %q, %q, %q", got.Title, got.Unit, got.Name)
	}
	points := marks(got, "dotted")
	if len(points) != 2 || points[0].X != "25.00%" || points[1].X != "75.00%" {
		t.Fatalf("the points are %+v", points)
	}
	if want := "old, f/n:2: 12.0 ns ("; !strings.HasPrefix(points[0].Title, want) || points[0].Kind != "circle" {
		t.Errorf("the first point is %+v, want %s", points[0], want)
	}
}

func height(t *testing.T, m chart.Mark) float64 {
	t.Helper()
	y, err := strconv.ParseFloat(m.Y, 64)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func TestAnIntervalThatReachesFarDoesNotFlattenTheRest(t *testing.T) {
	far := timed("old", "f/n:2", 10)
	far.Summary.High = ptr(1e6)
	got := drawn(t, timed("old", "f/n:1", 5), far)
	points := marks(got, "dotted")
	if low, high := height(t, points[0]), height(t, points[1]); high > (chart.Top+chart.Bottom)/2 || low <= high {
		t.Errorf("means of 5 and 10 lie at %g and %g", low, high)
	}
	for _, m := range marks(got, "mean") {
		for _, y := range []string{m.Y, m.Y2} {
			if at, err := strconv.ParseFloat(y, 64); err != nil || at < chart.Top || at > chart.Bottom {
				t.Errorf("an interval ends at %s, outside the picture", y)
			}
		}
	}
}

func TestAFamilyOfZerosIsDrawn(t *testing.T) {
	zero := func(name string) analysis.Case {
		c := timed("old", name, 0)
		c.Summary = &inference.Summary{N: 7}
		return c
	}
	got := drawn(t, zero("f/n:1"), zero("f/n:2"))
	for _, m := range marks(got, "dotted") {
		if height(t, m) != chart.Bottom {
			t.Errorf("0 lies at %s", m.Y)
		}
	}
	if n := len(marks(got, "mean")); n != 0 {
		t.Errorf("%d intervals of values that have none", n)
	}
}

func TestManyPlacesMakeAFamilyWide(t *testing.T) {
	var all []analysis.Case
	for n := range 12 {
		all = append(all, timed("old", "f/n:"+strconv.Itoa(n), 1))
	}
	if few, many := drawn(t, all[:2]...), drawn(t, all...); few.Wide() || !many.Wide() {
		t.Errorf("two places take %d pixels, twelve %d", few.MinWidth, many.MinWidth)
	}
}

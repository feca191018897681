package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASpanMapsValuesToPlaces(t *testing.T) {
	upwards := Span{Low: 0, High: 10, From: 200, To: 0}
	ratios := Span{Low: 0.1, High: 10, From: 0, To: 100, Log: true}
	for name, tc := range map[string]struct{ got, want float64 }{
		"the low end":             {upwards.At(0), 200},
		"the high end":            {upwards.At(10), 0},
		"the middle":              {upwards.At(5), 100},
		"the middle of ratios":    {ratios.At(1), 50},
		"a quarter of ratios":     {ratios.At(math.Sqrt(0.1)), 25},
		"below is clipped":        {upwards.Clip(-1), 0},
		"above is clipped":        {upwards.Clip(11), 10},
		"inside stays":            {upwards.Clip(7), 7},
		"moved down":              {upwards.Moved(30).At(10), 30},
		"moved by nothing at all": {upwards.Moved(0).At(10), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if math.Abs(tc.got-tc.want) > 1e-9 {
				t.Errorf("got %v, want %v", tc.got, tc.want)
			}
		})
	}
	if !upwards.Holds(0) || !upwards.Holds(10) || upwards.Holds(10.1) || upwards.Holds(-0.1) {
		t.Error("a span does not hold its ends, or holds what lies beyond")
	}
}

func TestAGridHasALineAndALabelForEachTick(t *testing.T) {
	var c Chart
	c.Grid(Span{Low: 0, High: 2, From: 100, To: 0}, []float64{0, 2}, func(v float64) string { return fmt.Sprintf("%g!", v) })
	want := Chart{
		Plot: []Mark{Line("0%", "100.0", "100%", "100.0", "grid"), Line("0%", "0.0", "100%", "0.0", "grid")},
		Axis: []Mark{Text("100%", "104.0", "end", "tick", "0!"), Text("100%", "4.0", "end", "tick", "2!")},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("chart (-want +got):\n%s", diff)
	}
}

func TestImplementationsCanBeToldApart(t *testing.T) {
	seen := map[Look]bool{}
	for i := range colours {
		seen[LookOf(i, false)] = true
	}
	if len(seen) != colours || seen[LookOf(0, true)] || LookOf(0, true).Class != ReferenceClass {
		t.Errorf("%d implementations have the looks %v", colours, seen)
	}
	if LookOf(colours, false) != LookOf(0, false) {
		t.Errorf("there are more looks than colours in the style sheet: %v", LookOf(colours, false))
	}
}

func TestLabelsStayInsideThePicture(t *testing.T) {
	for x, want := range map[float64]string{0: "start", 4.9: "start", 5: "middle", 95: "middle", 96: "end"} {
		if got := AnchorAt(x); got != want {
			t.Errorf("at %v: %s, want %s", x, got, want)
		}
	}
}

func TestEveryKindOfMarkIsPrinted(t *testing.T) {
	templates := template.Must(template.New("").Parse(Templates))
	for name, tc := range map[string]struct {
		mark Mark
		want string
	}{
		"a line":            {Line("1%", "2", "3%", "4", "grid"), `<line x1="1%" y1="2" x2="3%" y2="4" class="grid"/>`},
		"a band":            {Mark{Kind: "band", X: "1%", Y: "2", W: "3%", H: "4", Class: "b"}, `<rect x="1%" y="2" width="3%" height="4" class="b"/>`},
		"words":             {Text("1%", "2", "end", "t", "<a>"), `<text x="1%" y="2" text-anchor="end" class="t">&lt;a&gt;</text>`},
		"a curve":           {Mark{Kind: "curve", Points: "1,2 3,4", Class: "c"}, `<polyline points="1,2 3,4" class="c"/>`},
		"an area":           {Mark{Kind: "area", Points: "1,2 3,4", Class: "c"}, `<polygon points="1,2 3,4" class="c"/>`},
		"a shape":           {Mark{Kind: "circle", X: "1%", Y: "2", Class: "p"}, `<svg x="1%" y="2" class="at p"><circle r="3.4"/></svg>`},
		"a shape with text": {Mark{Kind: "cross", Title: "<b>"}, `<title>&lt;b&gt;</title><path`},
		"any other is a dot": {
			Mark{Kind: "dot"}, `<circle r="2.2"/>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := templates.ExecuteTemplate(&out, "marks", []Mark{tc.mark}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tc.want) {
				t.Errorf("no %s in %s", tc.want, out.String())
			}
		})
	}
}

func TestAChartOfManyLevelsIsWide(t *testing.T) {
	if (Chart{MinWidth: halfWidth}).Wide() || !(Chart{MinWidth: halfWidth + 1}).Wide() {
		t.Error("a chart takes the whole width that fits beside another, or the other way round")
	}
}

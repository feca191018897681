package comparisons

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/chart"
	"loadstone.dev/loadstone/internal/report/format"
)

const (
	placeWidth   = 56
	fewestPlaces = 2
)

// curve is a family of cases that differ in one number.
type curve struct {
	// name is their common part, axis the name of the number, metric the drawn one.
	name, axis, metric, unit string
	places                   []string
	cases                    []analysis.Case
}

func (v cases) charts() []chart.Chart {
	var out []chart.Chart
	for _, c := range v.curves() {
		out = append(out, v.chart(c))
	}
	return out
}

// curves finds the families: for each axis, the cases whose other axes agree.
func (v cases) curves() []curve {
	var all []curve
	first := map[string]string{}
	for _, c := range v.Table.Cases {
		if first[c.Case] == "" {
			first[c.Case] = c.Metric
		}
		if c.Metric != first[c.Case] {
			continue
		}
		for _, axis := range c.Axes {
			if at, err := strconv.ParseFloat(axis.Value, 64); err != nil || math.IsNaN(at) || math.IsInf(at, 0) {
				continue
			}
			all = join(all, c, axis)
		}
	}
	all = slices.DeleteFunc(all, func(c curve) bool { return len(c.places) < fewestPlaces })
	for k := range all {
		slices.SortFunc(all[k].places, func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64) // All of them were read before.
			y, _ := strconv.ParseFloat(b, 64)
			return cmp.Compare(x, y)
		})
	}
	return all
}

func join(all []curve, c analysis.Case, axis record.Axis) []curve {
	parts := strings.Split(c.Case, "/")
	for k, part := range parts {
		if part == axis.Name+":"+axis.Value || part == axis.Name+"="+axis.Value {
			parts[k] = strings.TrimSuffix(part, axis.Value) + "*"
		}
	}
	name := strings.Join(parts, "/")
	k := slices.IndexFunc(all, func(own curve) bool { return own.name == name && own.metric == c.Metric })
	if k < 0 {
		k, all = len(all), append(all, curve{name: name, axis: axis.Name, metric: c.Metric, unit: c.Unit})
	}
	if !slices.Contains(all[k].places, axis.Value) {
		all[k].places = append(all[k].places, axis.Value)
	}
	all[k].cases = append(all[k].cases, c)
	return all
}

func (c curve) at(implementation, place string) *analysis.Case {
	i := slices.IndexFunc(c.cases, func(own analysis.Case) bool {
		return own.Implementation == implementation && own.Summary != nil && slices.Contains(own.Axes, record.Axis{Name: c.axis, Value: place})
	})
	if i < 0 {
		return nil
	}
	return &c.cases[i]
}

func (v cases) chart(c curve) chart.Chart {
	out := chart.Chart{
		Title: c.name, Unit: v.Say("values.unit", c.metric, c.unit), Height: chart.Height, MinWidth: len(c.places) * placeWidth,
		Name: v.Say("values.name", c.metric, c.name),
	}
	largest := 0.0
	for _, own := range c.cases {
		if own.Summary != nil {
			largest = max(largest, own.Summary.Max)
			if own.Summary.High != nil && *own.Summary.High < 2*own.Summary.Max {
				largest = max(largest, *own.Summary.High)
			}
		}
	}
	ticks := chart.NiceTicks(largest)
	y := chart.Span{Low: 0, High: ticks[len(ticks)-1], From: chart.Bottom, To: chart.Top}
	out.Grid(y, ticks, format.TickNumber)
	for k, place := range c.places {
		out.Plot = append(out.Plot, chart.Text(middle(k, len(c.places)), chart.Pixels(chart.Bottom+17), "middle", "tick", place))
	}
	out.Plot = append(out.Plot, chart.Text("50%", chart.Pixels(chart.Height-5), "middle", "tick faint", c.axis))
	for _, i := range v.Table.Implementations {
		out.Plot = append(out.Plot, v.line(c, y, i.Name)...)
	}
	return out
}

func middle(k, of int) string { return chart.Percentage((float64(k) + 0.5) * 100 / float64(of)) }

func (v cases) line(c curve, y chart.Span, implementation string) []chart.Mark {
	var out []chart.Mark
	look := v.Looks[implementation]
	lastX, lastY := "", ""
	for k, place := range c.places {
		own := c.at(implementation, place)
		if own == nil {
			lastX = ""
			continue
		}
		s, x := own.Summary, middle(k, len(c.places))
		at := chart.Pixels(y.At(y.Clip(s.Mean)))
		if lastX != "" {
			out = append(out, chart.Line(lastX, lastY, x, at, "path "+look.Class))
		}
		lastX, lastY = x, at
		if s.Low != nil && s.High != nil {
			out = append(out, chart.Line(x, chart.Pixels(y.At(y.Clip(*s.Low))), x, chart.Pixels(y.At(y.Clip(*s.High))), "mean "+look.Class))
		}
		out = append(out, chart.Mark{
			Kind: look.Shape, X: x, Y: at, Class: "dotted point " + look.Class,
			Title: v.Say("values.point", implementation, own.Case, format.Digits(s.Mean), c.unit, v.Limits(s.Low, s.High, format.Digits)),
		})
	}
	return out
}

package callgrind

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
)

const (
	row        = 18
	box        = row - 1
	labelShare = 0.015
	colours    = 8
)

//go:embed svg.gohtml
var source string

var picture = template.Must(template.New("flame").Parse(source))

// drawing is the template's input. Horizontal positions are percentages, so that the picture scales without its text; vertical ones are
// pixels.
type drawing struct {
	Title  string
	Height int
	Box    int
	Boxes  []placed
}

type placed struct {
	X, W, Class, Label, Title string
	Y                         int
}

// SVG draws the graph: the program at the bottom, callees above callers, the most costly left. Colors distinguish the program's objects.
func (g Graph) SVG(w io.Writer, title string) error {
	d := drawing{Title: title, Box: box}
	classes := classes(g.Root)
	depth := deepest(g.Root)
	d.Height = depth * row
	g.place(&d, classes, g.Root, 0, depth-1)
	if err := picture.Execute(w, d); err != nil {
		return fmt.Errorf("drawing a flame graph: %w", err)
	}
	return nil
}

func (g Graph) place(d *drawing, classes map[string]string, f Frame, from int64, level int) {
	whole := float64(max(g.Root.Cost, 1))
	share := float64(f.Cost) / whole
	b := placed{X: percentage(float64(from) / whole), W: percentage(share), Y: level * row, Class: classes[f.Object]}
	b.Title = fmt.Sprintf("%s: %s %s, %s; %s of its own", f.Name, grouped(f.Cost), g.Unit, percentage(share), percentage(float64(f.Self())/whole))
	if f.Object != "" {
		b.Title += " (" + f.Object + ")"
	}
	if share >= labelShare {
		b.Label = f.Name
	}
	d.Boxes = append(d.Boxes, b)
	for _, c := range f.Callees {
		g.place(d, classes, c, from, level-1)
		from += c.Cost
	}
}

func classes(root Frame) map[string]string {
	cost := map[string]int64{}
	var walk func(Frame)
	walk = func(f Frame) {
		cost[f.Object] += f.Self()
		for _, c := range f.Callees {
			walk(c)
		}
	}
	walk(root)
	delete(cost, "")
	var objects []string
	for o := range cost {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, func(a, b string) int { return cmp.Or(cmp.Compare(cost[b], cost[a]), cmp.Compare(a, b)) })
	out := map[string]string{"": "none"}
	for i, o := range objects {
		out[o] = "o" + strconv.Itoa(i%colours)
	}
	return out
}

func deepest(f Frame) int {
	most := 0
	for _, c := range f.Callees {
		most = max(most, deepest(c))
	}
	return most + 1
}

func percentage(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }

func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

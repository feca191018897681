package callgrind

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

const (
	// MaxFunctions bounds functions, and names of objects and files.
	MaxFunctions = 200_000
	// MaxCalls bounds call graph edges, and lines.
	MaxCalls = 1_000_000
	// MaxEvents bounds events: callgrind has 14 at most.
	MaxEvents = 32
	maxText   = 4096
	quoted    = 60
)

// Parse parses a file of callgrind, or of cachegrind, which has no calls. If it ends early, the part read is returned with the error, without
// a total.
func Parse(r io.Reader) (Profile, error) {
	p := newParser(lines.NewReader(r))
	err := p.read()
	p.profile.share()
	if err != nil {
		return p.profile, fmt.Errorf("reading callgrind's profile: %w", err)
	}
	return p.profile, nil
}

type parser struct {
	lines   *lines.Reader
	profile Profile
	objects names
	files   names
	titles  names
	// object, file and current locate the next cost; file changes for inlined code.
	object, file string
	current      int
	// calledObject, calledFile and called are the next call's target. The first two are empty if they are the caller's.
	calledObject, calledFile, called string
	positions                        []int64
	line                             int
	functions                        map[key]int
	calls                            map[[2]int]int
	costs                            map[place]int
	totals                           bool
}

type key struct{ object, file, name string }

type place struct {
	function int
	file     string
	line     int
}

func newParser(r *lines.Reader) *parser {
	return &parser{
		lines: r, current: -1, positions: make([]int64, 1), functions: map[key]int{}, calls: map[[2]int]int{}, costs: map[place]int{},
		objects: names{}, files: names{}, titles: names{},
	}
}

func (p *parser) read() error {
	for p.lines.Next() {
		if err := p.entry(p.lines.Line()); err != nil {
			return err
		}
	}
	switch {
	case p.lines.Err() != nil:
		return p.lines.Err()
	case p.lines.Empty():
		return lines.ErrEmpty
	case len(p.profile.Events) == 0:
		return fmt.Errorf("%w: it names no events", lines.ErrForeign)
	case !p.totals:
		return fmt.Errorf("%w: the totals are missing", lines.ErrCut)
	}
	return p.check()
}

func (p *parser) check() error {
	for event, name := range p.profile.Events {
		var sum int64
		for _, f := range p.profile.Functions {
			sum = lines.Sum(sum, f.Self.At(event))
		}
		if total := p.profile.Total.At(event); sum != total {
			return fmt.Errorf("%w: its functions have %d %s, and its total is %d", lines.ErrForeign, sum, printed.Clip(name, quoted), total)
		}
	}
	return nil
}

// entry reads "key: value", "key=value", or costs.
func (p *parser) entry(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	if line[0] >= 'a' && line[0] <= 'z' {
		if at := strings.IndexAny(line, ":="); at > 0 && line[at] == ':' {
			return p.header(line[:at], strings.TrimSpace(line[at+1:]))
		} else if at > 0 {
			return p.specification(line[:at], line[at+1:])
		}
		return p.lines.Wrong("a header, a name or costs")
	}
	return p.cost(line)
}

func (p *parser) header(name, value string) error {
	switch name {
	case "cmd":
		p.profile.Command = printed.Clip(value, maxText)
	case "positions":
		p.positions = make([]int64, len(strings.Fields(value)))
		p.line = slices.Index(strings.Fields(value), "line")
		if p.line < 0 || len(p.positions) > 2 {
			return p.lines.Wrong("positions by line")
		}
	case "events":
		events := strings.Fields(value)
		if len(events) > MaxEvents || p.profile.Events != nil && !slices.Equal(events, p.profile.Events) {
			return p.lines.Wrong("one list of events")
		}
		p.profile.Events = events
	case "summary":
		// Callgrind writes a summary before the costs; cachegrind's follows them and holds the totals.
		if p.current < 0 {
			return nil
		}
		return p.header("totals", value)
	case "totals":
		total, err := p.counts(strings.Fields(value))
		if err != nil {
			return err
		}
		p.totals = true
		add(&p.profile.Total, total)
	}
	return nil
}

func (p *parser) specification(name, value string) error {
	var err error
	switch name {
	case "ob":
		p.object, err = p.objects.read(value)
	case "fl", "fi", "fe":
		p.file, err = p.files.read(value)
	case "cob":
		p.calledObject, err = p.objects.read(value)
	case "cfl", "cfi":
		p.calledFile, err = p.files.read(value)
	case "fn":
		var title string
		if title, err = p.titles.read(value); err == nil {
			p.current, err = p.function(key{p.object, p.file, level(title)})
		}
	case "cfn":
		p.called, err = p.titles.read(value)
		p.called = level(p.called)
	case "calls":
		return p.call(value)
	case "jump", "jcnd":
		// The next line is a jump's origin, without costs.
		p.lines.Next()
	}
	if err != nil {
		return fmt.Errorf("%w (%w)", p.lines.Wrong("a name"), err)
	}
	return nil
}

// level removes callgrind's mark of recursion depth: "f'2" becomes f.
func level(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if without, found := strings.CutSuffix(base, "'"); found && len(base) < len(name) && without != "" {
		return without
	}
	return name
}

func (p *parser) function(k key) (int, error) {
	if i, known := p.functions[k]; known {
		return i, nil
	}
	if len(p.functions) == MaxFunctions {
		return -1, fmt.Errorf("%w: more than %d functions", lines.ErrLarge, MaxFunctions)
	}
	i := len(p.profile.Functions)
	p.functions[k] = i
	p.profile.Functions = append(p.profile.Functions, Function{Name: k.name, File: known(k.file), Object: known(k.object)})
	return i, nil
}

// known returns a name; empty if callgrind knows none.
func known(name string) string {
	if name == "???" {
		return ""
	}
	return name
}

type names map[string]string

// read reads "(NUMBER) NAME", "(NUMBER)", or a name.
func (n names) read(value string) (string, error) {
	if !strings.HasPrefix(value, "(") {
		return printed.Clip(value, maxText), nil
	}
	number, name, found := strings.Cut(value, ")")
	if !found || strings.Trim(number[1:], "0123456789") != "" {
		// Such as "(below main)", without a number.
		return printed.Clip(value, maxText), nil
	}
	if name = strings.TrimPrefix(name, " "); name == "" {
		known, found := n[number]
		if !found {
			return "", fmt.Errorf("%w: the number stands for no name", lines.ErrForeign)
		}
		return known, nil
	}
	if len(n) == MaxFunctions {
		return "", fmt.Errorf("%w: more than %d names", lines.ErrLarge, MaxFunctions)
	}
	n[number] = printed.Clip(name, maxText)
	return n[number], nil
}

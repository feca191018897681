package callgrind

import (
	"fmt"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/profiler/lines"
)

const maxCount = 1 << 60

func (p *parser) cost(line string) error {
	cost, err := p.counted(line)
	if err != nil {
		return err
	}
	if p.current < 0 {
		return p.lines.Wrong("the name of a function before its costs")
	}
	add(&p.profile.Functions[p.current].Self, cost)
	at := place{p.current, p.file, max(int(p.positions[p.line]), 0)}
	i, known := p.costs[at]
	if !known {
		if len(p.profile.Lines) == MaxCalls {
			return fmt.Errorf("%w: more than %d lines", lines.ErrLarge, MaxCalls)
		}
		i = len(p.profile.Lines)
		p.costs[at] = i
		p.profile.Lines = append(p.profile.Lines, newLine(at))
	}
	add(&p.profile.Lines[i].Self, cost)
	return nil
}

func newLine(at place) Line { return Line{Function: at.function, File: known(at.file), Line: at.line} }

// call reads "COUNT TARGET", and the next line with these calls' inclusive cost.
func (p *parser) call(value string) error {
	digits, _, _ := strings.Cut(value, " ")
	count, err := lines.Count(digits)
	if err != nil || count > maxCount || p.current < 0 || p.called == "" {
		return p.lines.Wrong("a number of calls from one function to another")
	}
	if !p.lines.Next() {
		return nil
	}
	cost, err := p.counted(p.lines.Line())
	if err != nil {
		return err
	}
	target := key{p.object, p.file, p.called}
	if p.calledObject != "" {
		target.object = p.calledObject
	}
	if p.calledFile != "" {
		target.file = p.calledFile
	}
	p.calledObject, p.calledFile, p.called = "", "", ""
	to, err := p.function(target)
	if err != nil {
		return err
	}
	return p.edge(to, count, cost)
}

func (p *parser) edge(to int, count int64, cost Cost) error {
	ends := [2]int{p.current, to}
	i, known := p.calls[ends]
	if !known {
		if len(p.profile.Calls) == MaxCalls {
			return fmt.Errorf("%w: more than %d calls", lines.ErrLarge, MaxCalls)
		}
		i = len(p.profile.Calls)
		p.calls[ends] = i
		p.profile.Calls = append(p.profile.Calls, Call{From: p.current, To: to})
	}
	c := &p.profile.Calls[i]
	c.Count = lines.Sum(c.Count, count)
	add(&c.Inclusive, cost)
	return nil
}

// counted reads positions, and the costs after them.
func (p *parser) counted(line string) (Cost, error) {
	fields := strings.Fields(line)
	if len(p.positions) == 0 || len(p.profile.Events) == 0 {
		return nil, p.lines.Wrong("positions and events before costs")
	}
	if len(fields) < len(p.positions) {
		return nil, p.lines.Wrong("positions and costs")
	}
	for i := range p.positions {
		at, err := position(p.positions[i], fields[i])
		if err != nil {
			return nil, p.lines.Wrong("positions and costs")
		}
		p.positions[i] = at
	}
	return p.counts(fields[len(p.positions):])
}

func position(last int64, text string) (int64, error) {
	switch text[0] {
	case '*':
		return last, nil
	case '+', '-':
		distance, err := strconv.ParseInt(text, 0, 64)
		return last + distance, err
	}
	at, err := strconv.ParseUint(text, 0, 63)
	return int64(at), err
}

func (p *parser) counts(fields []string) (Cost, error) {
	if len(fields) > len(p.profile.Events) {
		return nil, p.lines.Wrong(fmt.Sprintf("%d costs at most", len(p.profile.Events)))
	}
	cost := make(Cost, len(p.profile.Events))
	for i, f := range fields {
		n, err := lines.Count(f)
		if err != nil || n > maxCount {
			return nil, p.lines.Wrong("costs")
		}
		cost[i] = n
	}
	return cost, nil
}

func add(to *Cost, cost Cost) {
	if *to == nil {
		*to = make(Cost, len(cost))
	}
	for i, n := range cost {
		(*to)[i] = lines.Sum((*to)[i], n)
	}
}

package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
)

//go:embed table.tsv
var tableText string

var table = func() (all []comparison) {
	for line := range strings.Lines(tableText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseRow(strings.TrimSuffix(line, "\n"))
		if err != nil {
			panic(fmt.Sprintf("table.tsv: %q: %v", line, err)) // The file is part of the program.
		}
		all = append(all, c)
	}
	return all
}()

func parseRow(line string) (c comparison, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 7 {
		return c, fmt.Errorf("it has %d columns, want 7", len(f))
	}
	c = comparison{name: f[0], unit: f[4], take: take(slices.Index([]string{"mean", "lowest", "highest"}, f[5]))}
	if c.take < 0 {
		return c, fmt.Errorf("%q is not mean, lowest or highest", f[5])
	}
	if c.over, err = parseSources(f[1], f[2]); err != nil {
		return c, err
	}
	if f[3] != "-" {
		if c.under, err = parseSources(f[1], f[3]); err != nil {
			return c, err
		}
	}
	c.aim, err = parseAim(f[6])
	return c, err
}

func parseSources(run, text string) (all []source, err error) {
	for one := range strings.SplitSeq(text, " ; ") {
		p := strings.Split(one, ",")
		s := source{run: run, implementation: p[0]}
		switch last := p[len(p)-1]; len(p) {
		case 3:
			s.test, s.metric = p[1], last
		case 4:
			n, err := strconv.ParseInt(p[2], 10, 32)
			if err != nil {
				return nil, fmt.Errorf("reading the connections of %q: %w", one, err)
			}
			s.at = record.Point{Load: p[1], Connections: int32(n)}
			fallthrough
		case 2:
			// Many unanswered connections make a cell void, but this figure counts them.
			s.of, s.evenFailed = quantities[last], last == "unanswered"
			s.throughput, s.latency = last == "throughput", last == "p99"
			if s.of == nil {
				return nil, fmt.Errorf("%q is no quantity", last)
			}
		default:
			return nil, fmt.Errorf("%q is no value", one)
		}
		all = append(all, s)
	}
	return all, nil
}

func parseAim(text string) (figures.Aim, error) {
	if text == "-" {
		return figures.Aim{}, nil
	}
	limit, within, _ := strings.Cut(text, " within ")
	var share float64
	if within != "" {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(within, " %"), 64)
		if err != nil {
			return figures.Aim{}, fmt.Errorf("reading the aim %q: %w", text, err)
		}
		share = percent / 100
	}
	of := figures.AtMost
	number, most := strings.CutPrefix(limit, "<=")
	if !most {
		of, number = figures.AtLeast, strings.TrimPrefix(limit, ">=")
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return figures.Aim{}, fmt.Errorf("reading the aim %q: %w", text, err)
	}
	return of(n).Bound(share), nil
}

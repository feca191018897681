package lint

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
)

// missing stands for a value that was not printed.
const missing = "-"

// Text prints refusals, samples, repeats, findings with fixes, and the limits of such files. Control characters in quotes are escaped.
func Text(r Report) string {
	var b strings.Builder
	if len(r.Samples) == 0 && len(r.Refusals) == 1 {
		return "" // The error says the same.
	}
	b.WriteString(notRead(r.Refusals))
	if len(r.Samples) == 0 {
		return util.Printable(b.String())
	}
	if len(r.Refusals) > 0 {
		b.WriteString("\n")
	}
	table(&b, sampleRows(r))
	b.WriteString(legend(r.Samples))
	if slices.ContainsFunc(r.Repeats, func(g Repeats) bool { return g.CV != nil }) {
		b.WriteString("\nRepeats of the same load\n")
		table(&b, repeatRows(r))
	}
	b.WriteString("\nFindings\n")
	if len(r.Findings) == 0 {
		b.WriteString("None.\n")
	}
	for i, f := range r.Findings {
		fmt.Fprintf(&b, "%-8s%s: %s\n", f.Weight, hashes(f.Samples), f.Sentence)
		// Consecutive findings of one kind share their fix.
		if i+1 == len(r.Findings) || r.Findings[i+1].Fix != f.Fix {
			fmt.Fprintf(&b, "        Fix: %s\n", f.Fix)
		}
	}
	b.WriteString("\n" + unseen + "\n")
	fmt.Fprintf(&b, "%s\n", conclusion(r))
	return util.Printable(b.String())
}

func notRead(refusals []Refusal) string {
	if len(refusals) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Not read\n")
	for _, r := range refusals {
		fmt.Fprintf(&b, "%s: %s.\n", r.Place(), strings.TrimRight(r.Why, "."))
	}
	return b.String()
}

func legend(samples []Sample) string {
	ways := map[string]string{Wrk: "wrk prints it with --latency", Wrk2: "wrk2 prints it with --latency", K6: "k6 prints it with --summary-trend-stats=avg,min,med,max,p(99)"}
	var out []string
	for _, s := range samples {
		if way := ways[s.Tool]; way != "" && s.Mean() != nil && s.P99() == nil && !slices.Contains(out, way) {
			out = append(out, way)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "p99 -: not printed; " + strings.Join(out, ", ") + ".\n"
}

func sampleRows(r Report) [][]string {
	rows := [][]string{{"#", "where", "tool", "threads", "conns", "took", "requests", "req/s", "mean", "p99", "max", "errors", "verdict"}}
	for i, s := range r.Samples {
		row := []string{"#" + strconv.Itoa(i+1), s.Place(), s.Tool, orMissing(s.Threads), orMissing(s.Connections)}
		if s.Failed != "" {
			row = append(row, missing, missing, missing, missing, missing, missing)
		} else {
			row = append(row, spell(s.Seconds.Value*1e6), format.Integer(s.Requests), number(s.PerSecond()), latency(s.Mean()), latency(s.P99()), latency(s.Most()))
		}
		rows = append(rows, append(row, format.Integer(s.Errors.Sum()), string(r.Verdicts[i])))
	}
	return rows
}

func repeatRows(r Report) [][]string {
	rows := [][]string{{"samples", "tool", "threads", "conns", "address", "files", "n", "mean req/s", "least", "most", "CV"}}
	for _, g := range r.Repeats {
		cv := missing
		if g.CV != nil {
			cv = percent(*g.CV)
		}
		address := g.URL
		if address == "" {
			address = missing
		}
		rows = append(rows, []string{
			hashes(g.Samples), g.Tool, orMissing(g.Threads), orMissing(g.Connections), address, g.Source, strconv.Itoa(g.Runs),
			number(g.Mean), number(g.Least), number(g.Most), cv,
		})
	}
	return rows
}

func table(b *strings.Builder, rows [][]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = util.Printable(strings.ReplaceAll(cell, "\t", " "))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	// A strings.Builder takes everything.
	_ = w.Flush()
}

// hashes names samples as in the table, and joins neighbors.
func hashes(samples []int) string {
	var out []string
	for i := 0; i < len(samples); {
		j := i
		for j+1 < len(samples) && samples[j+1] == samples[j]+1 {
			j++
		}
		name := "#" + strconv.Itoa(samples[i]+1)
		if j > i {
			name += "-" + strconv.Itoa(samples[j]+1)
		}
		out = append(out, name)
		i = j + 1
	}
	return strings.Join(out, ",")
}

func orMissing(n int64) string {
	if n == 0 {
		return missing
	}
	return format.Integer(n)
}

func latency(q *printed.Quantity) string {
	if q == nil {
		return missing
	}
	if q.Value == 0 && q.Rounding > 0 {
		return "<" + spell(q.Rounding)
	}
	return spell(q.Value)
}

func spell(micros float64) string {
	switch {
	case micros >= 1e6:
		return number(micros/1e6) + " s"
	case micros >= 1e3:
		return number(micros/1e3) + " ms"
	}
	return number(micros) + " µs"
}

// number prints about four significant digits, and never less than the whole part.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := min(max(3-int(math.Floor(math.Log10(math.Abs(v)))), 0), 6)
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return format.Thousands(text)
}

func hundredths(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// percent prints a share. Small shares keep their digits, since 0.0985% and 0.1% differ.
func percent(share float64) string { return number(share*100) + "%" }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return format.Integer(n) + " " + noun + "s"
}

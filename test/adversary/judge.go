package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// printedReport is what the judge reads of a report.json.
type printedReport struct {
	Verdict  string `json:"verdict"`
	Headline struct {
		Entries []struct {
			Verdict string `json:"verdict"`
			Reason  string `json:"reason"`
		} `json:"entries"`
	} `json:"headline"`
	Groups []struct {
		Implementation string `json:"implementation"`
		Cells          []struct {
			Reasons []struct {
				Code string `json:"code"`
			} `json:"reasons"`
		} `json:"cells"`
	} `json:"groups"`
	Trends struct {
		WithAge []struct {
			Implementation string  `json:"implementation"`
			Low            float64 `json:"low"`
			High           float64 `json:"high"`
		} `json:"withAge"`
	} `json:"trends"`
	Objectives []struct {
		Implementation string `json:"implementation"`
		Outcome        string `json:"outcome"`
	} `json:"objectives"`
}

// The outcomes of a row.
const (
	right     = "ok"
	misjudged = "misjudged"
	// notJudged: Loadstone reached no verdict and named no fault, such as on a busy machine.
	notJudged = "not judged"
)

// judgement is a line of the table.
type judgement struct {
	row
	// line is the printed verdict.
	line    string
	outcome string
	// why explains a misjudgement.
	why string
}

// factsOf returns what a report states of the planted server apart from its verdict line, as kind=value.
func factsOf(r printedReport) []string {
	var out []string
	for _, e := range r.Headline.Entries {
		out = append(out, "verdict="+e.Verdict)
	}
	for _, g := range r.Groups {
		for _, c := range g.Cells {
			for _, reason := range c.Reasons {
				if g.Implementation == "bad" {
					out = append(out, "reason="+reason.Code)
				}
			}
		}
	}
	for _, a := range r.Trends.WithAge {
		if a.Low > 0 || a.High < 0 {
			out = append(out, "aged="+a.Implementation)
		}
	}
	for _, o := range r.Objectives {
		if o.Implementation == "bad" {
			out = append(out, "objective="+o.Outcome)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judge compares the printed line and the report with the sentences that the row forbids and the facts that it demands.
func judge(r row, printed string, text []byte) (judgement, error) {
	var found printedReport
	if err := json.Unmarshal(text, &found); err != nil {
		return judgement{}, fmt.Errorf("reading the report of %s: %w", r.name(), err)
	}
	line := found.Verdict
	j := judgement{row: r, line: line, outcome: right}
	if !strings.Contains(printed, line) || line == "" {
		j.outcome, j.why = misjudged, "the command did not print the verdict of its report"
		return j, nil
	}
	for _, never := range r.never {
		if said := regexp.MustCompile(never).FindString(line); said != "" {
			j.outcome, j.why = misjudged, fmt.Sprintf("it says %q", said)
			return j, nil
		}
	}
	facts := append(factsOf(found), line)
	demanded := func(must string) bool { return slices.ContainsFunc(facts, regexp.MustCompile(must).MatchString) }
	if slices.ContainsFunc(r.must, demanded) {
		return j, nil
	}
	undecided := slices.Contains(facts, "verdict=Inconclusive")
	switch {
	case undecided:
		j.outcome = notJudged
	case len(r.must) > 0:
		j.outcome, j.why = misjudged, "it does not say "+strings.Join(r.must, " or ")
	}
	return j, nil
}

func table(list []judgement) string {
	var b strings.Builder
	b.WriteString("| server | what it does | verdict line | |\n|---|---|---|---|\n")
	for _, j := range list {
		said := j.outcome
		if j.why != "" {
			said += ": " + j.why
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", j.name(), j.does, cell(j.line), cell(said))
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// kinds are the kinds of text, each with a column in limits.tsv.
var kinds = []string{"docs", "cli", "messages", "api", "comments", "other"}

type key struct{ rule, kind string }

// A rule without a limit is not checked for that kind.
type limits map[key]int

func (l limits) ignores(k key) bool {
	_, limited := l[k]
	return !limited
}

func (l limits) exceeded(counts map[key]int) []key {
	var over []key
	for k, limit := range l {
		if counts[k] > limit {
			over = append(over, k)
		}
	}
	slices.SortFunc(over, func(a, b key) int { return strings.Compare(a.rule+a.kind, b.rule+b.kind) })
	return over
}

// updated prints limits.tsv with today's counts, for the rules that have a limit.
func (l limits) updated(counts map[key]int) string {
	var rules []string
	for k := range l {
		rules = append(rules, k.rule)
	}
	slices.Sort(rules)
	text := "rule\t" + strings.Join(kinds, "\t") + "\n"
	for _, rule := range slices.Compact(rules) {
		text += rule
		for _, kind := range kinds {
			cell := "-"
			if k := (key{rule, kind}); !l.ignores(k) {
				cell = strconv.Itoa(counts[k])
			}
			text += "\t" + cell
		}
		text += "\n"
	}
	return text
}

// readLimits reads limits.tsv: a row per rule, a column per kind of text. "-" means that the rule is not checked there.
func readLimits(file string) (limits, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	result := limits{}
	for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		cells := strings.Split(line, "\t")
		if i == 0 && slices.Equal(cells[1:], kinds) {
			continue
		}
		if i == 0 || len(cells) != len(kinds)+1 {
			return nil, fmt.Errorf("%s:%d: write rule and %s, separated by tabs", file, i+1, strings.Join(kinds, ", "))
		}
		for j, cell := range cells[1:] {
			if cell == "-" {
				continue
			}
			limit, err := strconv.Atoi(cell)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %q: write a number or -", file, i+1, cell)
			}
			result[key{cells[0], kinds[j]}] = limit
		}
	}
	return result, nil
}

func count(found []finding) map[key]int {
	counts := map[key]int{}
	for _, f := range found {
		counts[key{f.rule, f.kind}]++
	}
	return counts
}

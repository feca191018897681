package report

import (
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis"
)

// fact is a named value; Differs marks one that should not.
type fact struct {
	Name    string
	Values  []string
	Differs string
}

// factGroup holds the facts of one role, or of one implementation in its role.
type factGroup struct {
	Title string
	Facts []fact
}

// environment is what the trials ran on: what differs between them first, and all the rest folded.
type environment struct {
	Title, Lead string
	Differs     []factGroup
	AllTitle    string
	All         []factGroup
}

func (v *view) environment() environment {
	out := environment{Title: v.say("environment.title"), Lead: v.say("environment.same")}
	differing := 0
	for _, f := range v.t.Environment {
		if f.Differs {
			differing++
			out.Differs = v.addFact(out.Differs, f)
			continue
		}
		out.All = v.addFact(out.All, f)
	}
	key := "environment.all"
	if differing > 0 {
		out.Lead, key = v.say("environment.differ"), "environment.rest"
	}
	out.AllTitle = v.say(key, integer(int64(len(v.t.Environment)-differing)))
	return out
}

// addFact adds a fact to the group of its role.
func (v *view) addFact(groups []factGroup, f analysis.Fact) []factGroup {
	title := v.say("role." + f.Role)
	if f.Implementation != "" {
		title = v.say("role.of", title, f.Implementation)
	}
	if i := slices.IndexFunc(groups, func(g factGroup) bool { return g.Title == title }); i >= 0 {
		groups[i].Facts = append(groups[i].Facts, v.fact(f))
		return groups
	}
	return append(groups, factGroup{Title: title, Facts: []fact{v.fact(f)}})
}

func (v *view) fact(f analysis.Fact) fact {
	out := fact{Name: v.say("fact." + string(f.Key))}
	if f.Differs {
		out.Differs = v.say("environment.differs")
	}
	for _, value := range f.Values {
		words := v.factValue(f.Key, value.Value)
		if f.Differs {
			words += " (" + v.count("environment.trials", value.Trials) + ")"
		}
		out.Values = append(out.Values, words)
	}
	return out
}

// factValue puts units to the facts that are numbers.
func (v *view) factValue(key analysis.FactKey, value string) string {
	parts := strings.Split(value, ", ")
	for i, part := range parts {
		switch key {
		case analysis.FactMemory:
			if bytes, err := strconv.ParseInt(part, 10, 64); err == nil {
				parts[i] = size(float64(bytes))
			}
		case analysis.FactHeaders:
			if path, bytes, ok := cutLast(part); ok {
				parts[i] = v.say("fact.headers", bytes, path)
			}
		default:
		}
	}
	return strings.Join(parts, ", ")
}

// cutLast cuts at the last space.
func cutLast(s string) (before, after string, ok bool) {
	k := strings.LastIndex(s, " ")
	if k < 0 {
		return s, "", false
	}
	return s[:k], s[k+1:], true
}

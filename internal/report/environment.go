package report

import (
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
)

type factGroup struct {
	Title string
	Facts []page.Fact
}

// factSheet lists differences first; the rest is folded.
type factSheet struct {
	Lead     string
	Differs  []factGroup
	AllTitle string
	All      []factGroup
}

func (v run) environment() page.Section {
	s, out := v.section("environment", "environment.title"), factSheet{Lead: v.Say("environment.same")}
	differing := 0
	for _, f := range v.Table.Environment {
		if f.Differs {
			differing++
			out.Differs = v.addFact(out.Differs, f)
			continue
		}
		out.All = v.addFact(out.All, f)
	}
	key := "environment.all"
	if differing > 0 {
		out.Lead, key = v.Say("environment.differ"), "environment.rest"
	}
	out.AllTitle = v.Say(key, format.Integer(len(v.Table.Environment)-differing))
	s.Data = out
	return s
}

func (v run) addFact(groups []factGroup, f environment.Fact) []factGroup {
	title := v.Say("role." + f.Role)
	if f.Implementation != "" {
		title = v.Say("role.of", title, f.Implementation)
	}
	if i := slices.IndexFunc(groups, func(g factGroup) bool { return g.Title == title }); i >= 0 {
		groups[i].Facts = append(groups[i].Facts, v.fact(f))
		return groups
	}
	return append(groups, factGroup{Title: title, Facts: []page.Fact{v.fact(f)}})
}

func (v run) fact(f environment.Fact) page.Fact {
	out := page.Fact{Name: v.Say("fact." + string(f.Key))}
	if f.Differs {
		out.Differs = v.Say("environment.differs")
	}
	for _, value := range f.Values {
		words := v.factValue(f.Key, value.Value)
		if f.Differs {
			words += " (" + v.Count("environment.trials", value.Trials) + ")"
		}
		out.Values = append(out.Values, words)
	}
	return out
}

func (v run) factValue(key environment.Key, value string) string {
	parts := strings.Split(value, ", ")
	for i, part := range parts {
		switch key {
		case environment.Memory:
			if bytes, err := strconv.ParseInt(part, 10, 64); err == nil {
				parts[i] = format.Size(float64(bytes))
			}
		case environment.Headers:
			if path, bytes, ok := cutLast(part); ok {
				parts[i] = v.Say("fact.headers", bytes, path)
			}
		default:
		}
	}
	return strings.Join(parts, ", ")
}

func cutLast(s string) (before, after string, ok bool) {
	k := strings.LastIndex(s, " ")
	if k < 0 {
		return s, "", false
	}
	return s[:k], s[k+1:], true
}

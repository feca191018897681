package builds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Key names one fact of a binary.
type Key string

// The facts, in listing order.
const (
	Path           Key = "path"
	Script         Key = "script"
	Bytes          Key = "bytes"
	SHA256         Key = "sha256"
	ID             Key = "buildID"
	Format         Key = "format"
	Compilers      Key = "compilers"
	Flags          Key = "flags"
	Optimized      Key = "optimized"
	Assertions     Key = "assertions"
	Coverage       Key = "coverage"
	Sanitizers     Key = "sanitizers"
	DebugInfo      Key = "debugInfo"
	Stripped       Key = "stripped"
	Static         Key = "static"
	Interpreter    Key = "interpreter"
	Libraries      Key = "libraries"
	Allocator      Key = "allocator"
	PIE            Key = "pie"
	RELRO          Key = "relro"
	BindNow        Key = "bindNow"
	StackProtector Key = "stackProtector"
	StackClash     Key = "stackClash"
	Fortify        Key = "fortify"
	BranchTargets  Key = "branchTargets"
	ShadowStack    Key = "shadowStack"
	Go             Key = "go"
	GoSettings     Key = "goSettings"
)

// Builds describes how the servers were built and how they behave at rest.
type Builds struct {
	Implementations []string `json:"implementations"`
	Facts           []Fact   `json:"facts"`
	AtRest          []AtRest `json:"atRest"`
}

// Fact is one fact of all binaries.
type Fact struct {
	Key     Key     `json:"key"`
	Values  []Value `json:"values"`
	Differs bool    `json:"differs"`
}

// Value is one fact of one binary.
type Value struct {
	// Value is empty if unknown or not applicable; yes-or-no facts are "yes", "no" or "unknown".
	Value string `json:"value"`
	// By is the evidence for the answer.
	By string `json:"by,omitempty"`
}

// AtRest is one implementation before any load.
type AtRest struct {
	Implementation string `json:"implementation"`
	// StartUpMillis is from process creation until the port is seen open, to within ResolutionMillis. AtMost counts
	// trials with only an upper bound.
	StartUpMillis    *Spread `json:"startUpMillis,omitempty"`
	ResolutionMillis int64   `json:"resolutionMillis,omitempty"`
	AtMost           int     `json:"atMost,omitempty"`
	// AnswerMillis is from process creation to an answer within a second of the open port. AnswersAtMost counts upper
	// bounds.
	AnswerMillis  *Spread `json:"answerMillis,omitempty"`
	AnswersAtMost int     `json:"answersAtMost,omitempty"`
	// IdleBytes is the resident memory.
	IdleBytes *Spread `json:"idleBytes,omitempty"`
	Binaries  int     `json:"binaries"`
}

// Spread is a value over trials.
type Spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Of describes the servers of a run; nil if no observer read any.
func Of(data record.RunData, p planned.Run) *Builds {
	out, binaries := &Builds{}, []*record.Binary(nil)
	for _, i := range p.Implementations {
		rest, binary := atRest(data, i.Name)
		if binary == nil {
			continue
		}
		out.Implementations = append(out.Implementations, i.Name)
		out.AtRest, binaries = append(out.AtRest, rest), append(binaries, binary)
	}
	if len(binaries) == 0 {
		return nil
	}
	out.Facts = buildFacts(binaries)
	return out
}

// atRest also returns the binary that most trials ran.
func atRest(data record.RunData, implementation string) (AtRest, *record.Binary) {
	rest := AtRest{Implementation: implementation}
	var starts, answers, idle []float64
	var found []*record.Binary
	count := map[string]int{}
	for _, t := range data.Trials {
		if t.Manifest.Servers[0] != implementation || len(t.Servers) == 0 || t.Servers[0].Binary == nil {
			continue
		}
		own := t.Servers[0]
		found = append(found, own.Binary)
		if own.Binary.SHA256 != "" {
			count[own.Binary.SHA256]++
		}
		if s := own.StartUp; s != nil {
			starts, rest.ResolutionMillis = append(starts, float64(s.Millis)), max(rest.ResolutionMillis, s.ResolutionMillis)
			if s.AtMost {
				rest.AtMost++
			}
			if s.AnswerMillis > 0 {
				answers = append(answers, float64(s.AnswerMillis))
				if s.AnswerAtMost {
					rest.AnswersAtMost++
				}
			}
		}
		if own.IdleBytes > 0 {
			idle = append(idle, float64(own.IdleBytes))
		}
	}
	if len(found) == 0 {
		return rest, nil
	}
	rest.Binaries, rest.StartUpMillis, rest.AnswerMillis, rest.IdleBytes = len(count), spread(starts), spread(answers), spread(idle)
	return rest, slices.MaxFunc(found, func(a, b *record.Binary) int { return cmp.Compare(count[a.SHA256], count[b.SHA256]) })
}

func spread(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	return &Spread{N: len(values), Median: inference.Median(values), Min: slices.Min(values), Max: slices.Max(values)}
}

func buildFacts(binaries []*record.Binary) []Fact {
	var facts []Fact
	for _, b := range binaries {
		for k, own := range factsOf(b) {
			if k == len(facts) {
				facts = append(facts, Fact{Key: own.Key})
			}
			facts[k].Values = append(facts[k].Values, own.Values...)
		}
	}
	facts = slices.DeleteFunc(facts, func(f Fact) bool {
		return !slices.ContainsFunc(f.Values, func(v Value) bool { return v.Value != "" })
	})
	for i := range facts {
		facts[i].Differs = !slices.Contains(named, facts[i].Key) && differs(facts[i].Values)
	}
	return facts
}

var named = []Key{Path, Script, Bytes, SHA256, ID}

func differs(values []Value) bool {
	known := slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return v.Value == "" || v.Value == record.Unknown })
	return slices.ContainsFunc(known, func(v Value) bool { return v.Value != known[0].Value })
}

func factsOf(b *record.Binary) []Fact {
	var out []Fact
	text := func(key Key, value, by string) {
		out = append(out, Fact{Key: key, Values: []Value{{Value: value, By: by}}})
	}
	answer := func(key Key, f record.Fact) { text(key, string(f.Is), f.By) }
	text(Path, b.Path, b.Unknown)
	text(Script, b.Script, "")
	text(Bytes, number(b.Bytes), "")
	text(SHA256, b.SHA256, "")
	text(ID, b.BuildID, "")
	text(Format, strings.TrimSpace(b.Format+" "+b.Arch), "")
	text(Compilers, strings.Join(b.Compilers, "; "), "")
	text(Flags, strings.Join(b.Flags, "; "), "")
	answer(Optimized, b.Build.Optimized)
	answer(Assertions, b.Build.Assertions)
	answer(Coverage, b.Build.Coverage)
	answer(Sanitizers, b.Build.Sanitizers)
	answer(DebugInfo, b.Build.DebugInfo)
	answer(Stripped, b.Build.Stripped)
	answer(Static, b.Build.Static)
	text(Interpreter, b.Interpreter, "")
	text(Libraries, strings.Join(b.Libraries, ", "), "")
	text(Allocator, b.Allocator, b.AllocatorBy)
	answer(PIE, b.Build.PIE)
	text(RELRO, b.RELRO, "")
	answer(BindNow, b.BindNow)
	answer(StackProtector, b.StackProtector)
	answer(StackClash, b.StackClash)
	answer(Fortify, b.Fortify)
	answer(BranchTargets, b.BranchTargets)
	answer(ShadowStack, b.ShadowStack)
	language := record.GoBuild{}
	if b.Go != nil {
		language = *b.Go
	}
	text(Go, language.Version, language.Path)
	text(GoSettings, strings.Join(language.Settings, ", "), "")
	return out
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// weighty facts make a comparison one of builds.
var weighty = []struct {
	key   Key
	words string
}{{Optimized, "optimisation"}, {Assertions, "assertions"}, {Sanitizers, "sanitizers"}, {Coverage, "coverage"}}

// Notes returns sentences on builds unlike the baseline's, and on expectations that no file answers.
func Notes(b *Builds, p planned.Run, data record.RunData) []string {
	if b == nil {
		return nil
	}
	plan, out := data.Manifest.Plan, []string(nil)
	base := slices.Index(b.Implementations, p.Baseline)
	for i, name := range b.Implementations {
		if base >= 0 && i != base {
			out = append(out, unlike(b, i, base)...)
		}
		own := slices.IndexFunc(plan.Implementations, func(x record.Implementation) bool { return x.Name == name })
		_, binary := atRest(data, name)
		if own < 0 {
			continue
		}
		for _, x := range binary.Build.Expected(plan.Implementations[own].Build) {
			if x.Open() {
				out = append(out, fmt.Sprintf("implementations[%s].build.%s: %s could not be checked: %s", name, x.Field, x.Want, x.Found.By))
			}
		}
	}
	return out
}

func unlike(b *Builds, i, base int) []string {
	var out []string
	for _, w := range weighty {
		k := slices.IndexFunc(b.Facts, func(f Fact) bool { return f.Key == w.key })
		if k < 0 {
			continue
		}
		own, other := b.Facts[k].Values[i], b.Facts[k].Values[base]
		if differs([]Value{own, other}) {
			out = append(out, fmt.Sprintf("%s and %s were built differently: %s is %s in %s (%s) and %s in %s (%s), which may explain their difference",
				b.Implementations[i], b.Implementations[base], w.words, own.Value, b.Implementations[i], own.By, other.Value, b.Implementations[base], other.By))
		}
	}
	return out
}

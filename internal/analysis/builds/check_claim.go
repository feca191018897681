package builds

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// CheckClaim reports whether the claim's subject is present in the file or the recorded answers. It ignores whether
// the claim denies it.
func CheckClaim(c record.Claim, b *record.Binary, replies []record.Reply) record.Fact {
	switch {
	case c.Subject == record.ClaimResponse:
		return response(c, replies)
	case b == nil:
		return record.NotShown("no observer read the file")
	case b.Unknown != "":
		return record.NotShown("the file was not read: %s", b.Unknown)
	case b.Script != "":
		return record.NotShown("an interpreter runs the program, and only the interpreter was read")
	}
	check, known := checks[c.Subject]
	if !known {
		return record.NotShown("%s is not a known subject", c.Subject)
	}
	return check(b, c.Value)
}

var checks = map[record.ClaimSubject]func(b *record.Binary, value string) record.Fact{
	record.ClaimAllocator: allocator,
	record.ClaimCompiler:  compiler,
	record.ClaimFlag:      flag,
	record.ClaimGoSetting: goSetting,
	record.ClaimGoVersion: goVersion,
	record.ClaimLibrary:   library,
	record.ClaimProperty:  property,
	record.ClaimSymbol:    symbol,
}

// allocators replace the C library's; keys are prefixes of file names.
var allocators = map[string]string{"libjemalloc.": "jemalloc", "libtcmalloc": "tcmalloc", "libmimalloc": "mimalloc"}

// allocator prefers the process's libraries, since the file does not show a preloaded one.
func allocator(b *record.Binary, value string) record.Fact {
	found, by := b.Allocator, b.AllocatorBy
	for _, path := range b.Loaded {
		for prefix, name := range allocators {
			if strings.HasPrefix(base(path), prefix) {
				found, by = name, "the process has loaded "+path
			}
		}
	}
	if found == "" || found == record.Unknown {
		return record.NotShown("the allocator is unknown: %s", by)
	}
	return record.Whether(strings.EqualFold(found, value), "the allocator is %s: %s", found, by)
}

// most is the most texts of a kind that are recorded.
const most = 16

func compiler(b *record.Binary, value string) record.Fact {
	i := slices.IndexFunc(b.Compilers, func(c string) bool { return strings.Contains(c, value) })
	switch {
	case i >= 0 && startFiles(b.Compilers[i]) && slices.ContainsFunc(b.Compilers, func(c string) bool { return !startFiles(c) }):
		return record.NotShown("%s has left its name, but so has another: the C library's start files do so in every program", b.Compilers[i])
	case i >= 0:
		return record.Shown("%s has left its name", b.Compilers[i])
	case len(b.Compilers) == 0:
		return record.NotShown("no compiler has left its name")
	case len(b.Compilers) >= most:
		return record.NotShown("only the first %d compilers are recorded", most)
	}
	return record.RuledOut("those that have left their names are %s", strings.Join(b.Compilers, "; "))
}

func startFiles(compiler string) bool { return strings.HasPrefix(compiler, "GCC: (") }

func goVersion(b *record.Binary, value string) record.Fact {
	if b.Go == nil {
		return record.RuledOut("the file has no build information of Go")
	}
	rest, same := strings.CutPrefix(strings.TrimPrefix(b.Go.Version, "go"), strings.TrimPrefix(value, "go"))
	return record.Whether(same && (rest == "" || rest[0] == '.' || rest[0] == ' '), "Go's build information has %s", b.Go.Version)
}

const maxSettings = 64

func goSetting(b *record.Binary, value string) record.Fact {
	if b.Go == nil {
		return record.RuledOut("the file has no build information of Go")
	}
	name, _, _ := strings.Cut(value, "=")
	i := slices.IndexFunc(b.Go.Settings, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	switch {
	case i >= 0:
		return record.Whether(b.Go.Settings[i] == value, "Go's build information has %s", b.Go.Settings[i])
	case len(b.Go.Settings) == 0 || len(b.Go.Settings) >= maxSettings:
		return record.NotShown("Go's build information does not have all settings")
	}
	return record.RuledOut("Go's build information has no %s", name)
}

const maxLoaded = 256

func library(b *record.Binary, value string) record.Fact {
	is := func(path string) bool { return base(path) == value || strings.HasPrefix(base(path), value+".") }
	if i := slices.IndexFunc(b.Libraries, is); i >= 0 {
		return record.Shown("the file needs %s", b.Libraries[i])
	}
	if i := slices.IndexFunc(b.Loaded, is); i >= 0 {
		return record.Shown("the process had loaded %s before any load", b.Loaded[i])
	}
	switch {
	case b.Build.Static.Is == record.Yes && len(b.Loaded) == 0:
		return record.RuledOut("the file is static")
	case len(b.Loaded) == 0 || len(b.Loaded) >= maxLoaded:
		return record.NotShown("the file does not need it, but not all libraries of the process are known")
	}
	return record.RuledOut("it is not among the %d libraries that the process had loaded before any load", len(b.Loaded))
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func symbol(b *record.Binary, value string) record.Fact {
	i := slices.IndexFunc(b.Symbols, func(s record.Symbol) bool { return s.Name == value })
	if i < 0 {
		return record.NotShown("the symbol was not looked up")
	}
	return b.Symbols[i].There
}

func property(b *record.Binary, value string) record.Fact {
	f, known := map[string]record.Fact{
		"assertions": b.Build.Assertions, "bindNow": b.BindNow, "branchTargets": b.BranchTargets, "coverage": b.Build.Coverage,
		"debugInfo": b.Build.DebugInfo, "fortify": b.Fortify, "optimized": b.Build.Optimized, "pie": b.Build.PIE,
		"sanitizers": b.Build.Sanitizers, "shadowStack": b.ShadowStack, "stackClash": b.StackClash, "stackProtector": b.StackProtector,
		"static": b.Build.Static, "stripped": b.Build.Stripped,
	}[value]
	if !known {
		return record.NotShown("it is not a known property")
	}
	return f
}

// response requires that all answers agree.
func response(c record.Claim, replies []record.Reply) record.Fact {
	seen := map[record.Truth][]record.Fact{}
	for _, r := range replies {
		if r.Path == c.Path && r.Text == c.Value {
			seen[r.There.Is] = append(seen[r.There.Is], r.There)
		}
	}
	has, lacks, open := seen[record.Yes], seen[record.No], seen[record.Unknown]
	switch {
	case len(has)+len(lacks)+len(open) == 0:
		return record.NotShown("no server was asked for %s", c.Path)
	case len(has) > 0 && len(lacks) > 0:
		return record.NotShown("the trials do not agree: %s; %s", inTrials(has), inTrials(lacks))
	case len(has)+len(lacks) == 0:
		return record.NotShown("%s", inTrials(open))
	}
	known := slices.Concat(has, lacks)
	by := inTrials(known)
	if len(open) > 0 {
		by += fmt.Sprintf("; %s", inTrials(open))
	}
	return record.Fact{Is: known[0].Is, By: by}
}

func inTrials(found []record.Fact) string {
	first := found[0].By
	switch {
	case len(found) == 1:
		return "in one trial " + first
	case slices.ContainsFunc(found, func(f record.Fact) bool { return f.By != first }):
		return fmt.Sprintf("in %d trials; in the first: %s", len(found), first)
	}
	return fmt.Sprintf("in %d trials: %s", len(found), first)
}

package binary

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

func (u unit) hasFlag(accept func(string) bool) bool {
	return slices.ContainsFunc(strings.Fields(u.flags), accept)
}

// level returns a unit's last -O flag, which is the effective one; empty if none.
func (u unit) level() string {
	level := ""
	for f := range strings.FieldsSeq(u.flags) {
		if strings.HasPrefix(f, "-O") {
			level = f
		}
	}
	return level
}

func (u unit) optimized() record.Truth {
	switch {
	case u.isGo():
		if u.hasFlag(func(f string) bool { return strings.TrimSuffix(f, ";") == "-N" }) {
			return record.No
		}
		return record.Yes
	case u.flags == "" || strings.HasPrefix(u.compiler, "GNU AS"):
		return record.Unknown
	case u.level() == "" || u.level() == "-O0":
		return record.No
	}
	return record.Yes
}

func (u unit) isGo() bool { return strings.HasPrefix(u.compiler, "Go cmd/compile") }

// isGCC reports whether gcc compiled a unit. gcc records every flag that changes its code.
func (u unit) isGCC() bool {
	return strings.HasPrefix(u.compiler, "GNU ") && !strings.HasPrefix(u.compiler, "GNU AS") && u.flags != ""
}

func (e *executable) optimized() record.Fact {
	count, levels := map[record.Truth]int{}, []string{}
	for _, u := range e.units {
		count[u.optimized()]++
		if level := u.level(); level != "" {
			levels = append(levels, level)
		}
	}
	levels = util.Distinct(levels)
	known := count[record.Yes] + count[record.No]
	switch {
	case count[record.No] > 0:
		return record.RuledOut("%d of %d units with recorded flags were compiled without optimisation", count[record.No], known)
	case known > 0 && len(levels) > 0:
		return record.Shown("all %d units with recorded flags were compiled with %s", known, strings.Join(levels, ", "))
	case known > 0:
		return record.Shown("the Go compiler optimises, and none of %d units has -N", known)
	case e.golang != nil:
		return goOptimized(e.golang)
	case len(e.units) > 0:
		return record.NotShown("%s records no flags", clip(e.units[0].compiler))
	}
	return record.NotShown("%s", e.unitsUnknown)
}

// goOptimized answers from Go's build information, for a file without debug information.
func goOptimized(g *record.GoBuild) record.Fact {
	if len(g.Settings) == 0 {
		return record.NotShown("Go's build information has no settings")
	}
	flags, _ := setting(g, "-gcflags")
	// Flags may apply to a package pattern only: "all=-N -l".
	_, flags = cutPattern(flags)
	if slices.Contains(strings.Fields(flags), "-N") {
		return record.RuledOut("Go's build information has -gcflags with -N")
	}
	return record.Shown("the Go compiler optimises, and Go's build information has no -N")
}

// cutPattern splits off the package pattern of flags; "-N -l" has none.
func cutPattern(flags string) (pattern, rest string) {
	if pattern, rest, ok := strings.Cut(flags, "="); ok && !strings.HasPrefix(flags, "-") {
		return pattern, rest
	}
	return "", flags
}

// recorded answers from the flags of gcc's units: yes if all have the flag, no if none has.
func (e *executable) recorded(flag string) record.Fact {
	with, all := 0, 0
	for _, u := range e.units {
		if !u.isGCC() {
			continue
		}
		all++
		if u.hasFlag(func(f string) bool { return strings.HasPrefix(f, flag) }) {
			with++
		}
	}
	switch {
	case all == 0:
		return record.NotShown("no flags of gcc are recorded")
	case with == 0:
		return record.RuledOut("none of %d units of gcc was compiled with %s", all, flag)
	case with == all:
		return record.Shown("all %d units of gcc were compiled with %s", all, flag)
	}
	return record.NotShown("%d of %d units of gcc were compiled with %s", with, all, flag)
}

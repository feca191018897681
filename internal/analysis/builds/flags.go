package builds

import (
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// flag uses the recorded compiler flags; the last of a family counts. A flag on only parts of a file is neither
// present nor absent, so no claim is confirmed.
func flag(b *record.Binary, value string) record.Fact {
	switch {
	case !isRecorded(value):
		return record.NotShown("compilers do not record this flag")
	case len(b.Flags) == 0:
		return record.NotShown("no flags are recorded: -frecord-gcc-switches records them")
	case len(b.Flags) >= most:
		return record.NotShown("only the first %d sets of flags are recorded", most)
	}
	with, without := 0, ""
	for _, set := range b.Flags {
		if holds(set, value) {
			with++
		} else {
			without = set
		}
	}
	switch {
	case with == len(b.Flags):
		return record.Shown("all parts whose flags are recorded have it: %s", b.Flags[0])
	case with > 0:
		return record.NotShown("%d of %d recorded sets of flags have it, and others do not: %s", with, len(b.Flags), without)
	}
	return record.RuledOut("no part whose flags are recorded has it: %s", without)
}

// isRecorded reports whether gcc records a flag as given. It does for code flags, but replaces -march=native and the
// like.
func isRecorded(flag string) bool {
	if strings.HasSuffix(flag, "=native") {
		return false
	}
	for _, prefix := range []string{"-O", "-f", "-g", "-m", "-std="} {
		if strings.HasPrefix(flag, prefix) {
			return true
		}
	}
	return false
}

func holds(set, flag string) bool {
	there := false
	for f := range strings.FieldsSeq(set) {
		switch {
		case f == flag:
			there = true
		case family(f) == family(flag):
			there = false
		}
	}
	return there
}

func family(flag string) string {
	for _, kind := range []string{"-f", "-m"} {
		if name, negated := strings.CutPrefix(flag, kind+"no-"); negated {
			return kind + name
		}
	}
	name, _, valued := strings.Cut(flag, "=")
	switch {
	case strings.HasPrefix(flag, "-O"):
		return "-O"
	case valued && !strings.HasPrefix(flag, "-fsanitize"):
		return name
	}
	return flag
}

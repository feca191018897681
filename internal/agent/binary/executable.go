package binary

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

// OfProcess reads the executable of a running process, even if its container has since deleted or replaced it.
func OfProcess(proc kernel.Proc, pid int, symbols []string) record.Binary {
	path := proc.Path(pid, "exe")
	name, err := os.Readlink(path)
	if err != nil {
		return Unread(err.Error())
	}
	b := openOf(path, symbols)
	b.Path, b.Script = name, script(proc, pid, name)
	b.Loaded, _ = proc.Libraries(pid) // None are known if the process may not be read.
	return b
}

// InProcess reads the executable at a path as a process sees it, for a program that is not started yet. It does not know what an interpreter
// will run.
func InProcess(proc kernel.Proc, pid int, path string, symbols []string) record.Binary {
	b := openOf(proc.Path(pid, "root", path), symbols)
	b.Path = path
	if isInterpreter(path) {
		b.Script = record.Unknown
		b.Build = Unread("an interpreter runs the program").Build
	}
	return b
}

func openOf(path string, symbols []string) record.Binary {
	b, err := Open(path, symbols...)
	if err != nil {
		return Unread(err.Error())
	}
	return b
}

// Unread returns a binary with nothing known, and the reason.
func Unread(why string) record.Binary {
	f := record.Fact{Is: record.Unknown, By: why}
	return record.Binary{
		Unknown: why, BindNow: f, StackProtector: f, StackClash: f, Fortify: f, BranchTargets: f, ShadowStack: f,
		Build: record.Build{Optimized: f, DebugInfo: f, Coverage: f, Sanitizers: f, Assertions: f, Stripped: f, PIE: f, Static: f},
	}
}

// interpreters are names, without version, of programs that run scripts.
var interpreters = []string{"sh", "bash", "dash", "ash", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "java", "tclsh"}

func isInterpreter(executable string) bool {
	return slices.Contains(interpreters, strings.TrimRight(filepath.Base(executable), "0123456789."))
}

const maxScript = 200

// script returns the first argument of an interpreter that is not a flag; empty for other programs.
func script(proc kernel.Proc, pid int, executable string) string {
	if !isInterpreter(executable) {
		return ""
	}
	text, err := os.ReadFile(proc.Path(pid, "cmdline"))
	if err != nil {
		return record.Unknown
	}
	args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	for _, arg := range args[1:] {
		switch {
		case arg == "-c", arg == "-e":
			return "an inline program" // Its text may be long and hold anything.
		case arg != "" && !strings.HasPrefix(arg, "-"):
			return strings.ToValidUTF8(arg[:min(len(arg), maxScript)], "")
		}
	}
	return record.Unknown
}

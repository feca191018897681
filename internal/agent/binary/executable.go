package binary

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
)

// Of reads the executable of a running process, which its container may have deleted or replaced since.
func OfProcess(proc kernel.Proc, pid int, symbols []string) record.Binary {
	path := proc.Path(pid, "exe")
	name, err := os.Readlink(path)
	if err != nil {
		return Unread(err.Error())
	}
	b := openOf(path, symbols)
	b.Path, b.Script = name, script(proc, pid, name)
	b.Loaded, _ = proc.Libraries(pid) // None are known of a process that may not be read.
	return b
}

// In reads the executable that a process sees at a path, of a program that it has not started yet. What an interpreter will run is not known.
func InProcess(proc kernel.Proc, pid int, path string, symbols []string) record.Binary {
	b := openOf(proc.Path(pid, "root", path), symbols)
	b.Path = path
	if isInterpreter(path) {
		b.Script = record.Unknown
		b.Build = Unread("the program is run by an interpreter").Build
	}
	return b
}

// open reads an executable; of one that cannot be read nothing is known.
func openOf(path string, symbols []string) record.Binary {
	b, err := Open(path, symbols...)
	if err != nil {
		return Unread(err.Error())
	}
	return b
}

// Unread is a binary of which nothing is known, for a reason.
func Unread(why string) record.Binary {
	f := record.Fact{Is: record.Unknown, By: why}
	return record.Binary{
		Unknown: why, BindNow: f, StackProtector: f, StackClash: f, Fortify: f, BranchTargets: f, ShadowStack: f,
		Build: record.Build{Optimized: f, DebugInfo: f, Coverage: f, Sanitizers: f, Assertions: f, Stripped: f, PIE: f, Static: f},
	}
}

// interpreters are programs that run others, by their names without a version.
var interpreters = []string{"sh", "bash", "dash", "ash", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "java", "tclsh"}

func isInterpreter(executable string) bool {
	return slices.Contains(interpreters, strings.TrimRight(filepath.Base(executable), "0123456789."))
}

// maxScript bounds the name of a script.
const maxScript = 200

// script is what an interpreter runs, by its first argument that is no flag; empty for any other program.
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
			return "an inline program" // Its text may hold anything, and be long.
		case arg != "" && !strings.HasPrefix(arg, "-"):
			return strings.ToValidUTF8(arg[:min(len(arg), maxScript)], "")
		}
	}
	return record.Unknown
}

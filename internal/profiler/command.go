package profiler

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Tool is a profiler.
type Tool string

// The known profilers.
const (
	// Memcheck finds errors and leaks of memory.
	Memcheck Tool = "memcheck"
	// Massif measures heap and stacks over time, as the program asks its allocator for memory.
	Massif Tool = "massif"
	// MassifHeap leaves the stacks out: massif fails where a program switches them, as coroutines do.
	MassifHeap Tool = "massif-heap"
	// MassifPages measures all memory over time, as the program asks the kernel for it, whatever its allocator.
	MassifPages Tool = "massif-pages"
	// Callgrind counts instructions by function and line.
	Callgrind Tool = "callgrind"
	// Cachegrind counts instructions by function and line, and knows no calls: it runs what callgrind cannot, such as Go.
	Cachegrind Tool = "cachegrind"
	// Strace counts system calls.
	Strace Tool = "strace"
	// PerfStat counts what perf stat counts, by counters of the kernel and the CPU. The program's parent opens them: no profiler runs.
	PerfStat Tool = "perf-stat"
)

// Tools are the known profilers.
var Tools = []Tool{Memcheck, Massif, MassifHeap, MassifPages, Callgrind, Cachegrind, Strace, PerfStat}

// Counts reports whether a tool counts what a program does, start and end included: two runs with different numbers of requests tell what one of
// them costs.
func (t Tool) Counts() bool {
	return t == Callgrind || t == Cachegrind || t == Strace || t == PerfStat
}

// Program returns the name of the program that a tool is, where it is installed; empty if it needs none.
func (t Tool) Program() string {
	switch t {
	case PerfStat:
		return ""
	case Strace:
		return "strace"
	default:
		return "valgrind"
	}
}

// ToolboxFolder is where the profilers lie in their image, below its root, and in the folder into which they are brought.
const ToolboxFolder = "toolbox"

// Folders are where a profiler finds what it needs, as absolute paths in the implementation's image.
type Folders struct {
	// Toolbox holds the tools; empty for those that are installed.
	Toolbox string
	// Output is where the tool writes. It is also its folder for temporary files: an image may have no /tmp.
	Output string
}

// Output is a kind of file that a tool writes.
type Output string

// The files that tools write.
const (
	// OutputXML are memcheck's errors and leaks, OutputHeap its tree of allocations.
	OutputXML  Output = "memcheck.*.xml"
	OutputHeap Output = "heap.*.xtree"
	// OutputLog are valgrind's messages to people.
	OutputLog        Output = "valgrind.*.log"
	OutputMassif     Output = "massif.*.out"
	OutputCallgrind  Output = "callgrind.*.out"
	OutputCachegrind Output = "cachegrind.*.out"
	OutputStrace     Output = "strace.txt"
	OutputPerfStat   Output = "perf-stat.csv"
)

// Wrapped is a command with a profiler before it.
//
// The profiler is the first process of a group of its own, and the program one of the others, or the same process for valgrind. A stop signal must
// go to the group: strace ignores it. The outputs are complete when the first process has ended.
type Wrapped struct {
	// Argv is the argument vector.
	Argv []string
	// Env are the variables that are added to the program's own, as "NAME=VALUE".
	Env []string
	// Outputs are the names of the files in the output folder. A "*" stands for the id of a process: there is a file of each.
	Outputs []Output
	// Counters is the path of the file into which the program's parent writes its counters; empty where a profiler runs instead.
	Counters string
}

// Errors of commands.
var (
	// ErrNoCommand is the error of an implementation that leaves its command to its image.
	ErrNoCommand = errors.New("a profile needs the command of the implementation: what an image runs by itself is not known before it runs")
	// ErrFolder is the error of a folder that a tool cannot be given.
	ErrFolder = errors.New("a folder of a profile is an absolute path without a percent sign")
	// ErrTool is the error of a tool that nobody knows.
	ErrTool = errors.New("there is no such profiler")
)

// Command wraps a command, which stays as it is, with a profiler.
func Command(tool Tool, folders Folders, argv []string) (Wrapped, error) {
	if len(argv) == 0 || argv[0] == "" {
		return Wrapped{}, ErrNoCommand
	}
	for i, f := range []string{folders.Output, folders.Toolbox} {
		if installed := i > 0 && f == ""; !installed && !path.IsAbs(f) || strings.Contains(f, "%") {
			return Wrapped{}, fmt.Errorf("%w: %q", ErrFolder, f)
		}
	}
	switch tool {
	case Memcheck, Massif, MassifHeap, MassifPages, Callgrind, Cachegrind:
		return valgrind(tool, folders, argv), nil
	case Strace:
		return loaded("strace", folders, []string{"-c", "-f", "-S", "name", "-o", path.Join(folders.Output, string(OutputStrace)), "--"}, argv, OutputStrace), nil
	case PerfStat:
		return Wrapped{Argv: argv, Outputs: []Output{OutputPerfStat}, Counters: path.Join(folders.Output, string(OutputPerfStat))}, nil
	}
	return Wrapped{}, fmt.Errorf("%w: %q", ErrTool, tool)
}

// callers is the number of frames of a stack that valgrind keeps.
const callers = "30"

// valgrind wraps a command with one of valgrind's tools. Where a program becomes another, as scripts end, the other is wrapped, too.
func valgrind(tool Tool, folders Folders, argv []string) Wrapped {
	name := tool
	if tool == MassifHeap || tool == MassifPages {
		name = Massif
	}
	file := func(o Output) string { return path.Join(folders.Output, strings.Replace(string(o), "*", "%p", 1)) }
	own, outputs := options(tool, file)
	common := []string{"valgrind", "--tool=" + string(name), "--vgdb=no", "--trace-children=yes", "--num-callers=" + callers}
	if folders.Toolbox != "" {
		common[0] = path.Join(folders.Toolbox, "valgrind", "launcher")
		common = append(common, "--extra-debuginfo-path="+path.Join(folders.Toolbox, "debug"))
	}
	common = append(common, "--log-file="+file(OutputLog))
	return Wrapped{Argv: slices.Concat(common, own, argv), Env: []string{"TMPDIR=" + folders.Output}, Outputs: append(outputs, OutputLog)}
}

// options are those of one of valgrind's tools, with the files that it writes.
func options(tool Tool, file func(Output) string) ([]string, []Output) {
	switch tool {
	case Memcheck:
		// A child that does not become another program would write into the XML of its parent.
		return []string{
			"--leak-check=full", "--show-leak-kinds=all", "--track-origins=yes", "--child-silent-after-fork=yes",
			"--xml=yes", "--xml-file=" + file(OutputXML), "--xtree-memory=full", "--xtree-memory-file=" + file(OutputHeap),
		}, []Output{OutputXML, OutputHeap}
	case Massif:
		return []string{"--stacks=yes", "--massif-out-file=" + file(OutputMassif)}, []Output{OutputMassif}
	case MassifHeap:
		return []string{"--massif-out-file=" + file(OutputMassif)}, []Output{OutputMassif}
	case MassifPages:
		return []string{"--pages-as-heap=yes", "--massif-out-file=" + file(OutputMassif)}, []Output{OutputMassif}
	case Cachegrind:
		return []string{"--cache-sim=no", "--cachegrind-out-file=" + file(OutputCachegrind)}, []Output{OutputCachegrind}
	default:
		return []string{"--callgrind-out-file=" + file(OutputCallgrind)}, []Output{OutputCallgrind}
	}
}

// loaded wraps a command with a program of the toolbox that is started by the toolbox's own loader, with its own libraries, and so needs none
// of the image's. The program that is profiled knows nothing of them.
func loaded(name string, folders Folders, options, argv []string, output Output) Wrapped {
	start := []string{name}
	if folders.Toolbox != "" {
		lib := path.Join(folders.Toolbox, "lib")
		start = []string{path.Join(lib, "loader"), "--library-path", lib, path.Join(folders.Toolbox, "bin", name)}
	}
	return Wrapped{Argv: slices.Concat(start, options, argv), Outputs: []Output{output}}
}

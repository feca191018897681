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

const (
	// Memcheck finds memory errors and leaks.
	Memcheck Tool = "memcheck"
	// Massif measures heap and stacks over time, by calls of the allocator.
	Massif Tool = "massif"
	// MassifHeap is without stacks: massif fails if a program switches them, as coroutines do.
	MassifHeap Tool = "massif-heap"
	// MassifPages measures all memory over time, by requests to the kernel, with any allocator.
	MassifPages Tool = "massif-pages"
	// Callgrind counts instructions by function and line.
	Callgrind Tool = "callgrind"
	// Cachegrind counts instructions by function and line, without calls. It runs what callgrind cannot, such as Go.
	Cachegrind Tool = "cachegrind"
	// Strace counts system calls.
	Strace Tool = "strace"
	// PerfStat counts like perf stat, with kernel and CPU counters opened by the program's parent: no profiler runs.
	PerfStat Tool = "perf-stat"
)

// Tools are the known profilers.
var Tools = []Tool{Memcheck, Massif, MassifHeap, MassifPages, Callgrind, Cachegrind, Strace, PerfStat}

// Counts reports whether a tool counts over the program's whole life: two runs with different numbers of requests then give the cost per
// request.
func (t Tool) Counts() bool {
	return t == Callgrind || t == Cachegrind || t == Strace || t == PerfStat
}

// Program returns the name of an installed tool's program; empty if it needs none.
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

// ToolboxFolder holds the profilers, below their image's root and where they are copied.
const ToolboxFolder = "toolbox"

// Folders are a profiler's folders, as absolute paths in the implementation's image.
type Folders struct {
	// Toolbox holds the tools; empty for installed ones.
	Toolbox string
	Output  string
}

// Output is a kind of file that a tool writes.
type Output string

const (
	// OutputXML is memcheck's errors and leaks, OutputHeap its tree of allocations.
	OutputXML        Output = "memcheck.*.xml"
	OutputHeap       Output = "heap.*.xtree"
	OutputLog        Output = "valgrind.*.log"
	OutputMassif     Output = "massif.*.out"
	OutputCallgrind  Output = "callgrind.*.out"
	OutputCachegrind Output = "cachegrind.*.out"
	OutputStrace     Output = "strace.txt"
	OutputPerfStat   Output = "perf-stat.csv"
)

// Wrapped is a command with a profiler.
//
// The profiler leads a process group; the program is another process of it, or the same one for valgrind. Send stop signals to the group:
// strace ignores them. The outputs are complete when the first process has ended.
type Wrapped struct {
	Argv []string
	Env  []string
	// Outputs are files in the output folder. "*" stands for a process ID: there is one file per process.
	Outputs []Output
	// Counters is the file for the parent's counters; empty if a profiler runs.
	Counters string
}

var (
	// ErrNoCommand: the implementation uses its image's command.
	ErrNoCommand = errors.New("a profile needs the command of the implementation: what an image runs by itself is not known before it runs")
	// ErrFolder: a tool cannot use this folder.
	ErrFolder = errors.New("a folder of a profile is an absolute path without a percent sign")
	// ErrTool: the tool is unknown.
	ErrTool = errors.New("there is no such profiler")
)

// Command wraps a command with a profiler.
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

const callers = "30"

// valgrind wraps a command with a valgrind tool. It follows exec, as at the end of scripts.
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

func options(tool Tool, file func(Output) string) ([]string, []Output) {
	switch tool {
	case Memcheck:
		// A forked child without exec would write into its parent's XML.
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

// loaded wraps a command with a toolbox program, started by the toolbox's own loader and libraries, independent of the image's. The profiled
// program does not see them.
func loaded(name string, folders Folders, options, argv []string, output Output) Wrapped {
	start := []string{name}
	if folders.Toolbox != "" {
		lib := path.Join(folders.Toolbox, "lib")
		start = []string{path.Join(lib, "loader"), "--library-path", lib, path.Join(folders.Toolbox, "bin", name)}
	}
	return Wrapped{Argv: slices.Concat(start, options, argv), Outputs: []Output{output}}
}

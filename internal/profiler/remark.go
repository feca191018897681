package profiler

// Code names what limits a profile.
type Code string

const (
	// AllocatorUnseen: the tool does not see the program's heap.
	AllocatorUnseen Code = "AllocatorUnseen"
	// NoLoad: no request was answered under the tool.
	NoLoad Code = "NoLoad"
	// Unfinished: the tool did not write its file to the end.
	Unfinished Code = "Unfinished"
	// EndedBySignal: a signal ended the program.
	EndedBySignal Code = "EndedBySignal"
	// EndedBadly: the program's exit code is not 0.
	EndedBadly Code = "EndedBadly"
	// UnknownInstruction: valgrind does not know an instruction of the program.
	UnknownInstruction Code = "UnknownInstruction"
	// MissingSymbols: memcheck cannot start because the image's loader has no symbols.
	MissingSymbols Code = "MissingSymbols"
	// ToolCrashed: the tool itself failed.
	ToolCrashed Code = "ToolCrashed"
	// GoRuntime: memcheck's errors are from Go's runtime.
	GoRuntime Code = "GoRuntime"
	// StaticLibrary: memcheck's errors may be from a statically linked C library.
	StaticLibrary Code = "StaticLibrary"
	// IOUring: memcheck's errors may come from buffers that the kernel writes.
	IOUring Code = "IOUring"
	// StackSwitches: the program switches stacks without telling the tool.
	StackSwitches Code = "StackSwitches"
	// TooManyErrors: memcheck stopped distinguishing errors.
	TooManyErrors Code = "TooManyErrors"
	// PossiblyLost: memory may be lost.
	PossiblyLost Code = "PossiblyLost"
	// ChildrenUnseen: the program forks processes.
	ChildrenUnseen Code = "ChildrenUnseen"
	// KernelUnseen applies to every count of instructions.
	KernelUnseen Code = "KernelUnseen"
	// ThreadsInTurns applies to every tool of valgrind.
	ThreadsInTurns Code = "ThreadsInTurns"
	// TracingChangesCounts applies to every count of system calls.
	TracingChangesCounts Code = "TracingChangesCounts"
	// CallsUnseen applies to every profile of cachegrind.
	CallsUnseen Code = "CallsUnseen"
	// SeveralProcesses: the program has several processes, and one is shown.
	SeveralProcesses Code = "SeveralProcesses"
	// NotCounted: the machine lacks some counters.
	NotCounted Code = "NotCounted"
)

// Remark is a limit of a profile: a code for programs, and a sentence for people.
type Remark struct {
	Code     Code   `json:"code"`
	Sentence string `json:"sentence"`
}

// Limits returns what a tool cannot see in any program.
func Limits(tool Tool) []Remark {
	turns := remark(ThreadsInTurns, "valgrind runs one thread at a time, so that it shows no races and no waiting for locks as they are without it.")
	kernel := remark(KernelUnseen, "Instructions of the kernel are not counted, only those of the program and its libraries.")
	switch tool {
	case Memcheck:
		return []Remark{turns, remark(AllocatorUnseen, "memcheck sees the heap of the C library's allocator, and not that of static programs, runtimes and own allocators.")}
	case Massif, MassifHeap:
		return []Remark{turns, remark(AllocatorUnseen, "massif sees the heap of the C library's allocator alone; massif-pages sees all pages.")}
	case MassifPages:
		return []Remark{turns, remark(AllocatorUnseen, "massif-pages counts pages that the program asks the kernel for, whether it uses them or not.")}
	case Callgrind:
		return []Remark{turns, kernel}
	case Cachegrind:
		return []Remark{turns, kernel, remark(CallsUnseen, "cachegrind does not know which function calls which.")}
	case Strace:
		return []Remark{remark(TracingChangesCounts, "Tracing slows the program down, so that it does more with one call than it does otherwise.")}
	case PerfStat:
		return []Remark{remark(NotCounted, "A counter that the kernel refuses is not measured: EPERM and ENOSYS are the answers of a pod's seccomp profile, as "+
			"RuntimeDefault gives them, EACCES that of kernel.perf_event_paranoid. CPU time, context switches and page faults are the kernel's accounts of "+
			"the program and of those of its children that it has waited for.")}
	}
	return nil
}

// Suited returns the tool that can see a program in place of one that cannot, with the reasons; or the tool itself.
func Suited(tool Tool, p Program) (Tool, []Remark) {
	switch {
	case p.Go && tool == Callgrind:
		return Cachegrind, []Remark{remark(ToolCrashed, "callgrind fails at the signals of Go's runtime; cachegrind counts the same instructions, without calls.")}
	case (p.Go || p.Static || p.Allocator != "") && (tool == Massif || tool == MassifHeap):
		return MassifPages, []Remark{remark(AllocatorUnseen, "massif does not see the program's allocator; massif-pages measures the pages that the program asks the kernel for.")}
	}
	return tool, nil
}

// Blind says why a tool could find nothing in a program, so that it is not run; false if it could.
func Blind(tool Tool, p Program) (Remark, bool) {
	if tool == Memcheck && p.Go {
		return remark(AllocatorUnseen, "memcheck was not run: it sees neither the heap nor the stacks of Go's runtime, and takes minutes to start it."), true
	}
	return Remark{}, false
}

// Instead returns the tool to try after one has failed, if any.
func Instead(tool Tool) (Tool, bool) {
	instead, found := map[Tool]Tool{Callgrind: Cachegrind, Massif: MassifHeap}[tool]
	return instead, found
}

// Instead returns the tool to try after one has failed at a program, with the reason, if any.
func (r Result) Instead() (Tool, Remark, bool) {
	instead, found := Instead(r.Tool)
	for _, m := range r.Messages {
		if found && m.Crash != "" {
			return instead, remark(ToolCrashed, "%s failed at the program: %s. %s was used.", r.Tool, m.Crash, instead), true
		}
	}
	return r.Tool, Remark{}, false
}

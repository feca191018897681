package profiler

import (
	"fmt"

	"loadstone.dev/loadstone/internal/profiler/memcheck"
)

// Answer is the outcome of memcheck's findings.
type Answer string

// The answers. Clean requires that the tool could have seen faults, not only that it found none.
const (
	Found        Answer = "Found"
	Clean        Answer = "Clean"
	Inconclusive Answer = "Inconclusive"
)

// Verdict is an answer with the reasons against Clean, or against trusting it.
type Verdict struct {
	Answer  Answer   `json:"answer"`
	Reasons []Remark `json:"reasons,omitempty"`
}

// Verdicts answer memcheck's two questions.
type Verdicts struct {
	Errors Verdict `json:"errors"`
	Leaks  Verdict `json:"leaks"`
}

// Evidence describes a program that ran under memcheck.
type Evidence struct {
	Result     memcheck.Result
	Heap       memcheck.Heap
	Messages   Messages
	Exit       Exit
	Requests   int64
	Unanswered int64
	Program    Program
	// Children counts forked processes without exec, which memcheck's XML lacks.
	Children int
}

// Exit is how a process ended.
type Exit struct {
	// Signal ended it, such as "SIGKILL"; empty if none did.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// Program is what a binary shows before it runs.
type Program struct {
	Static bool `json:"static,omitempty"`
	// Go: it holds Go's runtime.
	Go bool `json:"go,omitempty"`
	// Allocator is linked into it, such as "mimalloc"; empty for the C library's, or if unknown.
	Allocator string `json:"allocator,omitempty"`
	// IOUring: it reads with io_uring.
	IOUring bool `json:"ioUring,omitempty"`
}

// Judge returns the verdicts on memcheck's findings.
func Judge(e Evidence) Verdicts {
	ran, served, seen := e.ran(), e.served(), e.allocator()
	doubts := e.doubts()
	return Verdicts{
		Errors: answer(e.errors(), doubts, join(ran, e.unfinished(), served, seen, doubts, e.limit(), e.children())),
		Leaks:  answer(e.lost(), nil, join(ran, e.unfinished(), e.ended(), served, seen, e.possible(), e.children())),
	}
}

func answer(findings int, doubts, reasons []Remark) Verdict {
	switch {
	case findings > 0 && len(doubts) == 0:
		return Verdict{Found, reasons}
	case findings == 0 && len(reasons) == 0:
		return Verdict{Answer: Clean}
	}
	return Verdict{Inconclusive, reasons}
}

func join(lists ...[]Remark) []Remark {
	var all []Remark
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func (e Evidence) errors() int { return len(e.Result.Errors) }

func (e Evidence) lost() int {
	n := 0
	for _, l := range e.Result.Leaks {
		if l.Lost() {
			n++
		}
	}
	return n
}

func (e Evidence) ran() []Remark { return trouble(e.Messages) }

// Trouble says what kept a program from running normally under a valgrind tool; empty for other tools.
func (r Result) Trouble() []Remark { return trouble(r.worst()) }

// trouble says from valgrind's messages what kept a program from running normally.
func trouble(m Messages) []Remark {
	switch {
	case m.MissingSymbols != "":
		return []Remark{remark(MissingSymbols, "memcheck did not start the program: the loader %s has no symbols. Debian's package libc6-dbg, "+
			"of the image's version, holds them.", m.MissingSymbols)}
	case m.UnknownInstruction != "":
		return []Remark{remark(UnknownInstruction, "valgrind does not know the instruction at %s (%s). Build for a baseline CPU: -march=x86-64-v2.",
			m.UnknownInstruction, m.UnknownBytes)}
	case m.Crash != "":
		return []Remark{remark(ToolCrashed, "valgrind itself failed: %s", m.Crash)}
	}
	return nil
}

func (e Evidence) unfinished() []Remark {
	if e.Result.Finished {
		return nil
	}
	return []Remark{remark(Unfinished, "memcheck's file ends before the program did, so that its leaks are missing, and perhaps errors.")}
}

func (e Evidence) ended() []Remark {
	signal := e.Result.Signal
	if signal == "" {
		signal = e.Exit.Signal
	}
	switch {
	case signal != "":
		return []Remark{remark(EndedBySignal, "%s ended the program before it could free its memory.", signal)}
	case e.Exit.Code != 0:
		return []Remark{remark(EndedBadly, "The program ended with exit code %d.", e.Exit.Code)}
	}
	return nil
}

func (e Evidence) served() []Remark {
	if e.Unanswered > 0 {
		return []Remark{remark(NoLoad, "%d requests were not answered rightly under memcheck, so that the work they ask for was perhaps not done.", e.Unanswered)}
	}
	if e.Requests > 0 {
		return nil
	}
	return []Remark{remark(NoLoad, "No request was answered under memcheck, so that only the program's start was seen.")}
}

// allocator says why memcheck did not see the heap. A program with its own allocator may still call the C library's sometimes.
func (e Evidence) allocator() []Remark {
	p := e.Program
	switch {
	case p.Go:
		return []Remark{remark(AllocatorUnseen, "The program's memory is that of Go's runtime, which memcheck does not see.")}
	case p.Allocator != "":
		return []Remark{remark(AllocatorUnseen, "The program has its own allocator, %s; memcheck does not see its memory.", p.Allocator)}
	case p.Static && !e.Heap.Seen():
		return []Remark{remark(AllocatorUnseen, "The program is static: memcheck cannot replace its allocator, and saw no allocation.")}
	case !e.Heap.Seen():
		return []Remark{remark(AllocatorUnseen, "memcheck saw no allocation: the program has its own allocator, or none.")}
	}
	return nil
}

func (e Evidence) doubts() []Remark {
	var out []Remark
	if e.Program.Go {
		out = append(out, remark(GoRuntime, "Go's runtime switches stacks and initialises memory in ways that memcheck takes for errors."))
	}
	if e.Program.Static && !e.Program.Go && uninitialised(e.Result.Errors) {
		out = append(out, remark(StaticLibrary, "The program is static: memcheck takes its C library's own malloc and string functions for reads of "+
			"uninitialized memory, in every such program."))
	}
	if e.Program.IOUring && uninitialised(e.Result.Errors) {
		out = append(out, remark(IOUring, "The program reads by io_uring: memcheck does not know that the kernel wrote into its buffers."))
	}
	if e.Messages.StackSwitches > 0 && !e.Program.Go {
		out = append(out, remark(StackSwitches, "The program switches stacks without telling valgrind, so that memcheck may take the wrong memory for a stack. "+
			"It would need --max-stackframe=%d, or the macro VALGRIND_STACK_REGISTER.", e.Messages.MaxStackFrame))
	}
	return out
}

// uninitialised reports whether all errors are reads of memory that memcheck considers uninitialized.
func uninitialised(errors []memcheck.Error) bool {
	for _, e := range errors {
		switch e.Kind {
		case "UninitCondition", "UninitValue", "SyscallParam":
		default:
			return false
		}
	}
	return len(errors) > 0
}

func (e Evidence) limit() []Remark {
	if !e.Messages.TooManyErrors {
		return nil
	}
	return []Remark{remark(TooManyErrors, "memcheck stopped to tell errors apart after the first thousand.")}
}

func (e Evidence) possible() []Remark {
	sum := e.Result.LeaksByKind()[memcheck.PossiblyLost]
	if sum.Blocks == 0 {
		return nil
	}
	return []Remark{remark(PossiblyLost, "%d bytes in %d blocks are possibly lost: only pointers into their middle are left.", sum.Bytes, sum.Blocks)}
}

func (e Evidence) children() []Remark {
	if e.Children == 0 {
		return nil
	}
	return []Remark{remark(ChildrenUnseen, "The program split off %d processes whose errors and leaks memcheck cannot report in its XML.", e.Children)}
}

func remark(code Code, format string, values ...any) Remark {
	return Remark{Code: code, Sentence: fmt.Sprintf(format, values...)}
}

// Rank orders verdicts: the more severe, the higher.
func (v Verdicts) Rank() int {
	rank := map[Answer]int{Clean: 0, Inconclusive: 1, Found: 2}
	errors, leaks := rank[v.Errors.Answer], rank[v.Leaks.Answer]
	return len(rank)*max(errors, leaks) + min(errors, leaks)
}

package record

import "fmt"

// Truth is whether something is so: Yes, No, or Unknown where what was read does not show it.
type Truth string

const (
	// Yes says that what was read shows it.
	Yes Truth = "yes"
	// No says that what was read rules it out.
	No Truth = "no"
)

// Fact is the answer to one question about a binary.
type Fact struct {
	Is Truth `json:"is"`
	// By is what the answer follows from, or why there is none, as the end of a sentence.
	By string `json:"by"`
}

// Shown is the answer Yes, with what it follows from as the end of a sentence.
func Shown(format string, args ...any) Fact { return Fact{Yes, fmt.Sprintf(format, args...)} }

// RuledOut is the answer No.
func RuledOut(format string, args ...any) Fact { return Fact{No, fmt.Sprintf(format, args...)} }

// NotShown is no answer, with the reason why there is none.
func NotShown(format string, args ...any) Fact { return Fact{Unknown, fmt.Sprintf(format, args...)} }

// Whether is the answer Yes or No.
func Whether(is bool, format string, args ...any) Fact {
	if is {
		return Shown(format, args...)
	}
	return RuledOut(format, args...)
}

// Build is how a binary was built, where users can say what they expect. A fact is Unknown where the file does not show it: a stripped
// binary has no names, and one that is linked statically has those of its C library too.
type Build struct {
	// Optimized follows from the recorded flags: of the compilers in the debug information or in .GCC.command.line, where each unit of which they
	// are known must be optimised, or from Go's build information, since the Go compiler optimises unless -gcflags has -N.
	Optimized Fact `json:"optimized"`
	// DebugInfo is whether the file holds DWARF. A link to another file that holds it does not count.
	DebugInfo Fact `json:"debugInfo"`
	// Coverage is whether code counts how often it runs, by the runtimes of gcc and LLVM or by go build -cover.
	Coverage Fact `json:"coverage"`
	// Sanitizers is whether the runtime of a sanitizer is there, or Go's race detector. One that traps without a runtime is not seen.
	Sanitizers Fact `json:"sanitizers"`
	// Assertions is whether C's assert or that of libstdc++ can fail, by the functions that they call then.
	Assertions Fact `json:"assertions"`
	// Stripped is whether the symbol table is gone.
	Stripped Fact `json:"stripped"`
	// PIE is whether the executable can be loaded at any address.
	PIE Fact `json:"pie"`
	// Static is whether the executable needs neither an interpreter nor a library.
	Static Fact `json:"static"`
}

// Binary is what is known of an executable from its file.
type Binary struct {
	// Unknown says why nothing but the names below is known; empty if the file was read.
	Unknown string `json:"unknown,omitempty"`
	// Path is the file in its container, and Script what it runs if it is an interpreter: all facts are then of the interpreter.
	Path   string `json:"path,omitempty"`
	Script string `json:"script,omitempty"`
	// SHA256 is of the whole file; empty if it is larger than is read.
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes"`
	// Format is such as "ELF 64-bit little-endian", Arch such as "x86-64".
	Format string `json:"format,omitempty"`
	Arch   string `json:"arch,omitempty"`
	// BuildID is of the linker's note, or Go's own; empty if the file has none.
	BuildID string `json:"buildID,omitempty"`
	// Compilers are those that have left their names, with linkers where nothing else did, and Flags theirs where they are recorded; at most 16 each.
	Compilers []string `json:"compilers,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Build     Build    `json:"build"`
	// RELRO is how much of what the loader relocates is read-only afterwards: "none", "partial" or "full".
	RELRO string `json:"relro,omitempty"`
	// BindNow is whether every symbol is bound before the program starts.
	BindNow Fact `json:"bindNow"`
	// StackProtector is whether some function checks its frame's canary.
	StackProtector Fact `json:"stackProtector"`
	// StackClash is whether large frames are probed page by page: only recorded flags show it.
	StackClash Fact `json:"stackClash"`
	// Fortify is whether some calls of the C library are those that check their bounds.
	Fortify Fact `json:"fortify"`
	// BranchTargets and ShadowStack are whether every part was built for checked targets of indirect branches (IBT, BTI) and for protected return
	// addresses (SHSTK, PAC), by the GNU property.
	BranchTargets Fact `json:"branchTargets"`
	ShadowStack   Fact `json:"shadowStack"`
	// Interpreter loads the executable; empty if nothing does. Libraries are those that it names itself.
	Interpreter string   `json:"interpreter,omitempty"`
	Libraries   []string `json:"libraries,omitempty"`
	// Allocator is such as "glibc", "musl", "jemalloc", "tcmalloc", "mimalloc", "Go runtime", "own" or "unknown", and AllocatorBy what that follows from.
	Allocator   string `json:"allocator,omitempty"`
	AllocatorBy string `json:"allocatorBy,omitempty"`
	// Loaded are the libraries that the process had loaded when its server began to listen, by their paths; at most 256, and none of a
	// program that was read before it ran.
	Loaded []string `json:"loaded,omitempty"`
	// Symbols are those that claims ask for.
	Symbols []Symbol `json:"symbols,omitempty"`
	// Go is what the Go linker has left; nil if the file is not of Go.
	Go *GoBuild `json:"go,omitempty"`
}

// Symbol is whether the file defines a function or a variable, or takes it from a library.
type Symbol struct {
	Name string `json:"name"`
	// There is Yes if a table of symbols has the name.
	There Fact `json:"there"`
}

// GoBuild is Go's build information.
type GoBuild struct {
	Version string `json:"version"`
	Path    string `json:"path,omitempty"`
	// Settings are as go version -m prints them, such as "-trimpath=true"; at most 64.
	Settings []string `json:"settings,omitempty"`
}

// StartUp is how long a server needed until somebody listened on its port, and until it answered.
type StartUp struct {
	// Millis is from the creation of its process, which the container runtime does shortly before it executes the server, to the instant at which
	// the port was first seen open. It is right to ResolutionMillis: the kernel counts starts in ticks, and the port is looked at every few ms.
	Millis           int64 `json:"millis"`
	ResolutionMillis int64 `json:"resolutionMillis"`
	// AnswerMillis is from the same creation to its first HTTP answer: of status 2xx where readiness has a path, and of any status to a GET of /
	// otherwise. It is 0 if none came within a second of the open port.
	AnswerMillis int64 `json:"answerMillis,omitempty"`
	// AtMost says that the port was open already when it was first looked at: the server was quicker.
	AtMost bool `json:"atMost,omitempty"`
	// AnswerAtMost says the same of the first answer: it came to the first request, and the server would have answered an earlier one.
	AnswerAtMost bool `json:"answerAtMost,omitempty"`
}

package record

import "fmt"

// Truth is Yes, No, or Unknown if the evidence shows neither.
type Truth string

const (
	// Yes: the evidence shows it.
	Yes Truth = "yes"
	// No: the evidence rules it out.
	No Truth = "no"
)

// Fact is the answer to one question about a binary.
type Fact struct {
	Is Truth `json:"is"`
	// By is the evidence, or why there is none, as the end of a sentence.
	By string `json:"by"`
}

// Shown returns Yes, with its evidence as the end of a sentence.
func Shown(format string, args ...any) Fact { return Fact{Yes, fmt.Sprintf(format, args...)} }

// RuledOut returns No.
func RuledOut(format string, args ...any) Fact { return Fact{No, fmt.Sprintf(format, args...)} }

// NotShown returns Unknown, with the reason.
func NotShown(format string, args ...any) Fact { return Fact{Unknown, fmt.Sprintf(format, args...)} }

// Whether returns Yes or No.
func Whether(is bool, format string, args ...any) Fact {
	if is {
		return Shown(format, args...)
	}
	return RuledOut(format, args...)
}

// Build is how a binary was built, where users can state expectations. A fact is Unknown if the file does not show
// it: a stripped binary has no names, and a static one also has those of its C library.
type Build struct {
	// Optimized follows from recorded flags (debug information or .GCC.command.line), where every known unit must be optimised. For Go it follows
	// from the build information: Go optimises unless -gcflags has -N.
	Optimized Fact `json:"optimized"`
	// DebugInfo is whether the file itself holds DWARF; a link to another file does not count.
	DebugInfo Fact `json:"debugInfo"`
	// Coverage is whether code counts its executions, by the runtimes of gcc and LLVM or by go build -cover.
	Coverage Fact `json:"coverage"`
	// Sanitizers is whether a sanitizer's runtime or Go's race detector is present. Trapping without a runtime is not
	// seen.
	Sanitizers Fact `json:"sanitizers"`
	// Assertions is whether assert of C or libstdc++ can fail, by the functions called then.
	Assertions Fact `json:"assertions"`
	Stripped   Fact `json:"stripped"`
	// PIE is whether the executable can be loaded at any address.
	PIE Fact `json:"pie"`
	// Static is whether it needs neither an interpreter nor a library.
	Static Fact `json:"static"`
}

// Binary describes an executable by its file.
type Binary struct {
	// Unknown says why only the names below are known; empty if the file was read.
	Unknown string `json:"unknown,omitempty"`
	// Path is the file in its container. For an interpreter, Script is its program, and all facts are the interpreter's.
	Path   string `json:"path,omitempty"`
	Script string `json:"script,omitempty"`
	// SHA256 is of the whole file; empty if the file is too large.
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes"`
	// Format is such as "ELF 64-bit little-endian", Arch such as "x86-64".
	Format string `json:"format,omitempty"`
	Arch   string `json:"arch,omitempty"`
	// BuildID is from the linker's note, or Go's own; empty if the file has none.
	BuildID string `json:"buildID,omitempty"`
	// Compilers are those named in the file (linkers if nothing else is), Flags their recorded flags; at most 16
	// each.
	Compilers []string `json:"compilers,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Build     Build    `json:"build"`
	// RELRO is how much of the relocated data becomes read-only: "none", "partial" or "full".
	RELRO string `json:"relro,omitempty"`
	// BindNow is whether all symbols are bound before the program starts.
	BindNow Fact `json:"bindNow"`
	// StackProtector is whether some function checks its frame's canary.
	StackProtector Fact `json:"stackProtector"`
	// StackClash is whether large frames are probed page by page; only recorded flags show it.
	StackClash Fact `json:"stackClash"`
	// Fortify is whether some C library calls check their bounds.
	Fortify Fact `json:"fortify"`
	// BranchTargets (IBT, BTI) and ShadowStack (SHSTK, PAC) are whether every part was built for them, by the GNU
	// property.
	BranchTargets Fact `json:"branchTargets"`
	ShadowStack   Fact `json:"shadowStack"`
	// Interpreter loads the executable; empty if none does. Libraries are those that it names itself.
	Interpreter string   `json:"interpreter,omitempty"`
	Libraries   []string `json:"libraries,omitempty"`
	// Allocator is such as "glibc", "musl", "jemalloc", "tcmalloc", "mimalloc", "Go runtime", "own" or "unknown";
	// AllocatorBy is the evidence.
	Allocator   string `json:"allocator,omitempty"`
	AllocatorBy string `json:"allocatorBy,omitempty"`
	// Loaded are the paths of at most 256 libraries, loaded when the server began to listen; none if the program was
	// read before it ran.
	Loaded  []string `json:"loaded,omitempty"`
	Symbols []Symbol `json:"symbols,omitempty"`
	// Go is nil if the file is not a Go program.
	Go *GoBuild `json:"go,omitempty"`
}

// Symbol is whether the file defines a function or variable, or takes it from a library.
type Symbol struct {
	Name string `json:"name"`
	// There is Yes if a symbol table has the name.
	There Fact `json:"there"`
}

// GoBuild is Go's build information.
type GoBuild struct {
	Version string `json:"version"`
	Path    string `json:"path,omitempty"`
	// Settings are as go version -m prints them, such as "-trimpath=true"; at most 64.
	Settings []string `json:"settings,omitempty"`
}

// StartUp is how long a server needed to listen on its port, and to answer.
type StartUp struct {
	// Millis is from the creation of the process, shortly before the container runtime executes the server, to the first sight of the open port. It
	// is accurate to ResolutionMillis: the kernel counts starts in ticks, and the port is polled every few ms.
	Millis           int64 `json:"millis"`
	ResolutionMillis int64 `json:"resolutionMillis"`
	// AnswerMillis is from the same start to the first HTTP answer: of status 2xx if readiness has a path, else of
	// any status to GET /. It is 0 if none came within a second of the open port.
	AnswerMillis int64 `json:"answerMillis,omitempty"`
	// AtMost: the port was already open at the first look.
	AtMost bool `json:"atMost,omitempty"`
	// AnswerAtMost: the first request was answered, so an earlier one might have been.
	AnswerAtMost bool `json:"answerAtMost,omitempty"`
}

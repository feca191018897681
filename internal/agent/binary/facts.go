package binary

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

const noSections = "it has no sections"

// pureGo reports whether the file holds only Go code; with cgo it holds C too.
func (e *executable) pureGo() bool {
	if e.golang == nil {
		return false
	}
	value, set := setting(e.golang, "CGO_ENABLED")
	return set && value == "0" || !e.dynamic && e.names.anyOf("_cgo_init", "x_cgo_init") == "" && e.names.all != nil
}

func (e *executable) stripped() record.Fact {
	if e.SectionByType(elf.SHT_SYMTAB) == nil {
		return record.Shown("there is no table of symbols")
	}
	return record.RuledOut("there is a table of symbols")
}

func (e *executable) debugInfo() record.Fact {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if e.Section(name) != nil {
			return record.Shown("section %s", name)
		}
	}
	switch {
	case len(e.Sections) == 0:
		return record.NotShown(noSections)
	case e.Section(".gnu_debuglink") != nil:
		return record.RuledOut("it is in another file (.gnu_debuglink)")
	}
	return record.RuledOut("there is no section .debug_info")
}

// coverage looks for coverage runtimes by name, section and required texts. The sections survive stripping.
func (e *executable) coverage() record.Fact {
	counts := func(name string) bool {
		return strings.HasPrefix(name, "__gcov_") || strings.HasPrefix(name, "__llvm_profile_") || strings.HasPrefix(name, "__llvm_gcov")
	}
	if name := e.names.first(counts); name != "" {
		return record.Shown("symbol %s", name)
	}
	for _, s := range e.Sections {
		if strings.HasPrefix(s.Name, "__llvm_prf_") || strings.HasPrefix(s.Name, "__llvm_cov") || s.Name == ".gcov_info" {
			return record.Shown("section %s", s.Name)
		}
	}
	if e.golang != nil {
		if value, _ := setting(e.golang, "-cover"); value == "true" {
			return record.Shown("Go's build information has -cover")
		}
	}
	switch {
	case !e.searched:
		return record.NotShown("the file was not searched")
	case e.found[textGcov] && e.names.all == nil:
		return record.NotShown("the file names a .gcda file, and %s", e.names.unread)
	case e.golang != nil && len(e.golang.Settings) == 0:
		return record.NotShown("Go's build information has no settings")
	}
	return record.RuledOut("there is no counter of gcov, LLVM or Go")
}

// runtimes are the sanitizers: the prefix of their functions and their library.
var runtimes = []struct{ prefix, library, what string }{
	// Other runtimes also contain gcc's __asan_ stack and name readers, so the prefix is __asan_init.
	{"__asan_init", "libasan.", "address"},
	{"__hwasan_", "libclang_rt.hwasan", "hardware address"},
	{"__tsan_", "libtsan.", "thread"},
	{"__msan_", "libclang_rt.msan", "memory"},
	{"__ubsan_handle_", "libubsan.", "undefined behaviour"},
	{"__lsan_", "liblsan.", "leak"},
}

// sanitizers looks for sanitizer runtimes by name, library and the environment variables they read.
func (e *executable) sanitizers() record.Fact {
	var found []string
	for _, r := range runtimes {
		name := e.names.first(func(name string) bool { return strings.HasPrefix(name, r.prefix) })
		// Go's runtime has hooks with these names only if it was built with a sanitizer.
		if i := slices.IndexFunc(e.needed, func(l string) bool { return strings.HasPrefix(l, r.library) }); name == "" && i >= 0 {
			name = e.needed[i]
		}
		if name != "" {
			found = append(found, r.what+" ("+name+")")
		}
	}
	if e.golang != nil {
		for _, flag := range []string{"-race", "-asan", "-msan"} {
			if value, _ := setting(e.golang, flag); value == "true" {
				found = append(found, "Go's "+flag)
			}
		}
	}
	if len(found) > 0 {
		return record.Shown("%s", strings.Join(found, ", "))
	}
	if !e.searched {
		return record.NotShown("the file was not searched")
	}
	for _, t := range sanitizerTexts {
		if e.found[t] && e.names.all == nil {
			return record.NotShown("the file holds %s, and %s", t, e.names.unread)
		}
	}
	return record.RuledOut("there is no runtime of a sanitizer")
}

// assertions looks for the function that a failed assertion calls. A statically linked C library has assertions itself.
func (e *executable) assertions() record.Fact {
	calls := func(name string) bool {
		return name == "__assert_fail" || name == "__assert_perror_fail" || name == "__assert" || strings.HasPrefix(name, "_ZSt21__glibcxx_assert_fail")
	}
	name := e.names.first(calls)
	switch {
	case e.pureGo():
		return record.RuledOut("Go has no assertions")
	case name != "" && (e.dynamic || e.names.imported[name]):
		return record.Shown("symbol %s", name)
	case name != "":
		return record.NotShown("%s exists, but perhaps only the file's C library calls it", name)
	case !e.dynamic && e.names.all == nil:
		return record.NotShown("%s", e.names.unread)
	case !e.ofC():
		return record.NotShown("only assertions of C and C++ are detected, and other languages may be part of the file")
	}
	return record.RuledOut("nothing calls __assert_fail")
}

// ofC reports whether only gcc and clang compiled the file, from C or C++.
func (e *executable) ofC() bool {
	list := e.compilers()
	return len(list) > 0 && e.golang == nil && !slices.ContainsFunc(list, func(c string) bool {
		known := strings.HasPrefix(c, "GNU C") || strings.HasPrefix(c, "GNU AS") || strings.HasPrefix(c, "GCC: ") || strings.Contains(c, "clang version")
		return !known || strings.Contains(c, "rustc") || strings.Contains(c, "zig")
	})
}

var allocators = []struct {
	name, library string
	functions     []string
}{
	{"jemalloc", "libjemalloc.", []string{"je_malloc", "mallctl", "_rjem_malloc"}},
	{"tcmalloc", "libtcmalloc", []string{"tc_malloc", "TCMallocInternalMalloc"}},
	{"mimalloc", "libmimalloc", []string{"mi_malloc", "mi_heap_malloc"}},
}

// allocator names the malloc implementation and its evidence. Preloaded libraries are not seen.
func (e *executable) allocator() (name, by string) {
	for _, a := range allocators {
		if i := slices.IndexFunc(e.needed, func(l string) bool { return strings.HasPrefix(l, a.library) }); i >= 0 {
			return a.name, "library " + e.needed[i]
		}
		if function := e.names.anyOf(a.functions...); function != "" {
			return a.name, "symbol " + function
		}
	}
	if e.golang != nil {
		return "Go runtime", "Go's build information"
	}
	if e.dynamic {
		return e.dynamicAllocator()
	}
	for _, own := range []struct{ name, function string }{{"glibc", "_int_malloc"}, {"musl", "__libc_malloc_impl"}} {
		if e.names.all[own.function] {
			return own.name, "symbol " + own.function
		}
	}
	if e.names.all != nil {
		return record.Unknown, "no known allocator"
	}
	for _, t := range allocatorTexts {
		if e.found[t] {
			return record.Unknown, fmt.Sprintf("the file holds the text %s, and %s", t, e.names.unread)
		}
	}
	return record.Unknown, e.names.unread
}

func (e *executable) dynamicAllocator() (name, by string) {
	if e.names.exported["malloc"] {
		return "own", "it defines malloc itself"
	}
	asks := ""
	for _, function := range []string{"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "_Znwm", "_Znam"} {
		if e.names.imported[function] {
			asks = function
			break
		}
	}
	if asks == "" {
		return record.Unknown, "it does not ask the C library for memory itself"
	}
	for _, library := range e.needed {
		switch {
		case strings.HasPrefix(library, "libc.so.6"):
			return "glibc", "it imports " + asks + " and needs " + library
		case strings.HasPrefix(library, "libc.musl-"), library == "libc.so" && strings.Contains(e.loader, "ld-musl"):
			return "musl", "it imports " + asks + " and needs " + library
		}
	}
	return record.Unknown, "it imports " + asks + " from an unknown library"
}

package binary

import (
	"debug/elf"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

func (e *executable) static() record.Fact {
	switch {
	case e.loader != "":
		return record.RuledOut("interpreter %s", e.loader)
	case len(e.needed) > 0:
		return record.RuledOut("it needs %s", e.needed[0])
	}
	return record.Shown("it names neither an interpreter nor a library")
}

func (e *executable) pie() record.Fact {
	if e.Type == elf.ET_DYN {
		return record.Shown("the file's type is %s", e.Type)
	}
	return record.RuledOut("the file's type is %s", e.Type)
}

func (e *executable) flagged(tag elf.DynTag, bit uint64) bool {
	values, err := e.DynValue(tag)
	return err == nil && slices.ContainsFunc(values, func(v uint64) bool { return v&bit != 0 })
}

func (e *executable) asksForNow() bool {
	values, err := e.DynValue(elf.DT_BIND_NOW)
	return err == nil && len(values) > 0 || e.flagged(elf.DT_FLAGS, uint64(elf.DF_BIND_NOW)) || e.flagged(elf.DT_FLAGS_1, uint64(elf.DF_1_NOW))
}

func (e *executable) bindNow() record.Fact {
	switch {
	case e.asksForNow():
		return record.Shown("the dynamic section asks for it")
	case !e.dynamic:
		return record.Shown("a static file has no late binding")
	case e.SectionByType(elf.SHT_DYNAMIC) == nil:
		return record.NotShown(noSections)
	}
	return record.RuledOut("the dynamic section does not ask for it")
}

// relro is partial if the table of lazily bound functions is writable, or not known to be read-only.
func (e *executable) relro(now record.Fact) string {
	switch {
	case segment(e.File, elf.PT_GNU_RELRO) == nil:
		return "none"
	case e.asksForNow():
		return "full"
	case now.Is == record.Unknown:
		return record.Unknown
	}
	return "partial"
}

// calls answers whether the file calls some functions of the C library. If the library is linked statically, it may be the only caller.
func (e *executable) calls(what string, accept func(string) bool) record.Fact {
	name := e.names.first(accept)
	switch {
	case name != "" && e.dynamic:
		return record.Shown("symbol %s", name)
	case name != "":
		return record.NotShown("%s exists, but perhaps only the file's C library uses it", name)
	case !e.dynamic && e.names.all == nil:
		return record.NotShown("%s", e.names.unread)
	}
	return record.RuledOut("nothing calls %s", what)
}

func (e *executable) stackProtector() record.Fact {
	byFlags := e.recorded("-fstack-protector")
	byName := e.calls("__stack_chk_fail", func(name string) bool { return strings.HasPrefix(name, "__stack_chk_fail") })
	if byName.Is == record.Unknown && byFlags.Is == record.Yes {
		return byFlags
	}
	return byName
}

func (e *executable) stackClash() record.Fact {
	if e.pureGo() {
		return record.RuledOut("Go checks stack growth itself")
	}
	return e.recorded("-fstack-clash-protection")
}

func (e *executable) fortify() record.Fact {
	return e.calls("a checked function of the C library", func(name string) bool {
		return strings.HasPrefix(name, "__") && strings.HasSuffix(name, "_chk") && name != "__stack_chk"
	})
}

// From elf.h: types of the note and its properties, and their bits.
const (
	noteProperty = 5
	propertyX86  = 0xc0000002
	propertyARM  = 0xc0000000
	bitBranches  = 1 << 0
	bitStack     = 1 << 1
)

// branches reads the property that the linker sets only if every object file has it.
func (e *executable) branches() (targets, stack record.Fact) {
	var property uint32
	switch e.Machine {
	case elf.EM_X86_64, elf.EM_386:
		property = propertyX86
	case elf.EM_AARCH64:
		property = propertyARM
	default:
		f := record.NotShown("this property is unknown for %s", arch(e.Machine))
		return f, f
	}
	if len(e.Sections) == 0 {
		return record.NotShown(noSections), record.NotShown(noSections)
	}
	align := 8
	if e.Class == elf.ELFCLASS32 {
		align = 4
	}
	var bits uint32
	notes(e.File, section(e.File, ".note.gnu.property"), align, func(name string, kind uint32, value []byte) {
		if name == "GNU" && kind == noteProperty {
			bits |= e.property(value, property, align)
		}
	})
	const by = "the GNU property"
	return record.Whether(bits&bitBranches != 0, by), record.Whether(bits&bitStack != 0, by)
}

func (e *executable) property(text []byte, want uint32, align int) uint32 {
	const header = 8
	for len(text) >= header {
		kind, size := e.ByteOrder.Uint32(text), int64(e.ByteOrder.Uint32(text[4:]))
		if size > int64(len(text)-header) {
			return 0
		}
		if kind == want && size == 4 {
			return e.ByteOrder.Uint32(text[header:])
		}
		text = text[min(aligned(header+size, align), int64(len(text))):]
	}
	return 0
}

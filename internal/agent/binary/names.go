package binary

import (
	"debug/elf"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

type names struct {
	// imported symbols come from libraries; exported ones are offered to them. Both survive stripping.
	imported, exported map[string]bool
	// all is the symbol table; nil if it is missing or too large (see unread).
	all    map[string]bool
	unread string
}

func (e *executable) readNames() {
	e.names.imported, e.names.exported = map[string]bool{}, map[string]bool{}
	if _, tooLarge := e.symbols(elf.SHT_DYNSYM); !tooLarge {
		found, _ := e.DynamicSymbols() // Without the table there are none.
		for _, s := range found {
			if s.Section == elf.SHN_UNDEF {
				e.names.imported[s.Name] = true
			} else {
				e.names.exported[s.Name] = true
			}
		}
	}
	there, tooLarge := e.symbols(elf.SHT_SYMTAB)
	switch {
	case tooLarge:
		e.names.unread = "its symbol table exceeds the size limit"
		return
	case !there:
		e.names.unread = "it is stripped"
		return
	}
	found, err := e.Symbols()
	if err != nil {
		e.names.unread = "its symbol table is broken"
		return
	}
	e.names.all = make(map[string]bool, len(found))
	for _, s := range found {
		name, _, _ := strings.Cut(s.Name, "@")
		e.names.all[name] = true
	}
}

// symbols reports whether a symbol table exists, and whether it exceeds the limit.
func (e *executable) symbols(of elf.SectionType) (there, tooLarge bool) {
	s := e.SectionByType(of)
	if s == nil {
		return false, false
	}
	// Use the size of whichever section holds the names.
	var texts uint64
	if int(s.Link) < len(e.Sections) {
		texts = max(e.Sections[s.Link].Size, e.Sections[s.Link].FileSize)
	}
	return true, max(s.Size, s.FileSize) > maxSymbols || texts > maxNames
}

func (n names) first(accept func(string) bool) string {
	found := ""
	for _, table := range []map[string]bool{n.imported, n.exported, n.all} {
		for name := range table {
			if (found == "" || name < found) && accept(name) {
				found = name
			}
		}
	}
	return found
}

// anyOf returns the first of some names found in any table, or empty.
func (n names) anyOf(list ...string) string {
	i := slices.IndexFunc(list, func(name string) bool { return n.imported[name] || n.exported[name] || n.all[name] })
	if i < 0 {
		return ""
	}
	return list[i]
}

// lookUp answers whether the file defines or imports a symbol. A stripped file's own symbols are unknown.
func (n names) lookUp(name string) record.Fact {
	switch {
	case n.imported[name]:
		return record.Shown("the file takes %s from a library", name)
	case n.exported[name] || n.all[name]:
		return record.Shown("the file's symbols have %s", name)
	case n.all == nil:
		return record.NotShown("%s", n.unread)
	}
	return record.RuledOut("the file's symbols do not have %s", name)
}

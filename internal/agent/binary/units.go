package binary

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
)

type unit struct {
	compiler string
	flags    string
}

// readUnits reads compilers from debug information, or else from the section of gcc -frecord-gcc-switches.
func (e *executable) readUnits() {
	e.unitsUnknown = "it has no debug information and no recorded flags"
	if data, why := e.dwarf(); data != nil {
		e.eachUnit(data, func(producer string) { e.units = append(e.units, unitOf(producer)) })
	} else if why != "" {
		e.unitsUnknown = why
	}
	for _, line := range bytes.Split(section(e.File, ".GCC.command.line"), []byte{0}) {
		if len(line) > 0 {
			e.units = append(e.units, unitOf(string(line)))
		}
	}
}

// unitOf parses a producer: "GNU C17 12.2.0 -mtune=generic -O2 -g", or "Go cmd/compile go1.26.1; -N -l; regabi".
func unitOf(producer string) unit {
	if name, flags, ok := strings.Cut(producer, "; "); ok && strings.HasPrefix(name, "Go ") {
		return unit{compiler: name, flags: flags}
	}
	if name, flags, ok := strings.Cut(producer, " -"); ok {
		return unit{compiler: name, flags: "-" + flags}
	}
	return unit{compiler: producer}
}

// dwarf opens the debug sections that name compilers; nil and the reason if they are too large or broken.
func (e *executable) dwarf() (*dwarf.Data, string) {
	var left uint64 = maxDebug
	parts := map[string][]byte{}
	for _, name := range []string{"abbrev", "info", "str", "line_str", "str_offsets", "addr"} {
		s := e.Section(".debug_" + name)
		if s == nil {
			continue
		}
		if s.Size > left || s.FileSize > left {
			return nil, fmt.Sprintf("its debug information exceeds the limit of %d MB", maxDebug>>20)
		}
		left -= s.Size
		if text, err := s.Data(); err == nil {
			parts[name] = text
		}
	}
	if e.Section(".zdebug_info") != nil {
		return nil, "its debug information has an unsupported compression"
	}
	if parts["info"] == nil {
		return nil, ""
	}
	data, err := dwarf.New(parts["abbrev"], nil, nil, parts["info"], nil, nil, nil, parts["str"])
	if err != nil {
		return nil, "its debug information is broken"
	}
	for _, name := range []string{"line_str", "str_offsets", "addr"} {
		if parts[name] != nil && data.AddSection(".debug_"+name, parts[name]) != nil {
			return nil, "its debug information is broken"
		}
	}
	e.debug = parts["info"]
	return data, ""
}

// eachUnit visits each unit's producer. It finds unit ends by their headers, without parsing the contents.
func (e *executable) eachUnit(data *dwarf.Data, visit func(producer string)) {
	r, info := data.Reader(), e.debug
	for offset := int64(0); ; {
		header, length := unitHeader(info[offset:], e.ByteOrder)
		if header == 0 {
			return
		}
		r.Seek(dwarf.Offset(offset + header))
		entry, err := r.Next()
		if err != nil {
			return
		}
		if entry != nil && entry.Tag == dwarf.TagCompileUnit {
			if producer, ok := entry.Val(dwarf.AttrProducer).(string); ok {
				visit(producer)
			}
		}
		offset += length
	}
}

// unitHeader returns the size of the first unit's header and of the whole unit; 0 at the end, or if broken.
func unitHeader(text []byte, order binary.ByteOrder) (header, length int64) {
	// DWARF standard, chapter 7.5.1: the version follows the length, and version 5 adds the unit type.
	const wide, version5 = 0xffffffff, 5
	if len(text) < 24 {
		return 0, 0
	}
	prefix, offsets, rest := int64(4), int64(4), int64(order.Uint32(text))
	if rest == wide {
		prefix, offsets, rest = 12, 8, int64(order.Uint64(text[4:]))
	}
	header, length = prefix+2+offsets+1, prefix+rest
	if order.Uint16(text[prefix:]) >= version5 {
		header++
		switch kind := text[prefix+2]; kind {
		case 4, 5: // Skeleton and split units have an ID.
			header += 8
		case 2, 6: // Type units have a signature and an offset.
			header += 8 + offsets
		}
	}
	if rest < 0 || length <= header || length > int64(len(text)) {
		return 0, 0
	}
	return header, length
}

func (e *executable) compilers() []string {
	var list []string
	for _, u := range e.units {
		list = append(list, clip(u.compiler))
	}
	for _, line := range bytes.Split(section(e.File, ".comment"), []byte{0}) {
		// Use comments only without units: otherwise they also name the C library's compiler.
		if len(line) > 0 && len(e.units) == 0 {
			list = append(list, clip(string(line)))
		}
	}
	return firstFew(list)
}

func (e *executable) flags() []string {
	var list []string
	for _, u := range e.units {
		if u.flags != "" {
			list = append(list, clip(u.flags))
		}
	}
	return firstFew(list)
}

func firstFew(list []string) []string {
	list = util.Distinct(list)
	return slices.Clip(list[:min(len(list), maxTexts)])
}

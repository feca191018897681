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

// unit is one compiled part: who compiled it, and with which flags.
type unit struct {
	compiler string
	// flags are empty where they are not recorded.
	flags string
}

// readUnits reads the compilers from the debug information, or else from what gcc -frecord-gcc-switches has left.
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

// unitOf takes a producer apart: "GNU C17 12.2.0 -mtune=generic -O2 -g". Go writes "Go cmd/compile go1.26.1; -N -l; regabi".
func unitOf(producer string) unit {
	if name, flags, ok := strings.Cut(producer, "; "); ok && strings.HasPrefix(name, "Go ") {
		return unit{compiler: name, flags: flags}
	}
	if name, flags, ok := strings.Cut(producer, " -"); ok {
		return unit{compiler: name, flags: "-" + flags}
	}
	return unit{compiler: producer}
}

// dwarf opens the parts of the debug information that name compilers; nil with the reason if it is too large or broken.
func (e *executable) dwarf() (*dwarf.Data, string) {
	var left uint64 = maxDebug
	parts := map[string][]byte{}
	for _, name := range []string{"abbrev", "info", "str", "line_str", "str_offsets", "addr"} {
		s := e.Section(".debug_" + name)
		if s == nil {
			continue
		}
		if s.Size > left || s.FileSize > left {
			return nil, fmt.Sprintf("its debug information is larger than the %d MB that are read", maxDebug>>20)
		}
		left -= s.Size
		if text, err := s.Data(); err == nil {
			parts[name] = text
		}
	}
	if e.Section(".zdebug_info") != nil {
		return nil, "its debug information is compressed in a form that is not read"
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

// eachUnit visits the producer of each compiled unit. The reader finds the units' ends by their headers, and not by all that lies between.
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

// unitHeader is the size of the header of the unit at the beginning of a text, and of the whole unit; 0 at the end, or if it is broken.
func unitHeader(text []byte, order binary.ByteOrder) (header, length int64) {
	// Sizes by the DWARF standard, chapter 7.5.1: the version follows the length, and version 5 adds the type of the unit.
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
		case 4, 5: // Skeleton and split units have an id.
			header += 8
		case 2, 6: // Units of types have a signature and an offset.
			header += 8 + offsets
		}
	}
	if rest < 0 || length <= header || length > int64(len(text)) {
		return 0, 0
	}
	return header, length
}

// compilers are the names of those that have left them.
func (e *executable) compilers() []string {
	var list []string
	for _, u := range e.units {
		list = append(list, clip(u.compiler))
	}
	for _, line := range bytes.Split(section(e.File, ".comment"), []byte{0}) {
		// Without units the comments are what there is: with them they name the C library's compiler too.
		if len(line) > 0 && len(e.units) == 0 {
			list = append(list, clip(string(line)))
		}
	}
	return firstFew(list)
}

// flags are the distinct sets of recorded flags.
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

package binary

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

const maxSettings = 64

func format(f *elf.File) string {
	words := "ELF 64-bit"
	if f.Class == elf.ELFCLASS32 {
		words = "ELF 32-bit"
	}
	if f.Data == elf.ELFDATA2MSB {
		return words + " big-endian"
	}
	return words + " little-endian"
}

func arch(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_386:
		return "x86"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_RISCV:
		return "RISC-V"
	default:
		return strings.TrimPrefix(m.String(), "EM_")
	}
}

// section returns a section's contents; nil if it is missing or too large.
func section(f *elf.File, name string) []byte {
	s := f.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size > maxSection || s.FileSize > maxSection {
		return nil
	}
	text, err := s.Data()
	if err != nil {
		return nil
	}
	return text
}

func segment(f *elf.File, of elf.ProgType) *elf.Prog {
	for _, p := range f.Progs {
		if p.Type == of {
			return p
		}
	}
	return nil
}

func interpreter(f *elf.File) string {
	p := segment(f, elf.PT_INTERP)
	if p == nil || p.Filesz > maxText {
		return ""
	}
	text := make([]byte, p.Filesz)
	if _, err := p.ReadAt(text, 0); err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\x00")
}

const noteHeader = 12

func notes(f *elf.File, text []byte, align int, visit func(name string, kind uint32, value []byte)) {
	for len(text) >= noteHeader {
		names, values, kind := int64(f.ByteOrder.Uint32(text)), int64(f.ByteOrder.Uint32(text[4:])), f.ByteOrder.Uint32(text[8:])
		begin := aligned(noteHeader+names, align)
		if begin+values > int64(len(text)) {
			return
		}
		visit(strings.TrimRight(string(text[noteHeader:noteHeader+names]), "\x00"), kind, text[begin:begin+values])
		text = text[min(aligned(begin+values, align), int64(len(text))):]
	}
}

func aligned(n int64, to int) int64 { return (n + int64(to) - 1) / int64(to) * int64(to) }

// buildID returns the linker's build ID, or else Go's.
func buildID(f *elf.File) string {
	// From elf.h and the Go linker.
	const gnu, golang, align = 3, 4, 4
	var id string
	notes(f, section(f, ".note.gnu.build-id"), align, func(name string, kind uint32, value []byte) {
		if name == "GNU" && kind == gnu {
			id = hex.EncodeToString(value)
		}
	})
	if id != "" {
		return id
	}
	notes(f, section(f, ".note.go.buildid"), align, func(name string, kind uint32, value []byte) {
		if name == "Go" && kind == golang {
			id = string(value)
		}
	})
	return id
}

func readGo(file io.ReaderAt) *record.GoBuild {
	info, err := buildinfo.Read(file)
	if err != nil {
		return nil
	}
	out := &record.GoBuild{Version: info.GoVersion, Path: info.Path}
	for _, s := range info.Settings[:min(len(info.Settings), maxSettings)] {
		out.Settings = append(out.Settings, clip(s.Key+"="+s.Value))
	}
	return out
}

func setting(g *record.GoBuild, key string) (string, bool) {
	for _, s := range g.Settings {
		if value, ok := strings.CutPrefix(s, key+"="); ok {
			return value, true
		}
	}
	return "", false
}

func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

const chunk = 256 << 10

// Texts that a runtime needs and that survive stripping: environment variables that it reads and files that it writes.
const (
	textGcov = ".gcda\x00"
	textASan = "ASAN_OPTIONS"
	textTSan = "TSAN_OPTIONS"
	textMSan = "MSAN_OPTIONS"
	textUBSn = "UBSAN_OPTIONS"
	textLSan = "LSAN_OPTIONS"
)

// allocatorTexts appear in allocators' messages. They show that an allocator is present, not that it serves malloc.
var allocatorTexts = []string{"mimalloc_", "<jemalloc>", "tcmalloc"}

var sanitizerTexts = []string{textASan, textTSan, textMSan, textUBSn, textLSan}

func scan(file io.Reader) (digest string, found map[string]bool, err error) {
	texts := slices.Concat([]string{textGcov}, sanitizerTexts, allocatorTexts)
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	sum, found, buffer, held := sha256.New(), map[string]bool{}, make([]byte, chunk+longest), 0
	for {
		n, err := io.ReadFull(file, buffer[held:held+chunk])
		sum.Write(buffer[held : held+n])
		window := buffer[:held+n]
		for _, t := range texts {
			if !found[t] && bytes.Contains(window, []byte(t)) {
				found[t] = true
			}
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return hex.EncodeToString(sum.Sum(nil)), found, nil
		case err != nil:
			return "", nil, err
		}
		// A text may span two chunks.
		held = copy(buffer, window[len(window)-longest:])
	}
}

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

// maxSettings is the number of Go's build settings that are listed.
const maxSettings = 64

// format names the form of the file.
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

// arch names the processor as its field does.
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

// section is the text of a section; nil if there is none, or if it is larger than is read.
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

// segment is the first segment of a type; nil if there is none.
func segment(f *elf.File, of elf.ProgType) *elf.Prog {
	for _, p := range f.Progs {
		if p.Type == of {
			return p
		}
	}
	return nil
}

// interpreter is what loads the file; empty if nothing does.
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

// noteHeader is the size of the header of a note.
const noteHeader = 12

// notes visits each note of a text, whose parts are aligned.
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

// buildID is that of the linker, or else Go's.
func buildID(f *elf.File) string {
	// Numbers of elf.h and of the Go linker.
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

// readGo is Go's build information; nil if the file has none.
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

// setting is the value of one of Go's build settings; false if it is not set.
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

// chunk is how much of a file is in memory while it is searched.
const chunk = 256 << 10

// Texts that a runtime must hold to work, and that stay when a file is stripped: the variables that it reads, and the names of the files that it
// writes.
const (
	textGcov = ".gcda\x00"
	textASan = "ASAN_OPTIONS"
	textTSan = "TSAN_OPTIONS"
	textMSan = "MSAN_OPTIONS"
	textUBSn = "UBSAN_OPTIONS"
	textLSan = "LSAN_OPTIONS"
)

// allocatorTexts are in messages of allocators. They show that one is there, and not that it serves malloc.
var allocatorTexts = []string{"mimalloc_", "<jemalloc>", "tcmalloc"}

// sanitizerTexts are those of all sanitizers.
var sanitizerTexts = []string{textASan, textTSan, textMSan, textUBSn, textLSan}

// scan takes the digest of a file and looks for the telling texts.
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
		// A text may lie across two chunks.
		held = copy(buffer, window[len(window)-longest:])
	}
}

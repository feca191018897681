package binary

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"

	"loadstone.dev/loadstone/internal/record"
)

// Limits that keep an observer within its memory. Anything beyond them is unknown.
const (
	maxFile = 512 << 20
	// maxSymbols and maxNames bound the symbol table and its names.
	maxSymbols, maxNames = 2 << 20, 8 << 20
	maxDebug             = 16 << 20
	// maxSection bounds other sections; maxHeaders bounds the number of sections and segments.
	maxSection = 1 << 20
	maxHeaders = 4096
	// maxTexts bounds the listed compilers and sets of flags; maxText bounds each.
	maxTexts, maxText = 16, 1024
)

type executable struct {
	*elf.File
	names names
	units []unit
	// unitsUnknown says why there are no units.
	debug        []byte
	unitsUnknown string
	// found holds the telltale texts in the file; searched is false if it was not searched.
	found    map[string]bool
	searched bool
	needed   []string
	loader   string
	dynamic  bool
	golang   *record.GoBuild
}

// Read examines an executable of the given size, and looks up some symbols.
func Read(file io.ReaderAt, size int64, symbols ...string) (out record.Binary, err error) {
	// The standard library's readers may panic on maliciously broken files.
	defer func() {
		if broken := recover(); broken != nil {
			out, err = record.Binary{}, fmt.Errorf("reading the executable: the file is broken: %v", broken)
		}
	}()
	f, err := open(file, size)
	if err != nil {
		return record.Binary{}, err
	}
	e := &executable{File: f, golang: readGo(file)}
	e.needed, _ = f.ImportedLibraries() // Without a dynamic section there are none.
	e.loader = interpreter(f)
	e.dynamic = e.loader != "" || len(e.needed) > 0
	e.readNames()
	e.readUnits()
	out = record.Binary{
		Bytes: size, Format: format(f), Arch: arch(f.Machine), Interpreter: e.loader, Libraries: e.needed, Go: e.golang, BuildID: buildID(f),
	}
	if size <= maxFile {
		if out.SHA256, e.found, err = scan(io.NewSectionReader(file, 0, size)); err != nil {
			return record.Binary{}, fmt.Errorf("reading the executable: %w", err)
		}
		e.searched = len(f.Sections) > 0
	}
	e.describe(&out)
	for _, name := range symbols {
		out.Symbols = append(out.Symbols, record.Symbol{Name: name, There: e.names.lookUp(name)})
	}
	return out, nil
}

func open(file io.ReaderAt, size int64) (*elf.File, error) {
	var magic [4]byte
	if _, err := file.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("reading the executable: it has %d bytes", size)
	}
	if string(magic[:]) != elf.ELFMAG {
		return nil, errors.New("reading the executable: it is not an ELF file")
	}
	f, err := elf.NewFile(io.NewSectionReader(file, 0, size))
	if err != nil {
		return nil, fmt.Errorf("reading the executable: %w", err)
	}
	if len(f.Sections) > maxHeaders || len(f.Progs) > maxHeaders {
		return nil, fmt.Errorf("reading the executable: it has %d sections and %d segments", len(f.Sections), len(f.Progs))
	}
	return f, nil
}

func (e *executable) describe(out *record.Binary) {
	out.Compilers, out.Flags = e.compilers(), e.flags()
	out.Build = record.Build{
		Optimized: e.optimized(), DebugInfo: e.debugInfo(), Coverage: e.coverage(), Sanitizers: e.sanitizers(),
		Assertions: e.assertions(), Stripped: e.stripped(), PIE: e.pie(), Static: e.static(),
	}
	out.BindNow = e.bindNow()
	out.RELRO = e.relro(out.BindNow)
	out.StackProtector, out.StackClash, out.Fortify = e.stackProtector(), e.stackClash(), e.fortify()
	out.BranchTargets, out.ShadowStack = e.branches()
	out.Allocator, out.AllocatorBy = e.allocator()
}

// Open examines the executable at a path, and looks up some symbols.
func Open(path string, symbols ...string) (record.Binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return record.Binary{}, fmt.Errorf("opening the executable: %w", err)
	}
	defer func() { _ = f.Close() }() // Nothing is written.
	info, err := f.Stat()
	if err != nil {
		return record.Binary{}, fmt.Errorf("reading the executable's size: %w", err)
	}
	if !info.Mode().IsRegular() {
		return record.Binary{}, fmt.Errorf("reading the executable: %s is not a file", path)
	}
	return Read(f, info.Size(), symbols...)
}

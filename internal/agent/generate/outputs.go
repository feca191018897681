package generate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

// writeFiles writes what a tool needs to run a cell.
func (g *Generator) writeFiles(t tool.Tool, share record.Cell, target tool.Target) error {
	for _, f := range t.Files(share, target) {
		if err := os.WriteFile(filepath.Join(g.config.Dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return fmt.Errorf("writing a file of the tool: %w", err)
		}
	}
	return nil
}

// collect appends the files that a tool wrote to its raw output, and removes them. A file that is not there is left to the parser
// to miss.
func (g *Generator) collect(t tool.Tool, share record.Cell, raw *os.File) error {
	for _, name := range t.Outputs(share) {
		if err := appendFile(raw, filepath.Join(g.config.Dir, name), tool.OutputHeader(name)); err != nil {
			return fmt.Errorf("keeping %s: %w", name, err)
		}
	}
	return nil
}

func appendFile(raw *os.File, path, header string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // The file is only read.
	if _, err := raw.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if _, err := raw.WriteString(header); err != nil {
		return err
	}
	if _, err := io.Copy(raw, f); err != nil {
		return err
	}
	return os.Remove(path)
}

// discard removes the files that a tool wrote, so that a later run's are not mistaken for them. What it was given stays for that run.
func (g *Generator) discard(t tool.Tool, share record.Cell, target tool.Target) {
	given := t.Files(share, target)
	for _, name := range t.Outputs(share) {
		if slices.ContainsFunc(given, func(f tool.File) bool { return f.Name == name }) {
			continue
		}
		_ = os.Remove(filepath.Join(g.config.Dir, name)) // What is not there needs no removal; what stays is overwritten.
	}
}

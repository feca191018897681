package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func (g *Generator) writeFiles(t tool.Tool, share record.Cell, target tool.Target) error {
	for _, f := range t.Files(share, target) {
		if err := os.WriteFile(filepath.Join(g.config.Dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return fmt.Errorf("writing a file of the tool: %w", err)
		}
	}
	return nil
}

// collect appends a tool's files to its raw output, and removes them. The parser reports missing files.
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

// discard removes a tool's output files, so that a later run does not read them. Its input files stay.
func (g *Generator) discard(t tool.Tool, share record.Cell, target tool.Target) {
	given := t.Files(share, target)
	for _, name := range t.Outputs(share) {
		if slices.ContainsFunc(given, func(f tool.File) bool { return f.Name == name }) {
			continue
		}
		_ = os.Remove(filepath.Join(g.config.Dir, name)) // Missing files need no removal; remaining ones are overwritten.
	}
}

// ScriptsDir returns an agent's folder for users' scripts.
func ScriptsDir(dir string) string { return filepath.Join(dir, "scripts") }

func (g *Generator) writeScripts(c protocol.Check) error {
	for _, s := range c.Scripts {
		i := slices.IndexFunc(c.Cells, func(cell record.Cell) bool { return cell.Load == s.Load && cell.Script != nil })
		if i < 0 || !protocol.PlainName(s.Load) || !protocol.PlainName(c.Cells[i].Script.Key) {
			return fmt.Errorf("loads[%s].script: no cell of this trial has such a script", s.Load)
		}
		path := tool.ScriptPath(g.scripts, c.Cells[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("loads[%s].script: making its folder: %w", s.Load, err)
		}
		if err := os.WriteFile(path, s.Text, 0o600); err != nil {
			return fmt.Errorf("loads[%s].script: writing it: %w", s.Load, err)
		}
	}
	return nil
}

// addScript records the script of each load once, as it is after the last cell: a script may modify files.
func (c *conclusion) addScript(r *cellRun) {
	path := tool.ScriptPath(c.generator.scripts, r.slot.Cell)
	if path == "" || slices.ContainsFunc(c.result.Scripts, func(s record.ScriptRun) bool { return s.Load == r.slot.Cell.Load }) {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		r.unknown = append(r.unknown, "The script of the load is unknown: "+err.Error()+".")
		return
	}
	sum := sha256.Sum256(text)
	c.result.Scripts = append(c.result.Scripts, record.ScriptRun{Load: r.slot.Cell.Load, SHA256: hex.EncodeToString(sum[:])})
}

package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// ScriptsDir is where an agent keeps the users' scripts, below its own folder.
func ScriptsDir(dir string) string { return filepath.Join(dir, "scripts") }

// writeScripts writes the scripts that came with a check to where the tools read them.
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

// addScript notes the script of a cell's load, once a load: as it is after the last cell, since a script may write files itself.
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

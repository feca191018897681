package k6

import (
	"regexp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const program = "k6"

// Tool is k6.
type Tool struct {
	// Scripts is the folder under which users' scripts lie, as tool.ScriptPath has it.
	Scripts string
}

var _ tool.Tool = Tool{}

// Args implements tool.Tool. k6 opens no port, asks nobody for news, reports its use to nobody and shows no progress; a script sees no
// environment but LOADSTONE_TARGET, the server as host:port, LOADSTONE_PURPOSE, and LOADSTONE_SCHEME, which is https of a server that speaks TLS and
// not there otherwise.
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	args := []string{
		program, "run", "--quiet", "--no-color", "--no-usage-report", "--address", "", "--include-system-env-vars=false",
		"-e", "LOADSTONE_TARGET=" + target.Address, "-e", "LOADSTONE_PURPOSE=" + string(purpose),
	}
	if target.TLS {
		args = append(args, "-e", "LOADSTONE_SCHEME=https")
	}
	return append(args, scriptName(cell))
}

// Waits implements tool.Tool: k6 has no place in which a script of the whole test could wait.
func (Tool) Waits() bool { return false }

// Outputs implements tool.Tool.
func (Tool) Outputs(record.Cell) []string { return nil }

// VersionArgs implements tool.Tool.
func (Tool) VersionArgs() []string { return []string{program, "version"} }

var versionLine = regexp.MustCompile(`^k6 v?(\S+)`)

// ParseVersion implements tool.Tool.
func (Tool) ParseVersion(raw []byte) string {
	if m := versionLine.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return "unknown"
}

// scriptName is the name of the wrapper of a cell, such as "sweep-100.k6.js".
func scriptName(cell record.Cell) string { return record.PointOf(cell).Name() + ".k6.js" }

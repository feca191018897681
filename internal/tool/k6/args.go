package k6

import (
	"regexp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const program = "k6"

// Tool is k6.
type Tool struct {
	// Scripts is the folder of users' scripts, as for tool.ScriptPath.
	Scripts string
}

var _ tool.Tool = Tool{}

// Args implements tool.Tool. k6 opens no port, reports no usage, checks for no updates and shows no progress. A script's environment has only
// LOADSTONE_TARGET (host:port), LOADSTONE_PURPOSE, and for a TLS server LOADSTONE_SCHEME=https.
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

// Waits implements tool.Tool: k6 has no hook where a test-wide script could wait.
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

// scriptName names a cell's wrapper, such as "sweep-100.k6.js".
func scriptName(cell record.Cell) string { return record.PointOf(cell).Name() + ".k6.js" }

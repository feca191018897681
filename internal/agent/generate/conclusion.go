package generate

import (
	"context"
	"os"
	"strings"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// conclusion is what a generator makes of its cells after the last cell.
type conclusion struct {
	generator *Generator
	result    record.GeneratorResult
	// versions are those of the tools that were asked, and used names them in their order.
	versions map[record.Tool]string
	used     []string
	// names are those of the raw outputs.
	names []string
}

func (g *Generator) conclude() *conclusion {
	c := &conclusion{generator: g, versions: map[record.Tool]string{}}
	c.result.Environment = kernel.Environment(os.DirFS("/"), "")
	c.result.Environment.Node, c.result.Environment.AgentVersion = g.config.Node, util.Version
	if ports, err := g.machine.ports(); err == nil { // The check before the trial has told why it is not known.
		c.result.LocalPorts = ports
	}
	if g.config.Index == 0 {
		g.mu.Lock()
		c.result.Responses, c.result.Encryption = g.responses, g.encryption
		g.mu.Unlock()
	}
	return c
}

// add parses the output of a cell.
func (c *conclusion) add(ctx context.Context, r *cellRun) {
	kind := r.slot.Cell.Tool
	if r.tool != nil && c.versions[kind] == "" {
		c.versions[kind] = toolVersion(ctx, c.generator.config.Dir, r.tool)
		c.used = append(c.used, string(kind)+" "+c.versions[kind])
	}
	if r.run.Raw != "" {
		c.names = append(c.names, r.run.Raw)
	}
	c.addScript(r)
	c.generator.parse(r)
	if r.run.Measurement != nil {
		r.run.Measurement.ToolVersion = c.versions[kind]
	}
}

// finish is the record, and the names of the raw outputs.
func (c *conclusion) finish() (record.GeneratorResult, []string) {
	c.result.Environment.ToolVersion = strings.Join(c.used, ", ")
	return c.result, c.names
}

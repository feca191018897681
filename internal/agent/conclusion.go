package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/version"
)

// conclusion is what a generator makes of its attempts after the last cell.
type conclusion struct {
	generator *Generator
	result    record.GeneratorResult
	// versions are those of the tools that were asked, and used names them in their order.
	versions map[v1alpha1.Tool]string
	used     []string
	// names are those of the raw outputs.
	names []string
}

func (g *Generator) conclude() *conclusion {
	c := &conclusion{generator: g, versions: map[v1alpha1.Tool]string{}}
	c.result.Environment = kernel.Environment(os.DirFS("/"), "")
	c.result.Environment.Node, c.result.Environment.AgentVersion = g.config.Node, version.Version
	if ports, err := g.machine.ports(); err == nil { // The check before the trial has told why it is not known.
		c.result.LocalPorts = ports
	}
	if g.config.Index == 0 {
		g.mu.Lock()
		c.result.Responses, c.result.BesideResponses = g.responses, g.beside
		g.mu.Unlock()
	}
	return c
}

// add parses the output of an attempt.
func (c *conclusion) add(ctx context.Context, a *attempt) {
	kind := a.slot.Cell.Tool
	if a.tool != nil && c.versions[kind] == "" {
		c.versions[kind] = toolVersion(ctx, c.generator.config.Dir, a.tool)
		c.used = append(c.used, string(kind)+" "+c.versions[kind])
	}
	if a.run.Raw != "" {
		c.names = append(c.names, a.run.Raw)
	}
	c.addScript(a)
	c.generator.parse(a)
	if a.run.Measurement != nil {
		a.run.Measurement.ToolVersion = c.versions[kind]
	}
}

// write writes the record and names all files.
func (c *conclusion) write() ([]string, error) {
	c.result.Environment.ToolVersion = strings.Join(c.used, ", ")
	if err := writeJSON(filepath.Join(c.generator.config.Dir, record.ResultFile), c.result); err != nil {
		return nil, err
	}
	return append(c.names, record.ResultFile), nil
}

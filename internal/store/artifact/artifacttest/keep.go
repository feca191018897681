// Package artifacttest stores simulated runs.
package artifacttest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// Keep stores a simulated run like the controllers: records, each trial's manifest, then the run's. It updates d's manifests accordingly.
func Keep(ctx context.Context, shelf artifact.Writer, prefix string, d record.RunData) error {
	var failed error
	write := func(key string, v any) record.Artifact {
		a, err := shelf.PutJSON(ctx, key, v)
		failed = errors.Join(failed, err)
		return a
	}
	for i := range d.Trials {
		m := &d.Trials[i].Manifest
		at := artifact.TrialPrefix(prefix, m.Name, m.Attempt)
		server := write(at+"/server-0/result.json", d.Trials[i].Servers[0])
		server.Member, server.Name = record.MemberServer(0), record.ResultFile
		m.Artifacts = []record.Artifact{server, {Member: "generator-0", Name: "sweep-10.wrk.txt", Key: "never/read"}}
		// The last generator comes first: the order of artifacts is not guaranteed.
		for k, g := range slices.Backward(d.Trials[i].Generators) {
			if g.Cells == nil {
				continue
			}
			member := fmt.Sprintf("generator-%d", k)
			generator := write(at+"/"+member+"/result.json", g)
			generator.Member, generator.Name = member, record.ResultFile
			m.Artifacts = append(m.Artifacts, generator)
		}
		manifest := write(artifact.ManifestKey(at), m)
		for k := range d.Manifest.Trials {
			if d.Manifest.Trials[k].Name == m.Name {
				d.Manifest.Trials[k].Manifest = &manifest
			}
		}
	}
	write(artifact.ManifestKey(prefix), d.Manifest)
	return failed
}

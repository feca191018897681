package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const readmeFile = chartDir + "/README.md"

// readmeHead is what the chart's page says before its values.
const readmeHead = `# Loadstone's chart

Installs the operator, and with it Argo Workflows' controller and a MinIO server, unless you bring your own. One installation serves a whole
cluster. What Loadstone is, and how its images are built and pushed, stands in the [README of the project](../../README.md).

    helm install loadstone charts/loadstone --namespace loadstone-system --create-namespace \
      --set images.registry=YOUR_REGISTRY/loadstone --set-string images.tag=YOUR_TAG --set-string images.minio.tag=YOUR_TAG

How to upgrade and to uninstall it is said in [installation](../../docs/installation.md).

## Values

A key that the chart does not know is refused with its name. A list or a map replaces the default as a whole, as Helm has it for lists.

| value | what it is | default |
|---|---|---|
`

// readmeTail is what it says after them.
const readmeTail = `
## Left out, and why

What charts often have and this one has not. What a value cannot do, a tool that changes what Helm renders can (` + "`--post-renderer`" + `, Kustomize).

| value | why there is none |
|---|---|
| ` + "`replicas`, autoscaling, `podDisruptionBudget`" + ` | One operator, one Argo controller and one MinIO work at a time, and a run that measures goes on without them. A budget for a single pod either allows what it should prevent or lets no node be drained. |
| ` + "`strategy`" + ` | Two operators at once would only wait for each other's lease, and two of Argo's controllers would act at once: Recreate. |
| ` + "`topologySpreadConstraints`" + ` | They spread the pods of one kind, of which there is one. |
| ` + "`containerSecurityContext`" + ` | Pod Security restricted and a read-only root leave it nothing to choose. ` + "`podSecurityContext`" + ` has users, groups and SELinux labels. |
| ` + "`hostNetwork`, `hostPID`, `dnsPolicy`" + ` | No pod of the installation needs its host; Pod Security restricted forbids the first two. |
| ` + "`runtimeClassName`, `schedulerName`" + ` | A pod of the installation is an ordinary one; what measured pods need is a matter of runs. |
| ` + "`ui.ingress`, a login of the pages" + ` | Who may see what is measured is known to the proxy that the cluster has for such questions: it stands before the Service ` + "`loadstone-ui`" + `, with an Ingress of its own. |
| ` + "`global.imageRegistry`" + ` | ` + "`images.registry`" + ` is the one registry of all images, with the path below it; a parent chart sets ` + "`loadstone.images.registry`" + `. |
| ` + "`nameOverride`, `fullnameOverride`" + ` | There is one installation in a cluster, and commands and policies know its objects by their names. |
| ` + "`rbac.create`, `serviceAccount.create`, `serviceAccount.name`" + ` | Nothing works without these accounts and rights. ` + "`runs.namespaces`" + ` confines them to some namespaces. |
| ` + "`s3.pathStyle`" + ` | Follows from the endpoint: at Amazon, Google and Alibaba the bucket is a part of the host's name, elsewhere of the path. |
| ` + "`crds.install`" + ` | The definitions and the operator are of one version: upgraded with it, and kept at its end. |
| ` + "`revisionHistoryLimit`, `extraObjects`" + ` | Helm keeps the history of a release, and applies what is beside the chart as well from a chart of yours. |
| ` + "`probes`, `lifecycle`, `terminationGracePeriodSeconds`" + ` | They belong to the programs and not to a cluster. |
`

// readme is the chart's page, made from the comments of its values.
func (r repository) readme() ([]byte, error) {
	body, err := os.ReadFile(r.path(chartDir, "values.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	rows, err := valueRows("", doc.Content[0])
	if err != nil {
		return nil, err
	}
	return []byte(readmeHead + strings.Join(rows, "") + readmeTail), nil
}

// valueRows are the lines of a table with the values below a path. A map is a value as a whole if nothing is said of what is in it.
func valueRows(path string, m *yaml.Node) ([]string, error) {
	var rows []string
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name := strings.TrimPrefix(path+"."+key.Value, ".")
		said := comment(key)
		if said == "" {
			return nil, fmt.Errorf("%s says nothing of %s: give it a comment", filepath.Join(chartDir, "values.yaml"), name)
		}
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && comment(value.Content[0]) != "" {
			below, err := valueRows(name, value)
			if err != nil {
				return nil, err
			}
			rows = append(rows, fmt.Sprintf("| **%s** | %s | |\n", name, said))
			rows = append(rows, below...)
			continue
		}
		is, err := inline(value)
		if err != nil {
			return nil, err
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | `%s` |\n", name, said, is))
	}
	return rows, nil
}

// comment is what the lines just before a key say, as one line.
func comment(key *yaml.Node) string {
	block := key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:]
	var words []string
	for line := range strings.Lines(block) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

// inline is a value on one line.
func inline(value *yaml.Node) (string, error) {
	flow := bare(value)
	body, err := yaml.Marshal(flow)
	if err != nil {
		return "", fmt.Errorf("writing a value: %w", err)
	}
	return strings.Join(strings.Fields(string(body)), " "), nil
}

// bare is a copy of a value without comments, in the style of one line.
func bare(n *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style | yaml.FlowStyle}
	if n.Kind == yaml.ScalarNode {
		out.Style = n.Style
	}
	for _, c := range n.Content {
		out.Content = append(out.Content, bare(c))
	}
	return out
}

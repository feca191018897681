package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ways are the files of the operator that make HTTP transports and clients. Only outbound may reach addresses that users name.
var ways = []string{
	"cmd/manager/run.go",               // The agents of trials, by the addresses of their pods.
	"controllers/agents/agents.go",     // Likewise.
	"controllers/argo/endpoint.go",     // The operator that leads, by the address of its pod.
	"controllers/outbound/outbound.go", // Everything that users name.
	"internal/client/kube/forward.go",  // The API server.
	"internal/store/artifact/role.go",  // The STS of the installation's object store.
	"internal/store/artifact/store.go", // The installation's object store.
}

func TestOperatorReachesUsersAddressesOnlyThroughOutbound(t *testing.T) {
	c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "../../cmd/manager")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for file := range strings.FieldsSeq(string(out)) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		if makesWay(t, file) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, ways) {
		t.Errorf("HTTP clients or transports are made in\n%s\nwant only\n%s\nSend requests to addresses that users name through controllers/outbound",
			strings.Join(found, "\n"), strings.Join(ways, "\n"))
	}
}

// makesWay reports whether a file uses the parts of net/http, minio and go-containerregistry that open connections.
func makesWay(t *testing.T, file string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	opens := map[string][]string{
		"net/http":                     {"Transport", "DefaultTransport", "DefaultClient", "Get", "Head", "Post", "PostForm"},
		"github.com/minio/minio-go/v7": {"DefaultTransport"},
		"github.com/google/go-containerregistry/pkg/v1/remote": {"DefaultTransport"},
	}
	of := map[string][]string{}
	for _, i := range parsed.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(strings.TrimSuffix(path, "/v7"))
		name = strings.TrimSuffix(name, "-go")
		if i.Name != nil {
			name = i.Name.Name
		}
		of[name] = opens[path]
	}
	makes := false
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Client" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" && of["http"] != nil {
					makes = true
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(of[x.Name], n.Sel.Name) {
				makes = true
			}
		}
		return true
	})
	return makes
}

package house

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that one import would add to loadstone, and why they are not worth their size.
var heavy = map[string]string{
	"gonum.org/v1/gonum/mat":      "two MB of solvers come whole with it, or with gonum's distributions",
	"k8s.io/client-go/kubernetes": "a client for each kind of Kubernetes, where one for all is there",
	"google.golang.org/grpc":      "nobody here speaks it",
	"k8s.io/kubectl/pkg/cmd":      "loadstone is a plugin of kubectl, and not another one",
}

// The program's size depends on Go's version; make bench measures it.
func TestLoadstoneCarriesNoHeavyPackage(t *testing.T) {
	c := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"cmd/loadstone")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if len(all) < 100 {
		t.Fatalf("it carries %q", all)
	}
	for name, why := range heavy {
		if slices.Contains(all, name) {
			t.Errorf("loadstone carries %s: %s", name, why)
		}
	}
}

package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
)

// The parent of a worker ends after the folders are listed and before its turn. The worker is a member from the next reading on.
func TestTreeFindsAProcessWhoseParentEnded(t *testing.T) {
	stat := func(pid, parent int) string {
		return fmt.Sprintf("%d (worker) S %d 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 600 1000 5", pid, parent)
	}
	dir := kerneltest.Proc(t, map[string]string{"10000/stat": stat(10000, 9999), "5/stat": stat(5, 2), "2/stat": stat(2, 0)})
	tree := NewTree(Proc(dir), 7)
	read := func() []int {
		t.Helper()
		members, err := tree.Read()
		if err != nil {
			t.Fatal(err)
		}
		var pids []int
		for _, p := range members {
			pids = append(pids, p.PID)
		}
		slices.Sort(pids)
		return pids
	}
	if got := read(); !slices.Equal(got, []int{7, 8}) {
		t.Fatalf("the members are %v", got)
	}
	kerneltest.Rewrite(t, dir, map[string]string{"10000/stat": stat(10000, 7)}) // A subreaper adopts it.
	if err := os.RemoveAll(filepath.Join(dir, "5")); err != nil {
		t.Fatal(err)
	}
	if got := read(); !slices.Equal(got, []int{7, 8, 10000}) {
		t.Errorf("the members are %v, want the adopted one, too", got)
	}
}

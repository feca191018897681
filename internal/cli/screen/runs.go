package screen

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Run is a run in a list of runs.
type Run struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	State     string    `json:"state,omitempty"`
	Progress  string    `json:"progress,omitempty"`
	Left      string    `json:"left,omitempty"`
	Created   time.Time `json:"created"`
	Verdict   string    `json:"verdict,omitempty"`
	// Folder holds the results of a run on this machine.
	Folder string `json:"folder,omitempty"`
}

// NewestFirst orders runs as lists show them.
func NewestFirst(a, b Run) int {
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Runs prints a table of runs, all of which are on a cluster or all on this machine.
func Runs(out io.Writer, runs []Run, now time.Time) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(out, "there is no run")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	where := "NAMESPACE"
	if runs[0].Folder != "" {
		where = "FOLDER"
	}
	fmt.Fprintf(w, "%s\tNAME\tSTATE\tPROGRESS\tLEFT\tAGE\tVERDICT\n", where)
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(r.Namespace, r.Folder), r.Name, r.State, cmp.Or(r.Progress, "-"), cmp.Or(r.Left, "-"),
			duration.HumanDuration(now.Sub(r.Created)), cmp.Or(r.Verdict, "-"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing runs: %w", err)
	}
	return nil
}

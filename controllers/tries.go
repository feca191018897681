package controllers

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// most is how many processes may die over one analysis or report.
const most = 5

var ErrTooMany = errors.New("processes died while analyzing the run")

// Tries counts the attempts of one operator process at interim analyses, scans and reports, which all read a whole run. The zero value is ready; not safe for concurrent use.
type Tries struct{ begun map[types.UID]bool }

// Begin records once in the run's status that this process starts to analyze the run; ErrTooMany if too many processes died over it. It
// records nothing if the report was already created and only has to be stored.
func (t *Tries) Begin(ctx context.Context, c client.StatusClient, store artifact.Bucket, run *v1alpha1.BenchmarkRun, prefix string) error {
	if t.begun[run.UID] {
		return nil
	}
	switch _, err := store.Find(ctx, artifact.MadeKey(prefix)); {
	case err == nil:
		return nil
	case !artifact.Unreadable(err) && !errors.Is(err, artifact.ErrDenied): // A key that may not list hears of none that is missing.
		return err
	case run.Status.Report.Tries >= most:
		return fmt.Errorf("%d %w, probably out of memory: raise the chart values operator.goMemoryLimit and operator.resources, or split the run. Its stored results can be reported elsewhere with loadstone report --again",
			most, ErrTooMany)
	}
	if err := writeTries(ctx, c, run, run.Status.Report.Tries+1); err != nil {
		return err
	}
	if t.begun == nil {
		t.begun = map[types.UID]bool{}
	}
	t.begun[run.UID] = true
	return nil
}

// Done makes the next analysis of a run count anew. The caller resets the count in the status.
func (t *Tries) Done(run types.UID) { delete(t.begun, run) }

// Survived resets the count after a failure that killed no process, such as an unavailable store.
func (t *Tries) Survived(ctx context.Context, c client.StatusClient, run *v1alpha1.BenchmarkRun) error {
	if run.Status.Report.Tries == 0 {
		return nil
	}
	return writeTries(ctx, c, run, 0)
}

func writeTries(ctx context.Context, c client.StatusClient, run *v1alpha1.BenchmarkRun, tries int32) error {
	before := run.DeepCopy()
	run.Status.Report.Tries = tries
	if err := c.Status().Patch(ctx, run, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("counting the tries of a report: %w", err)
	}
	return nil
}

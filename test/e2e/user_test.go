package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// usersRun is a finished run in the users' namespace, with its objects.
type usersRun struct {
	run    *v1alpha1.BenchmarkRun
	trials []v1alpha1.Trial
	// made is true if the tests created the run, because the user had none.
	made bool
}

// findUsersRun finds the run of `make demo-cluster`, or creates a short one with its name and waits for its end.
func findUsersRun(ctx context.Context) (*usersRun, error) {
	u := &usersRun{run: small("quick")}
	u.run.Namespace = users
	switch err := loadstone.Client.Create(ctx, u.run); {
	case err == nil:
		u.made = true
	case !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("making a run for the user: %w", err)
	}
	err := u.settle(ctx)
	if err == nil {
		u.trials, err = u.read(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, after(u.remove))
	}
	return u, nil
}

func (u *usersRun) settle(ctx context.Context) error {
	for {
		if err := loadstone.Client.Get(ctx, client.ObjectKeyFromObject(u.run), u.run); err != nil {
			return fmt.Errorf("reading the user's run: %w", err)
		}
		if ended(u.run) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the run %s/%s has not ended after %s, and the tests cannot measure beside it: wait for it or delete it", u.run.Namespace, u.run.Name, setup)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// read reads the run, with its trials and its report.
func (u *usersRun) read(ctx context.Context) ([]v1alpha1.Trial, error) {
	var list v1alpha1.TrialList
	err := errors.Join(
		loadstone.Client.Get(ctx, client.ObjectKeyFromObject(u.run), u.run),
		loadstone.Client.List(ctx, &list, client.InNamespace(users), client.MatchingLabels{v1alpha1.LabelRunUID: string(u.run.UID)}),
	)
	if err != nil {
		return nil, fmt.Errorf("reading the user's run: %w", err)
	}
	if ref := u.run.Status.Report; ref.URI != "" {
		_, key, _ := strings.Cut(strings.TrimPrefix(ref.URI, "s3://"), "/")
		if _, err := loadstone.Store.Get(ctx, key, ref.SHA256); err != nil {
			return nil, fmt.Errorf("reading the report of the user's run %s/%s: %w", u.run.Namespace, u.run.Name, err)
		}
	}
	return list.Items, nil
}

// untouched lists changes of the user's run since before the tests.
func (u *usersRun) untouched(ctx context.Context) error {
	was := u.run.DeepCopy()
	trials, err := u.read(ctx)
	if err != nil {
		return fmt.Errorf("after the tests: %w", err)
	}
	if diff := cmp.Diff(facts(was, u.trials), facts(u.run, trials)); diff != "" {
		return fmt.Errorf("the tests have changed the user's run %s/%s (-before +after):\n%s", was.Namespace, was.Name, diff)
	}
	return nil
}

// fact is what a user sees of an object.
type fact struct {
	UID          types.UID
	Spec, Status any
}

func facts(run *v1alpha1.BenchmarkRun, trials []v1alpha1.Trial) map[string]fact {
	all := map[string]fact{run.Name: {run.UID, run.Spec, run.Status}}
	for _, t := range trials {
		all[t.Name] = fact{t.UID, t.Spec, t.Status}
	}
	return all
}

// remove deletes the run if the tests have made it.
func (u *usersRun) remove(ctx context.Context) error {
	if !u.made {
		return nil
	}
	// Never delete another run with this name: it would be the user's.
	if err := loadstone.Client.Delete(ctx, u.run, client.Preconditions{UID: &u.run.UID}); err != nil {
		return fmt.Errorf("deleting the run that was made for the user: %w", err)
	}
	return gone(ctx, u.run)
}

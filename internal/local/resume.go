package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

func (r *Run) remember() error {
	s := folders.State{
		Name: r.facts.Name, UID: r.uid, Spec: r.spec, Plan: r.facts.Plan.Hash(), Operator: r.options.Version, Seats: r.seats.Sentence(),
		Started: r.started, LedNanos: time.Since(r.facts.Started).Nanoseconds(), Interim: r.facts.Interim, Scan: r.facts.Scan, Tries: r.tries, Resumed: r.resumed, Reported: r.reported,
	}
	for _, t := range r.facts.Trials {
		s.Trials = append(s.Trials, folders.Trial{
			Name: t.Name, Started: t.Started, Ended: t.Ended, Stored: t.Stored, Reason: t.Reason, Message: t.Message, Nodes: t.Nodes,
		})
	}
	return folders.Write(r.folder.URI(r.prefix), s)
}

func (r *Run) triesOf(trial string) *folders.Tries {
	own, ok := r.tries[trial]
	if !ok {
		if r.tries == nil {
			r.tries = map[string]*folders.Tries{}
		}
		own = &folders.Tries{}
		r.tries[trial] = own
	}
	return own
}

// recall reads the progress of the run to resume. Without any, everything remains to be done.
func (r *Run) recall(context.Context) (err error) {
	if r.spec, err = json.Marshal(r.options.Run.Spec); err != nil {
		return fmt.Errorf("encoding the spec: %w", err)
	}
	if !r.options.Resume {
		return nil
	}
	dir, err := filepath.Abs(r.options.Out)
	if err != nil {
		return refuse(v1alpha1.ReasonInvalidSpec, err)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := r.claimFolder(dir); err != nil {
		return err
	}
	if r.recalled, err = folders.Read(dir); err != nil {
		return refuse(v1alpha1.ReasonInvalidSpec, err)
	}
	if r.recalled == nil {
		return nil
	}
	r.uid = r.recalled.UID
	return refuse(v1alpha1.ReasonInvalidSpec, errors.Join(r.sameQuestion(dir), folders.RemoveTemporary(dir)))
}

func (r *Run) claimFolder(dir string) error {
	if r.claim != nil {
		return nil
	}
	own, err := folders.ClaimRun(dir)
	if err == nil && own == nil {
		err = fmt.Errorf("another loadstone run is at work in the folder %s: wait for its end, or choose another folder with --out", dir)
	}
	if err == nil {
		err = own.ClaimProcesses(folders.Work(dir))
	}
	if err != nil {
		own.End()
		return &FolderError{err}
	}
	r.claim = own
	return nil
}

// sameQuestion returns a sentence if the file differs from the run to resume.
func (r *Run) sameQuestion(dir string) error {
	var then, now bytes.Buffer
	if err := errors.Join(json.Compact(&then, r.recalled.Spec), json.Compact(&now, r.spec)); err != nil {
		return fmt.Errorf("comparing the file with the run in %s: %w", dir, err)
	}
	if r.recalled.Name != r.options.Run.Name || !bytes.Equal(then.Bytes(), now.Bytes()) {
		return fmt.Errorf("the file asks for something else than the run %s in %s, which cannot be resumed with it: restore the file, or begin a new run without --resume", r.recalled.Name, dir)
	}
	return nil
}

// restore keeps the complete blocks. An incomplete block is measured again as a whole, since only trials close in time are compared.
func (r *Run) restore(ctx context.Context) error {
	s := r.recalled
	if s == nil {
		return nil
	}
	if s.Plan != r.facts.Plan.Hash() {
		if uses := sweep.BodyUses(r.options.Run.Spec.Loads); len(uses) > 0 && s.Operator == r.options.Version {
			return refuse(v1alpha1.ReasonInvalidSpec, fmt.Errorf("%s or another body has changed since the run began: restore it, or begin a new run without --resume", uses[0].Field))
		}
		return refuse(v1alpha1.ReasonInvalidSpec, fmt.Errorf("the run in %s was planned by version %s of Loadstone, and version %s plans it differently: resume it with the former, or begin a new run", r.options.Out, s.Operator, r.options.Version))
	}
	if own := r.seats.Sentence(); s.Seats != own {
		return refuse(v1alpha1.ReasonInvalidSpec, fmt.Errorf("the run in %s cannot be resumed on other CPUs: there %s; here %s: let Loadstone use the same CPUs again, or begin a new run", r.options.Out, s.Seats, own))
	}
	if err := r.sameScripts(ctx); err != nil {
		return refuse(v1alpha1.ReasonInvalidSpec, err)
	}
	r.started, r.led, r.resumed, r.reported = s.Started, time.Duration(s.LedNanos), s.Resumed, s.Reported
	r.facts.Interim, r.facts.Scan, r.tries = s.Interim, s.Scan, s.Tries
	r.takeOver(s.Trials)
	return nil
}

// sameScripts returns a sentence if a script has changed since the run began.
func (r *Run) sameScripts(ctx context.Context) error {
	for _, own := range r.scripts {
		frozen, err := r.folder.Get(ctx, artifact.ScriptKey(r.prefix, own.Load), "")
		if errors.Is(err, artifact.ErrNotFound) {
			continue // The run was killed before it began.
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(frozen, own.Text) {
			return fmt.Errorf("loads[%s].script has changed since the run began: restore it, or begin a new run without --resume", own.Load)
		}
	}
	return nil
}

// takeOver keeps trials of complete blocks as they ended. For others it keeps only the attempts.
func (r *Run) takeOver(before []folders.Trial) {
	var all conduct.Trials
	for _, line := range r.begunLines(before) {
		t := conduct.Trial{PlannedTrial: line, Work: kinds.Planned(r.facts.Plan.Plan, line)}
		was := before[slices.IndexFunc(before, func(s folders.Trial) bool { return s.Name == line.Name })]
		t.Started, t.Ended, t.Stored, t.Reason, t.Message, t.Nodes = was.Started, was.Ended, was.Stored, was.Reason, was.Message, was.Nodes
		all = append(all, t)
	}
	r.facts.Trials = all
	last := r.complete()
	r.facts.Trials = slices.DeleteFunc(all, func(t conduct.Trial) bool {
		if t.Block <= last && !t.Ended.IsZero() {
			return false
		}
		r.triesOf(t.Name).Abandon(t.PlannedTrial)
		return true
	})
	if !r.reported {
		r.resumed = append(r.resumed, folders.Resumption{At: time.Now(), Complete: last})
	}
}

// begunLines returns the lines of the plan that were begun, including repeat blocks and trials after the blocks.
func (r *Run) begunLines(before []folders.Trial) []record.PlannedTrial {
	begun := make(map[string]bool, len(before))
	for _, t := range before {
		begun[t.Name] = true
	}
	lines := slices.Clone(r.facts.Plan.Trials)
	for repeat := range plan.RepeatBlocks(r.facts.Plan.Blocks) {
		lines = append(lines, r.facts.Plan.Repeat(r.facts.Name, repeat+1)...)
	}
	lines = append(lines, r.facts.Plan.Following...)
	return slices.DeleteFunc(lines, func(l record.PlannedTrial) bool { return !begun[l.Name] })
}

package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent/cgroup"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/local/folders"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Options are the options of a run.
type Options struct {
	Run *v1alpha1.BenchmarkRun
	// Folder is the run file's folder, for relative commands and scripts.
	Folder string
	// Folders are other folders for the relative commands of some implementations, by name. They run there, too.
	Folders map[string]string
	// Out is the folder for results. Noise floors and runs named in objectives lie next to it.
	Out string
	// Resume continues the run in Out, if there is one: complete blocks are kept, others measured again.
	Resume bool
	// Images makes implementations with both image and command run in the image. Cache is the folder for unpacked images. Default: the user's.
	Images  bool
	Cache   string
	Version string
	// Tell receives events; Every is the interval of progress events, in addition to one per cell. Default: none.
	Tell  func(progress.Event)
	Every time.Duration
}

func (o Options) folderOf(implementation string) string {
	return cmp.Or(o.Folders[implementation], o.Folder)
}

// Run is a run on this machine.
type Run struct {
	options Options
	uid     string
	node    string
	folder  *artifact.Folder
	// prefix is the run's path in the folder; work is the processes' folder.
	prefix, work string
	seats        Seats
	// allowed are the CPUs of this program before the run.
	allowed []int
	// scripts are the users', as read when the run was made; frozen says where they are stored.
	scripts []protocol.Script
	frozen  []record.FrozenScript
	facts   conduct.Run
	// spec is the request, in a form for comparison.
	spec json.RawMessage
	// started is when the run began; led is how long ended processes led it; resumed are the times of resumes. reported is true once the whole
	// run is reported.
	started  time.Time
	led      time.Duration
	resumed  []folders.Resumption
	reported bool
	// scanned is what the last scan read; troubles says which scanned blocks were disturbed, and why.
	scanned  analysis.Table
	troubles string
	// toldFailure is the failure that was told last.
	toldFailure string
	tries       map[string]*folders.Tries
	// recalled is the state left by an earlier process, or nil.
	recalled *folders.State
	claim    *folders.Claim
	images   map[string]imaged
	// cgroups is the run's cgroup; nil if this machine permits none (shared says why).
	cgroups *cgroup.Parent
	shared  error
	// network is nil for this machine's.
	network *reexec.Network
}

// New checks whether a run is possible here, and starts nothing. A *plan.Violation error is a sentence for the spec's author.
func New(ctx context.Context, o Options) (*Run, error) {
	r := &Run{options: o, uid: newUID(), node: hostname()}
	if err := r.prepare(ctx); err != nil {
		r.claim.End()
		return nil, err
	}
	return r, nil
}

// Abandon releases a run that is never led.
func (r *Run) Abandon() {
	r.claim.End()
	_ = os.Remove(r.folder.URI(r.prefix)) // It stays if an earlier process left something in it.
}

func (r *Run) prepare(ctx context.Context) error {
	if info, err := os.Stat(r.options.Out); err == nil && !info.IsDir() {
		return &FolderError{fmt.Errorf("%s is a file: name another one with --out", r.options.Out)}
	}
	if err := r.recall(ctx); err != nil {
		return err
	}
	o := r.options
	spec, err := r.withBodies()
	if err != nil {
		return err
	}
	p, err := plan.Compile(spec, plan.Options{Name: o.Run.Name, UID: r.uid, Local: true})
	if err != nil {
		return err
	}
	r.facts = conduct.Run{Name: o.Run.Name, Plan: p, Interim: conduct.Interim{MaxWidth: o.Run.Spec.Stop.MaxWidth}}
	for _, check := range []func(context.Context) error{r.checkMachine, r.chooseSeats, r.openFolder, r.freeze, r.restore} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func newUID() string {
	text := make([]byte, 16)
	_, _ = rand.Read(text) // It never fails.
	return hex.EncodeToString(text)
}

func refuse(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &plan.Violation{Reason: reason, Message: err.Error()}
}

// checkMachine checks this machine for programs, free ports, profilers and load generators. The error lists everything that is missing.
func (r *Run) checkMachine(ctx context.Context) error {
	var found []error
	for _, i := range r.facts.Plan.Implementations {
		found = append(found, r.checkProgram(ctx, i))
		if !r.apart() {
			found = append(found, checkPort("/proc", i))
		}
	}
	found = append(found, r.checkImages(), r.checkDuetPorts(), r.checkNetwork())
	var wrong []*plan.Violation
	for _, err := range append(found, checkNeeds(r.facts.Plan.Plan)...) {
		if err != nil {
			wrong = append(wrong, kind.Invalid("%s", err))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return kind.Join(wrong...)
}

func (r *Run) checkProgram(ctx context.Context, i record.Implementation) error {
	if r.options.inImage(i) {
		return r.unpackImage(ctx, i)
	}
	switch c := i.Container; {
	case c.User != nil || c.Group != nil:
		return fmt.Errorf("implementations[%s].user and group are of an image: on this machine a command runs as the user who started the run: remove them, or run it in its image (--images)", i.Name)
	case len(c.Scratch) > 0:
		return fmt.Errorf("implementations[%s].scratch is of an image: on this machine a command writes where its user may: remove it, or run it in its image (--images)", i.Name)
	}
	_, err := findProgram(r.options.folderOf(i.Name), i)
	if err != nil && i.Image != "" {
		return fmt.Errorf("%w, or run it in its image: --images", err)
	}
	return err
}

// checkDuetPorts returns a sentence if a duet's servers share a port: on a cluster each has its own address.
func (r *Run) checkDuetPorts() error {
	own := r.facts.Plan.Implementations
	if r.facts.Plan.Order != record.OrderSlicedDuet || own[0].Port != own[1].Port {
		return nil
	}
	return fmt.Errorf("implementations[%s].port is %d, and so is that of %s: both servers of a duet run at once on this machine, so give each a port of its own", own[1].Name, own[1].Port, own[0].Name)
}

func (r *Run) chooseSeats(context.Context) error {
	allowed := util.ParseCPUs(kernel.OwnCPUsAllowed())
	if len(allowed) == 0 {
		return fmt.Errorf("reading the CPUs of this machine: the kernel lists %q", kernel.OwnCPUsAllowed())
	}
	cores := kernel.Cores(os.DirFS("/"), allowed)
	var n Needs
	for _, line := range r.facts.Plan.Trials[:min(len(r.facts.Plan.Trials), len(r.facts.Plan.Implementations))] {
		n = n.Most(NeedsOf(kinds.Planned(r.facts.Plan.Plan, line)))
	}
	own, enough := Take(cores, n)
	if !enough && r.facts.Plan.Placement.Pinning == record.Required {
		have := len(slices.Concat(cores...))
		return refuse(v1alpha1.ReasonNotEnoughCPUs, fmt.Errorf("servers and generators of this run need at least %d CPUs, and Loadstone may use %d of this machine: lower spec.implementations[].cpus and spec.loads[].generators, or set spec.placement.pinning to Preferred, which lets them share CPUs and marks every cell: throughput is then that of both together, latencies hold the time in which the other had the CPU, and differences look smaller than they are", max(n.All(), 2), have))
	}
	if !enough {
		own = Share(cores, n)
	}
	r.seats, r.allowed = own, allowed
	return nil
}

// FolderError says why results cannot go to the requested folder.
type FolderError struct{ Err error }

// Error implements error.
func (e *FolderError) Error() string { return fmt.Sprintf("the folder of the results: %s", e.Err) }

// Unwrap returns the wrapped error.
func (e *FolderError) Unwrap() error { return e.Err }

func (r *Run) openFolder(context.Context) error {
	whole, err := filepath.Abs(r.options.Out)
	if err != nil {
		return &FolderError{err}
	}
	if _, err := artifact.OpenFolder(whole); err != nil {
		return &FolderError{err}
	}
	r.prefix = filepath.Base(whole)
	if r.folder, err = artifact.OpenFolder(filepath.Dir(whole)); err != nil {
		return &FolderError{err}
	}
	r.work = folders.Work(whole)
	if _, err := os.Stat(filepath.Join(whole, "plan.json")); err == nil && r.recalled == nil {
		return &FolderError{fmt.Errorf("%s already contains a run: choose another folder with --out, or resume with --resume", whole)}
	}
	if err := r.full(); err != nil {
		return &FolderError{err}
	}
	return r.claimFolder(whole)
}

// freeze reads the users' scripts. A file next to the run's stands for a ConfigMap's key.
func (r *Run) freeze(context.Context) error {
	for i, l := range r.options.Run.Spec.Loads {
		if l.Script.IsZero() {
			continue
		}
		text := r.beside(l.Script.ConfigMap, l.Script.Key)
		if len(text) == 0 {
			return refuse(v1alpha1.ReasonInvalidSpec, fmt.Errorf("spec.loads[%d].script.key: there is no script in %s or %s: on this machine a script is a file in the folder of the run's file", i, filepath.Join(l.Script.ConfigMap, l.Script.Key), l.Script.Key))
		}
		r.scripts = append(r.scripts, protocol.Script{Load: l.Name, Text: text})
	}
	return nil
}

// beside returns the file that stands for a ConfigMap's key, or nil.
func (r *Run) beside(configMap, key string) []byte {
	text, err := os.ReadFile(filepath.Join(r.options.Folder, configMap, key))
	if err != nil {
		text, err = os.ReadFile(filepath.Join(r.options.Folder, key))
	}
	if err != nil {
		return nil
	}
	return text
}

// withBodies returns the spec with its requests' bodies, read like scripts. The plan contains them.
func (r *Run) withBodies() (v1alpha1.BenchmarkRunSpec, error) {
	spec, bodies := r.options.Run.Spec, map[string]string{}
	for _, use := range sweep.BodyUses(spec.Loads) {
		text := r.beside(use.From.ConfigMap, use.From.Key)
		if len(text) == 0 {
			return spec, refuse(v1alpha1.ReasonInvalidSpec, fmt.Errorf("%s.key: there is no body in %s or %s: on this machine it is a file in the folder of the run's file", use.Field, use.From, use.From.Key))
		}
		bodies[use.From.String()] = string(text)
	}
	spec.Loads = sweep.WithBodies(spec.Loads, bodies)
	return spec, nil
}

// Lead leads the run to its end. If ctx ends first, it reports complete blocks and leaves no process.
func (r *Run) Lead(ctx context.Context) (_ progress.Ending, err error) {
	// Processes inherit the CPUs of their starting thread, and agents die with it.
	runtime.LockOSThread()
	defer r.claim.End()
	defer func() { err = errors.Join(err, stayOn(r.allowed)) }()
	if r.reported {
		return r.makeReport(ctx, "")
	}
	r.openCgroups()
	defer r.cgroups.Remove()
	defer func() { r.network.End() }()
	if err := errors.Join(r.begin(), r.openNetwork(), r.freezeQuestion(ctx)); err != nil {
		return progress.Ending{}, err
	}
	limited, cancel := context.WithDeadline(ctx, r.facts.Deadline())
	defer cancel()
	end, err := r.rehearse(limited)
	switch {
	case ctx.Err() != nil:
		return r.interrupted(context.WithoutCancel(ctx))
	case err != nil && limited.Err() == nil:
		return progress.Ending{}, err
	case end != nil:
		return r.ended(ctx, end)
	}
	for {
		r.facts.Now = time.Now()
		step := r.facts.Next()
		var err error
		switch step.Act {
		case conduct.ActBegin:
			r.beginTrials(step.Trials)
		case conduct.ActAnalyse:
			err = r.analyse(limited, step.Block)
		case conduct.ActScan:
			err = r.scan(limited)
		case conduct.ActMeasure:
			err = r.measure(limited)
		case conduct.ActReport:
			return r.report(ctx)
		case conduct.ActEnd:
			return r.ended(ctx, step.Ending)
		}
		if ctx.Err() != nil {
			return r.interrupted(context.WithoutCancel(ctx))
		}
		if err != nil && limited.Err() == nil {
			return progress.Ending{}, err
		}
	}
}

// begin sets the run's clock, and moves this program off the servers' CPUs.
func (r *Run) begin() error {
	now := time.Now()
	if r.started.IsZero() {
		r.started = now
	}
	// Time without a leading process does not count.
	r.facts.Started = now.Add(-r.led)
	// The record of an interrupted run is incomplete.
	if err := os.Remove(r.folder.URI(artifact.ManifestKey(r.prefix))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resuming the run: %w", err)
	}
	if err := r.remember(); err != nil {
		return err
	}
	if !r.options.Resume {
		r.tell(progress.Event{Kind: progress.EventNote, Message: expectation(r.facts.Plan)})
	}
	for _, n := range r.notes() {
		r.tell(progress.Event{Kind: progress.EventNote, Message: n})
	}
	return stayOn(r.seats.Rest)
}

// expectation says how much is measured, how long that takes, and whether it can end in a verdict.
func expectation(p plan.Plan) string {
	size, _ := p.Whole()
	text := size + ", " + p.Takes()
	if why := p.NoVerdict(); why != "" {
		text += "; " + why
	}
	return text
}

func (r *Run) freezeQuestion(ctx context.Context) error {
	if _, err := r.folder.Put(ctx, artifact.PlanKey(r.prefix), "application/json", r.facts.Plan.JSON()); err != nil {
		return err
	}
	for _, s := range r.scripts {
		stored, err := r.folder.Put(ctx, artifact.ScriptKey(r.prefix, s.Load), "text/plain; charset=utf-8", s.Text)
		if err != nil {
			return err
		}
		stored.Name = "scripts/" + s.Load
		r.frozen = append(r.frozen, record.FrozenScript{Load: s.Load, Artifact: stored})
	}
	return nil
}

func (r *Run) beginTrials(lines []record.PlannedTrial) {
	for _, line := range lines {
		r.facts.Trials = append(r.facts.Trials, conduct.Trial{PlannedTrial: line, Work: kinds.Planned(r.facts.Plan.Plan, line)})
	}
	if n := r.facts.Repeated(); n > 0 {
		r.tell(progress.Event{Kind: progress.EventNote, Message: progress.Repeated(r.troubles, n)})
	}
}

func (r *Run) measure(ctx context.Context) error {
	t := &r.facts.Trials[slices.IndexFunc(r.facts.Trials, func(t conduct.Trial) bool { return t.Ended.IsZero() })]
	view := conduct.View{Name: r.facts.Name, Blocks: r.facts.Plan.Blocks, Baseline: r.facts.Plan.Baseline, Interim: r.facts.Interim, Trials: r.facts.Trials}
	if f := view.GiveUp(*t); f != nil {
		r.failed(t, f)
		return r.remember()
	}
	own := r.triesOf(t.Name)
	for try := int32(1); ; try++ {
		own.Begun++
		if err := r.remember(); err != nil {
			return err
		}
		a := attempt{Run: r, Attempt: t.Attempt(own.Begun, time.Now()), try: try, trial: t, failures: own.Failures}
		stored, f, err := a.take(ctx)
		if f != nil || errors.Is(err, artifact.ErrFull) {
			err = cmp.Or(r.full(), err) // A full disk explains any failure.
		}
		switch {
		case err != nil:
			return err
		case f == nil:
			t.Stored, t.Ended, t.Reason = stored, time.Now(), v1alpha1.ReasonDone
			return errors.Join(r.remember(), r.tellMeasured(ctx, t))
		case !a.retried(f):
			r.failed(t, f)
			return r.remember()
		}
		own.Failures = append(own.Failures, a.Note(f))
		t.Started, t.Nodes = time.Time{}, nil
		r.tell(progress.Event{Kind: progress.EventFailed, Trial: &t.PlannedTrial, Message: a.Note(f) + "; retrying"})
	}
}

func (r *Run) failed(t *conduct.Trial, f *conduct.Failure) {
	t.Ended, t.Reason, t.Message = time.Now(), f.Reason, f.Message
	r.troubles = progress.Troubles(r.scanned, r.facts.Trials)
	if f.Message == r.toldFailure {
		return // A trial that is skipped for the same reason as the one before needs no line of its own.
	}
	r.toldFailure = f.Message
	r.tell(progress.Event{Kind: progress.EventFailed, Trial: &t.PlannedTrial, Message: f.Message})
}

func (r *Run) analyse(ctx context.Context, block int32) error {
	data, err := r.folder.LoadTrials(ctx, r.prefix, r.facts.InterimManifest(r.record(), block))
	if err != nil {
		return err
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		return fmt.Errorf("making the interim analysis after block %d: %w", block, err)
	}
	width, err := strconv.ParseFloat(r.facts.Interim.MaxWidth, 64)
	if err != nil {
		return fmt.Errorf("reading spec.stop.maxWidth: %w", err)
	}
	r.facts.Interim = r.facts.Interim.Made(block, table.NarrowerThan(width))
	return nil
}

// scan looks for disturbed cells while their blocks can still be repeated.
func (r *Run) scan(ctx context.Context) error {
	data, err := r.folder.LoadTrials(ctx, r.prefix, r.manifest())
	if err != nil {
		return err
	}
	table, err := analysis.Analyse(data)
	if err != nil {
		return fmt.Errorf("scanning for disturbed blocks: %w", err)
	}
	r.facts.Scan = r.facts.Scanned(table.DisturbedBlocks())
	r.scanned = table
	r.troubles = progress.Troubles(r.scanned, r.facts.Trials)
	return nil
}

func (r *Run) identity() record.Run {
	return record.Run{Namespace: record.LocalNamespace, Name: r.facts.Name, UID: r.uid, PlanHash: r.facts.Plan.Hash()}
}

func (r *Run) record() conduct.RunRecord {
	return conduct.RunRecord{Run: r.identity(), Spec: r.options.Run.Spec, Scripts: r.frozen, Notes: r.notes(), Operator: r.options.Version}
}

// manifest returns the run's record so far, with its first start.
func (r *Run) manifest() record.RunManifest {
	m := r.facts.Manifest(r.record())
	m.Started = r.started.UTC()
	return m
}

func (r *Run) tell(e progress.Event) {
	if r.options.Tell == nil {
		return
	}
	r.facts.Now = time.Now()
	e.Done, e.All = r.facts.Progress()
	e.WholeTrials = r.facts.Plan.WholeTrials()
	e.Troubles = r.troubles
	e.Blocks, e.Repeats, e.Left = r.facts.Plan.Blocks, r.facts.Repeated(), r.facts.Left()
	r.options.Tell(e)
}

package controllers

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// silence are agents that do not answer.
type silence struct{ agents.Client }

func (silence) State(context.Context, string) (protocol.State, error) {
	return protocol.State{}, errors.New("connection refused")
}

func (silence) Clock(context.Context, string) (agents.Clock, error) {
	return agents.Clock{}, errors.New("connection refused")
}

func (silence) Command(context.Context, string, protocol.Command) (protocol.State, error) {
	return protocol.State{}, errors.New("connection refused")
}

// brokenStore refuses everything with one error.
type brokenStore struct {
	Store
	err error
}

func (s brokenStore) Put(context.Context, string, string, []byte) (record.Artifact, error) {
	return record.Artifact{}, s.err
}

func (s brokenStore) PutJSON(context.Context, string, any) (record.Artifact, error) {
	return record.Artifact{}, s.err
}

func (s brokenStore) Get(context.Context, string, string) ([]byte, error) { return nil, s.err }

func (s brokenStore) Find(context.Context, string) (record.Artifact, error) {
	return record.Artifact{}, s.err
}

func (s brokenStore) Verify(context.Context, record.Artifact) error { return s.err }

func (s brokenStore) CheckWriteOnce(context.Context, string, string, []byte) error { return s.err }

func (s brokenStore) Destination(context.Context, record.Artifact, time.Duration) (string, map[string]string, error) {
	return "", nil, s.err
}

// muteStore takes everything, and otherwise does as another.
type muteStore struct{ Store }

func (muteStore) Put(context.Context, string, string, []byte) (record.Artifact, error) {
	return record.Artifact{}, nil
}

// overwritingStore is a muteStore that also lists its content.
type overwritingStore struct{ muteStore }

func (overwritingStore) Verify(context.Context, record.Artifact) error { return nil }

// The two cells of scopeOf's trial take 20.5 s. A pass at later(d) sees a trial that started d ago.
func later(d time.Duration) func(*trialScope) {
	return func(s *trialScope) {
		start := metav1.NewMicroTime(noon)
		s.trial.Status.StartTime, s.now, s.prepared = &start, noon.Add(d), true
	}
}

func agentsIn(observer, generator protocol.State) func(*trialScope) {
	return func(s *trialScope) {
		observer.Member, generator.Member = record.MemberServer(0), record.MemberGenerator(0)
		s.servers()[0].state, s.generators()[0].state = &observer, &generator
		announced, err := protocol.Announced(s.agentStates()...)
		if err != nil {
			panic(err)
		}
		s.trial.Status.FilesSHA256 = announced
	}
}

// What an agent may make the operator read, or the store hold, is bounded before a single byte is stored.
func TestFilesThatAreTooLargeAreNotStored(t *testing.T) {
	file := func(name string, bytes int64) protocol.State {
		return protocol.State{Phase: protocol.Measured, Files: []protocol.File{{Name: name, Bytes: bytes, SHA256: strings.Repeat("a", 64)}}}
	}
	for name, tc := range map[string]struct {
		generator protocol.State
		fault     string
	}{
		"a result of 200 MiB":      {file(record.ResultFile, 200<<20), "ResultsTooLarge permanent: file result.json of generator-0 has 209715200 bytes, the limit is "},
		"a raw output of 2 GiB":    {file("sweep-10.wrk.txt", 2<<30), "ResultsTooLarge permanent: file sweep-10.wrk.txt of generator-0 has 2147483648 bytes, the limit is "},
		"results of ordinary size": {file(record.ResultFile, 20<<10), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(later(21*time.Second), agentsIn(file(record.ResultFile, 10<<10), tc.generator))
			r := &TrialReconciler{Agents: silence{}, Store: brokenStore{err: artifact.ErrUnreachable}}
			if _, err := r.store(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if got := describe(s.fault); !strings.HasPrefix(got, tc.fault) || (got == "") != (tc.fault == "") {
				t.Errorf("the attempt ends with %q, want %q", got, tc.fault)
			}
		})
	}
}

// Limits apply to each list of files: an agent that announces other ones at each pass would store without a limit.
func TestFilesAnnouncedLaterEndTheAttempt(t *testing.T) {
	file := func(name string) protocol.State {
		return protocol.State{Phase: protocol.Measured, Uploading: true, Files: []protocol.File{{Name: name, Bytes: 1, SHA256: strings.Repeat("a", 64)}}}
	}
	r := &TrialReconciler{Agents: silence{}, Store: brokenStore{err: artifact.ErrUnreachable}}
	s := scopeOf(later(21*time.Second), agentsIn(file(record.ResultFile), file("sweep-0.wrk.txt")))
	s.trial.Status.FilesSHA256 = ""
	if step, err := r.store(t.Context(), s); err != nil || s.fault != nil || step != reconciler.Halt {
		t.Fatalf("the first list: step %v, fault %v, error %v", step, s.fault, err)
	}
	announced := trialStatus(s).FilesSHA256
	for name, want := range map[string]string{"sweep-0.wrk.txt": "", "sweep-1.wrk.txt": "AgentFailed transient: the trial's agents announced other files than at first"} {
		s := scopeOf(later(22*time.Second), agentsIn(file(record.ResultFile), file(name)))
		s.trial.Status.FilesSHA256 = announced
		if _, err := r.store(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := describe(s.fault); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("the file %s ends the attempt with %q, want %q", name, got, want)
		}
		if kept := trialStatus(s).FilesSHA256; kept != announced {
			t.Errorf("after the file %s, the digest %q is announced, want %q", name, kept, announced)
		}
	}
	s.fault = conduct.FilesChanged()
	if kept := nextAttempt(s, trialStatus(s)).FilesSHA256; kept != "" {
		t.Errorf("another attempt has its own files, and begins with the digest %q", kept)
	}
}

// patience is that of a run whose spec says nothing.
const patience = 10 * time.Minute

func TestEveryWaitOfATrialHasItsDeadline(t *testing.T) {
	r := &TrialReconciler{Agents: silence{}, Store: brokenStore{err: artifact.ErrUnreachable}, Live: theseAre{pod(v1alpha1.RoleGenerator), pod(v1alpha1.RoleServer)}, Now: func() time.Time { return noon.Add(time.Hour) }}
	deleted := &TrialReconciler{Live: theseAre{pod(v1alpha1.RoleGenerator)}}
	refused := &TrialReconciler{Agents: silence{}, Store: brokenStore{err: artifact.ErrDenied}}
	full := &TrialReconciler{Agents: punctual{}, Store: brokenStore{err: artifact.ErrFull}}
	at := func(d time.Duration) func(*trialScope) { return func(s *trialScope) { s.now = noon.Add(d) } }
	notRunning := func(s *trialScope) { s.servers()[0].pod.Status.PodIP = "" }
	outwaited := func(start v1alpha1.Start) func(*trialScope) {
		return func(s *trialScope) {
			p := s.servers()[0].pod
			p.Status.StartTime, p.Spec.ActiveDeadlineSeconds = &metav1.Time{Time: noon}, new(int64(1200))
			p.Status.Phase, p.Status.Reason, s.now, s.trial.Spec.Start = corev1.PodFailed, "DeadlineExceeded", noon.Add(time.Hour), start
		}
	}
	idle, running, measured := protocol.State{Phase: protocol.Idle}, protocol.State{Phase: protocol.Running}, protocol.State{Phase: protocol.Measured}
	ready := protocol.State{Phase: protocol.Idle, Listening: true}
	counting := protocol.State{Phase: protocol.Idle, Listening: true, Build: &record.Build{Coverage: record.Fact{Is: record.Yes, By: "symbol __gcov_init"}}}
	expecting := func(s *trialScope) { s.plan.Implementations[0].Build.Coverage = record.ExpectForbidden }
	deaf := agentsIn(protocol.State{Phase: protocol.Idle}, idle)
	const end = 20*time.Second + 2*tool.LeastGap
	tests := map[string]struct {
		phase func(context.Context, *trialScope) (reconciler.Step, error)
		scope *trialScope
		// fault is what the pass ends in; otherwise it waits for something, with another look soon.
		fault, waiting string
		after          time.Duration
	}{
		"pods are starting":                       {r.examinePods, scopeOf(notRunning), "", "pods are starting", 5 * time.Second},
		"pods have nearly used up their time":     {r.examinePods, scopeOf(notRunning, at(patience-time.Second)), "", "pods are starting", time.Second},
		"pods do not start":                       {r.examinePods, scopeOf(notRunning, at(patience)), "PodLost transient: the trial's pods were not running within 10m0s", "", 0},
		"pods end while Argo is away":             {r.examinePods, scopeOf(outwaited(v1alpha1.StartHeld)), "", "waiting for the workflow to reach this trial", 0},
		"Argo is back after pods have ended":      {r.examinePods, scopeOf(outwaited(v1alpha1.StartReleased)), "PodLost transient: pod quick-000-go-1-s0 waited too long for its start", "", 0},
		"agents are starting":                     {r.askAgents, scopeOf(at(conduct.PrepareDeadline)), "", "the agent in pod quick-000-go-1-", pollEvery},
		"agents never start":                      {r.askAgents, scopeOf(at(conduct.PrepareDeadline+1), suspected(v1alpha1.ReasonAgentLost, time.Minute)), "AgentLost transient: the agent in pod quick-000-go-1-g0 is not responding: connection refused", "", 0},
		"nobody is asked under load":              {r.askAgents, scopeOf(later(time.Second)), "", "", 9*time.Second + tool.LeastGap},
		"nobody is asked in the last cell":        {r.askAgents, scopeOf(later(19 * time.Second)), "", "", end - 19*time.Second},
		"agents are silent after the last cell":   {r.askAgents, scopeOf(later(end + conduct.StoreDeadline)), "", "the agent in pod", pollEvery},
		"agents stay silent after the last cell":  {r.askAgents, scopeOf(later(end+conduct.StoreDeadline+1), suspected(v1alpha1.ReasonAgentLost, time.Minute)), "AgentLost transient", "", 0},
		"the server is starting":                  {r.prepare, scopeOf(deaf, at(conduct.ListenDeadline)), "", "implementations[go] is not ready yet", pollEvery},
		"the server never listens":                {r.prepare, scopeOf(deaf, at(conduct.ListenDeadline+1), suspected(v1alpha1.ReasonServerNotListening, time.Minute)), "ServerNotListening permanent: implementations[go] did not listen on port 8080 within 30s", "", 0},
		"the server has what is forbidden":        {r.prepare, scopeOf(expecting, agentsIn(counting, idle), at(0), suspected(v1alpha1.ReasonBuildMismatch, time.Minute)), "BuildMismatch permanent: implementations[go].build.coverage: expected Forbidden, found yes (symbol __gcov_init)", "", 0},
		"the check cannot be sent":                {r.prepare, scopeOf(agentsIn(ready, idle), at(conduct.PrepareDeadline+1), suspected(v1alpha1.ReasonAgentLost, time.Minute)), "AgentLost transient", "", 0},
		"the server answers wrongly":              {r.prepare, scopeOf(agentsIn(ready, protocol.State{Checked: &protocol.Checked{Fault: protocol.FaultServer, Message: "GET / answered 404 instead of 200"}}), suspected(v1alpha1.ReasonWrongResponse, time.Minute)), "WrongResponse permanent: implementations[go]: GET / answered 404 instead of 200: correct the server, or request and expect of the load", "", 0},
		"the server was deleted in its check":     {deleted.prepare, scopeOf(agentsIn(ready, protocol.State{Checked: &protocol.Checked{Fault: protocol.FaultServer, Message: "connection refused"}}), suspected(v1alpha1.ReasonWrongResponse, time.Minute)), "PodLost transient: another client deleted pod quick-000-go-1-s0", "", 0},
		"the start cannot be told":                {r.start, scopeOf(agentsIn(idle, idle), later(0)), "AgentLost transient: the agent in pod quick-000-go-1-g0 did not receive its start in time", "", 0},
		"the first cell goes on":                  {r.awaitEnd, scopeOf(agentsIn(running, running), later(0)), "", "", 10*time.Second + tool.LeastGap},
		"an agent was never told to start":        {r.awaitEnd, scopeOf(agentsIn(measured, idle), later(end)), "AgentLost transient: the agent (generator-0) never received its start", "", 0},
		"an agent is not quite done":              {r.awaitEnd, scopeOf(agentsIn(measured, running), later(end+conduct.AgentGrace)), "", "", pollEvery},
		"an agent is never done":                  {r.awaitEnd, scopeOf(agentsIn(measured, running), later(end+conduct.AgentGrace+1)), "AgentLost transient: the agent (generator-0) was still busy 30s after the last cell", "", 0},
		"the store is away before pods are made":  {r.awaitStore, scopeOf(func(s *trialScope) { s.servers()[0].pod, s.generators()[0].pod = nil, nil }), "", "the object store cannot be reached", 2 * time.Second},
		"the store is away":                       {r.store, scopeOf(agentsIn(measured, withFile(measured)), later(end+conduct.StoreDeadline)), "", "the object store cannot be reached", time.Second},
		"the store refuses before pods are made":  {refused.awaitStore, scopeOf(func(s *trialScope) { s.servers()[0].pod, s.generators()[0].pod = nil, nil }), "", "the object store rejected the access key", 2 * time.Second},
		"the store refuses the key":               {refused.writeManifest, scopeOf(agentsIn(withFile(measured), withFile(measured)), later(end+conduct.StoreDeadline)), "", "the object store rejected the access key", time.Second},
		"the store refuses the key for too long":  {refused.writeManifest, scopeOf(agentsIn(withFile(measured), withFile(measured)), later(end+conduct.StoreDeadline+1)), "UploadFailed transient: the object store rejected the access key", "", 0},
		"the store is full":                       {full.writeManifest, scopeOf(agentsIn(measured, measured), later(end+conduct.StoreDeadline)), "", "the object store is full", time.Second},
		"the store is full for too long":          {full.writeManifest, scopeOf(agentsIn(measured, measured), later(end+conduct.StoreDeadline+1)), "UploadFailed transient: the object store is full", "", 0},
		"an upload goes on":                       {r.store, scopeOf(agentsIn(protocol.State{Phase: protocol.Stored}, protocol.State{Phase: protocol.Measured, Uploading: true}), later(end)), "", "storing artifacts", pollEvery / 2},
		"the store stays away":                    {r.store, scopeOf(agentsIn(measured, protocol.State{Phase: protocol.Measured, StoreError: "503"}), later(end+conduct.StoreDeadline+1)), "UploadFailed transient: artifacts of generator-0 could not be stored within 10m0s: 503", "", 0},
		"what was stored cannot be verified yet":  {r.writeManifest, scopeOf(agentsIn(withFile(measured), withFile(measured)), later(end)), "", "the object store cannot be reached", time.Second},
		"what was stored can never be verified":   {r.writeManifest, scopeOf(agentsIn(withFile(measured), withFile(measured)), later(end+conduct.StoreDeadline+1)), "UploadFailed transient: the object store cannot be reached", "", 0},
		"a prepared trial waits for its step":     {r.awaitRelease, scopeOf(at(facts.Quickly)), "", "ready: waiting for the workflow to reach this trial", 0},
		"it was prepared within a second":         {r.awaitRelease, scopeOf(at(time.Second)), "", "ready: waiting for the workflow to reach this trial", facts.Quickly - time.Second},
		"an agent that says that it cannot do it": {(&TrialReconciler{Agents: failing{}}).askAgents, scopeOf(), "AgentFailed transient: the agent in pod quick-000-go-1-g0: no wrk", "", 0},
		"somebody answers who is another":         {(&TrialReconciler{Agents: impostors{}}).askAgents, scopeOf(), "", "the agent in pod quick-000-go-1-g0 is not responding yet", pollEvery},
		"an agent refuses its state":              {refusing(http.StatusNotFound).askAgents, scopeOf(), "AgentFailed transient: the agent in pod quick-000-go-1-g0 answered 404 Not Found: no slots", "", 0},
		"an agent refuses its check":              {refusing(http.StatusForbidden).prepare, scopeOf(agentsIn(ready, idle)), "AgentFailed transient: the agent in pod quick-000-go-1-g0 answered 403 Forbidden: no slots", "", 0},
		"an agent refuses its start":              {refusing(http.StatusUnprocessableEntity).start, scopeOf(agentsIn(idle, idle), later(0)), "AgentFailed transient: the agent in pod quick-000-go-1-g0 answered 422 Unprocessable Entity: no slots", "", 0},
		"an agent has its start already":          {refusing(http.StatusConflict).start, scopeOf(agentsIn(idle, idle), later(0)), "", "the agent in pod quick-000-go-1-g0 answered 409 Conflict: no slots", pollEvery},
		"an agent refuses to store":               {refusing(http.StatusUnprocessableEntity).store, scopeOf(agentsIn(measured, measured), later(end)), "AgentFailed transient: the agent in pod quick-000-go-1-g0 answered 422 Unprocessable Entity: no slots", "", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.phase(t.Context(), tc.scope)
			if err != nil || !got.Stop || got.After != tc.after {
				t.Errorf("the phase ends with %+v, %v; want another look after %s", got, err, tc.after)
			}
			if f := describe(tc.scope.fault); tc.fault == "" && f != "" || !strings.HasPrefix(f, tc.fault) {
				t.Errorf("the fault is %q, want %q", f, tc.fault)
			}
			if !strings.HasPrefix(tc.scope.waiting, tc.waiting) {
				t.Errorf("it waits for %q, want %q", tc.scope.waiting, tc.waiting)
			}
		})
	}
}

type failing struct{ silence }

func (failing) State(_ context.Context, ip string) (protocol.State, error) {
	return by(ip, protocol.State{Phase: protocol.Failed, Message: "no wrk"}), nil
}

// impostors answer in the name of others.
type impostors struct{ silence }

func (impostors) State(context.Context, string) (protocol.State, error) {
	return protocol.State{Trial: "another", Attempt: 1, Member: record.MemberGenerator(0), Phase: protocol.Measured}, nil
}

// refuses are agents that answer every request with one status; their clocks can be read.
type refuses struct {
	silence
	with int
}

func (r refuses) refusal() error {
	return fmt.Errorf("the agent %w", &agents.Refusal{Status: fmt.Sprintf("%d %s", r.with, http.StatusText(r.with)), Code: r.with, Message: "no slots"})
}

func (r refuses) State(context.Context, string) (protocol.State, error) {
	return protocol.State{}, r.refusal()
}

func (refuses) Clock(context.Context, string) (agents.Clock, error) {
	return agents.Clock{}, nil
}

func (r refuses) Command(context.Context, string, protocol.Command) (protocol.State, error) {
	return protocol.State{}, r.refusal()
}

func refusing(with int) *TrialReconciler {
	return &TrialReconciler{Agents: refuses{with: with}, Now: func() time.Time { return noon }}
}

func withFile(s protocol.State) protocol.State {
	s.Files = []protocol.File{{Name: record.ResultFile, Bytes: 1, SHA256: strings.Repeat("0", 64)}}
	return s
}

// punctual agents answer at once; their clocks are an hour fast.
type punctual struct {
	silence
	commands *[]protocol.Command
}

func (punctual) Clock(context.Context, string) (agents.Clock, error) {
	return agents.Clock{Offset: time.Hour, RoundTrip: time.Since(noon)}, nil
}

func (p punctual) Command(_ context.Context, _ string, o protocol.Command) (protocol.State, error) {
	*p.commands = append(*p.commands, o)
	return protocol.State{Phase: protocol.Running}, nil
}

func TestStartIsRecordedBeforeAgentsGetIt(t *testing.T) {
	var commands []protocol.Command
	const pass = time.Minute // The pass has taken that long until it chose the instant.
	r := &TrialReconciler{Agents: punctual{commands: &commands}, Now: func() time.Time { return noon.Add(pass) }}
	idle := protocol.State{Phase: protocol.Idle}
	s := scopeOf(agentsIn(idle, idle))
	if got, err := r.start(t.Context(), s); err != nil || got != reconciler.Halt || s.startTime == nil || len(commands) != 0 {
		t.Fatalf("the first pass ends with %+v, %v, start %v, %d commands", got, err, s.startTime, len(commands))
	}
	if !s.startTime.Equal(noon.Add(pass + conduct.StartLead)) {
		t.Errorf("the start is %s", s.startTime)
	}

	r.Now = func() time.Time { return noon }
	s = scopeOf(agentsIn(idle, idle), later(0))
	s.plan.Implementations[0].TLS = &record.TLS{}
	if got, err := r.start(t.Context(), s); err != nil || got != reconciler.GoOn || s.fault != nil {
		t.Fatalf("the second pass ends with %+v, %v, %v", got, err, s.fault)
	}
	var roles []string
	for _, o := range commands {
		roles = append(roles, o.Member)
		if at := o.Start.At; !at.Equal(noon.Add(time.Hour)) || o.Start.Targets[0] != "192.0.2.1:8080" || len(o.Start.TLS) != 1 || o.Start.TLS[0] == nil || len(o.Start.Slots) != 2 {
			t.Errorf("%s is told to start at %s (in its own clock) on %s", o.Member, at, o.Start.Targets[0])
		}
	}
	if diff := cmp.Diff([]string{record.MemberGenerator(0), record.MemberServer(0)}, roles); diff != "" {
		t.Error(diff)
	}

	r.Now = func() time.Time { return noon.Add(1) }
	s = scopeOf(agentsIn(idle, idle), later(0))
	if _, err := r.start(t.Context(), s); err != nil || !strings.HasPrefix(describe(s.fault), "AgentLost transient: the agent in pod quick-000-go-1-g0 did not receive its start in time") {
		t.Errorf("a start that is over is told: %v, %v", s.fault, err)
	}
}

func TestRefusedPodIsRetriedOrFailsTrial(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err   error
		since time.Duration
		// taken is true where a pod of the name is that of another trial.
		taken bool
		fault string
		fails bool
	}{
		"by policy":                    {err: apierrors.NewForbidden(pods, "x", errors.New("violates PodSecurity")), fault: `PodRejected permanent: the API server rejected pod quick-000-go-1-s0: pods "x" is forbidden: violates PodSecurity`},
		"by quota":                     {err: apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: stop, requested: pods=1, used: pods=0, limited: pods=0")), since: 24 * time.Hour},
		"by a webhook, for a while":    {err: apierrors.NewForbidden(pods, "x", errors.New(`admission webhook "scan" denied the request: not scanned yet`)), since: patience - time.Second},
		"by a policy, for a while":     {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", field.ErrorList{field.Forbidden(nil, `ValidatingAdmissionPolicy "hours" with binding "all" denied request: not at this hour`)}), since: patience - time.Second},
		"by a webhook, for too long":   {err: apierrors.NewForbidden(pods, "x", errors.New(`admission webhook "scan" denied the request: not scanned yet`)), since: patience, fault: "PodRejected permanent"},
		"since its namespace goes":     {err: terminating(), fault: "PodRejected permanent: namespace bench is being deleted: create the run in another namespace"},
		"by a limit, for a while":      {err: apierrors.NewForbidden(pods, "x", errors.New("maximum cpu usage per Container is 500m, but limit is 1")), since: patience - time.Second},
		"by a limit, for too long":     {err: apierrors.NewForbidden(pods, "x", errors.New("maximum cpu usage per Container is 500m, but limit is 1")), since: patience, fault: `PodRejected permanent: the API server rejected pod quick-000-go-1-s0: pods "x" is forbidden: maximum cpu usage`},
		"as nonsense":                  {err: apierrors.NewBadRequest("nonsense"), fault: "PodRejected permanent"},
		"since it is there already":    {err: apierrors.NewAlreadyExists(pods, "x"), since: time.Second},
		"since it is there, unheard":   {err: apierrors.NewAlreadyExists(pods, "x"), since: 24 * time.Hour, fault: "PodRejected transient: pod quick-000-go-1-s0 exists, but the operator does not see it"},
		"since the name is taken":      {err: apierrors.NewAlreadyExists(pods, "x"), taken: true, fault: "PodRejected transient: another object has the name of pod quick-000-go-1-s0; Loadstone leaves it alone"},
		"for a reason that may change": {err: apierrors.NewInternalError(errors.New("etcd")), fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(func(s *trialScope) { s.now = noon.Add(tc.since) })
			there := s.servers()[0].pod.DeepCopy()
			if tc.taken {
				there.OwnerReferences[0].UID = "one-before"
			}
			_, err := (&TrialReconciler{Live: theseAre{there}}).refused(t.Context(), s, s.servers()[0].pod, tc.err)
			if got := describe(s.fault); (err != nil) != tc.fails || tc.fault == "" && got != "" || !strings.HasPrefix(got, tc.fault) {
				t.Errorf("got %q, %v, want %q", got, err, tc.fault)
			}
		})
	}
}

// theseAre are the pods that an API server has.
type theseAre []*corev1.Pod

func (theseAre) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no right to get a pod")
}

func (p theseAre) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	for _, pod := range p {
		list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, *pod)
	}
	return nil
}

// terminating is the answer of an API server that is asked for a pod in a namespace that is being deleted.
func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("unable to create new content in namespace bench because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace"}}
	return err
}

// An operator may end after it has written a manifest and before it could say so in the status.
func TestExistingManifestIsKept(t *testing.T) {
	object := testbed.Store(t)
	store, err := artifact.Open(artifact.Config{Endpoint: object.Endpoint, Bucket: object.NewBucket(t), Region: "us-east-1", AccessKey: object.AccessKey, SecretKey: object.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	stored := protocol.State{Phase: protocol.Stored}
	var first *record.Artifact
	for _, who := range []string{"the first operator", "the next one, to whom the clocks look different"} {
		r := &TrialReconciler{Agents: punctual{}, Store: store, Version: who}
		s := scopeOf(agentsIn(stored, stored), later(30*time.Second))
		if _, err := r.writeManifest(t.Context(), s); err != nil || s.fault != nil || s.manifest == nil {
			t.Fatalf("%s: %v, fault %v, waits for %q", who, err, s.fault, s.waiting)
		}
		if first == nil {
			first = s.manifest
		}
		if diff := cmp.Diff(first, s.manifest); diff != "" {
			t.Errorf("%s says (-first +now):\n%s", who, diff)
		}
	}
}

func TestCommandsAreBoundToAttempt(t *testing.T) {
	var commands []protocol.Command
	r := &TrialReconciler{Agents: punctual{commands: &commands}, Key: ed25519.NewKeyFromSeed(make([]byte, 32))}
	s := scopeOf(agentsIn(protocol.State{}, protocol.State{}), func(s *trialScope) { s.attempt = 2 })
	if _, err := r.check(t.Context(), s, s.generators()[0]); err != nil {
		t.Fatal(err)
	}
	want := []protocol.Command{{Trial: "trial-uid", Attempt: 2, Member: record.MemberGenerator(0), Check: &protocol.Check{Targets: []string{"192.0.2.1:8080"}, Requests: []record.Request{{}}, Cells: s.plan.Cells}}}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATrialFollowsItsRunToItsEnd(t *testing.T) {
	at := &metav1.Time{Time: noon}
	for name, tc := range map[string]struct {
		change func(*trialScope)
		want   string
	}{
		"the run goes on":       {func(*trialScope) {}, ""},
		"the run is gone":       {func(s *trialScope) { s.run = nil }, "Deleted permanent: BenchmarkRun quick is being deleted"},
		"the run is being gone": {func(s *trialScope) { s.run.DeletionTimestamp = at }, "Deleted permanent: BenchmarkRun quick is being deleted"},
		"the run has ended": {func(s *trialScope) {
			s.run.Status.CompletionTime = at
			s.run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonTimedOut}}
		}, "TimedOut permanent: BenchmarkRun quick has ended"},
		"the run has ended early": {
			func(s *trialScope) { s.run.Status.Interim.StoppedAfterBlock = 9; inBlock(10)(s) },
			"StoppedEarly permanent: BenchmarkRun quick stopped early, after block 9: its intervals are narrow enough",
		},
		"the run has ended early, after this block": {func(s *trialScope) { s.run.Status.Interim.StoppedAfterBlock = 10; inBlock(10)(s) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scopeOf(tc.change)
			next, err := (&TrialReconciler{}).follow(t.Context(), s)
			if got := describe(s.fault); err != nil || got != tc.want || next.Stop != (tc.want != "") {
				t.Errorf("got %q, %+v, %v, want %q", got, next, err, tc.want)
			}
		})
	}
}

// An empty body is another request than the one that the run names.
func TestTrialWaitsUntilRequestBodiesAreFrozen(t *testing.T) {
	s := scopeOf(func(s *trialScope) {
		for _, m := range s.members {
			m.pod = nil
		}
		s.plan.Cells[0].Request.From = &record.BodySource{ConfigMap: "mine", Key: "order.json"}
	})
	step, err := (&TrialReconciler{Store: brokenStore{}}).ensurePods(t.Context(), s)
	if err != nil || step.After != retryStore || s.waiting != "the request body mine/order.json is not stored yet" || len(s.pods()) > 0 {
		t.Errorf("the phase ends with %+v, %v, %q, pods %v", step, err, s.waiting, s.pods())
	}
}

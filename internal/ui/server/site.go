package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/ui"
)

type site struct {
	frame        ui.Frame
	runs, suites *mirror
	trials       *trials
	news         *news
	stored       stored
	reports      *reports
	// turns limits files in memory: those being sent to browsers, and reports.
	turns   chan struct{}
	explain func(error) error
	ctx     context.Context
}

func newSite(ctx context.Context, f ui.Frame, c client.WithWatch, from stored) *site {
	s := &site{frame: f, news: &news{}, stored: from, turns: make(chan struct{}, filesAtOnce), ctx: ctx}
	s.explain = func(err error) error { return kube.Explain(f.Cluster, err) }
	runs, suites := func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} }, func() client.ObjectList { return &v1alpha1.BenchmarkSuiteList{} }
	s.runs, s.suites = newMirror(c, f.Namespace, "BenchmarkRuns", runs, s.news.tell), newMirror(c, f.Namespace, "BenchmarkSuites", suites, s.news.tell)
	if len(f.Led) > 0 {
		s.runs, s.suites = newMirrors(c, f.Led, "BenchmarkRuns", runs, s.news.tell), newMirrors(c, f.Led, "BenchmarkSuites", suites, s.news.tell)
	}
	if f.Shared {
		s.explain = explainShared
		s.runs.explains(s.explain)
		s.suites.explains(s.explain)
	}
	s.trials = &trials{ctx: ctx, make: func(r *v1alpha1.BenchmarkRun) *mirror {
		m := newMirror(c, r.Namespace, "Trials", func() client.ObjectList { return &v1alpha1.TrialList{} }, s.news.tell)
		m.labels = selectTrials(r)
		m.explains(s.explain)
		return m
	}}
	s.reports = newReports(ctx, from, s.turns, s.news.tell)
	return s
}

func (s *site) server(l net.Listener) *http.Server {
	return serverOf(s.ctx, guard(l.Addr(), s.routes()))
}

func serverOf(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: fetchDeadline + 10*time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

func (s *site) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET "+ui.QueuePath+"{$}", s.queuePage)
	m.HandleFunc("GET "+ui.RunsPath, s.runsPage)
	m.HandleFunc("GET "+ui.RunsPath+"/{namespace}/{name}", s.runPage)
	m.HandleFunc("GET "+ui.RunsPath+"/{namespace}/{name}/files/{file...}", s.file)
	m.HandleFunc("GET "+ui.SuitesPath, s.suitesPage)
	m.HandleFunc("GET "+ui.SuitesPath+"/{namespace}/{name}", s.suitePage)
	m.HandleFunc("GET "+ui.NoisePath, s.noisePage)
	m.HandleFunc("GET "+ui.EventsPath, s.news.stream)
	for path, asset := range map[string]struct{ kind, text string }{
		ui.StylePath: {"text/css; charset=utf-8", ui.StyleSheet()}, ui.ScriptPath: {"text/javascript; charset=utf-8", ui.Script}, ui.IconPath: {"image/svg+xml", ui.Icon},
	} {
		m.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, asset.kind, []byte(asset.text)) })
	}
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.trouble(w, http.StatusNotFound, "Not found", "There is no such page.")
	})
	return m
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func show(w http.ResponseWriter, status int, p ui.Page) {
	body, err := p.HTML()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, status, "text/html; charset=utf-8", body)
}

func (s *site) trouble(w http.ResponseWriter, status int, title, sentence string) {
	show(w, status, ui.Trouble(s.now(), title, sentence))
}

func (s *site) failed(w http.ResponseWriter, what string, err error) {
	status := http.StatusBadGateway
	if apierrors.IsForbidden(err) {
		status = http.StatusForbidden
	}
	s.trouble(w, status, what+" cannot be listed", fmt.Sprintf("%v. This page is asked for again when that has changed.", s.explain(err)))
}

func (s *site) now() ui.Frame {
	f := s.frame
	f.Now = time.Now()
	f.Trouble, f.Partial = s.runs.trouble(), s.runs.isPartial()
	return f
}

func (s *site) queuePage(w http.ResponseWriter, q *http.Request) {
	runs, err := seen[v1alpha1.BenchmarkRun](q.Context(), s.runs)
	if err != nil {
		s.failed(w, "Runs", err)
		return
	}
	trials := map[types.UID]ui.Trials{}
	for _, r := range ui.Measuring(runs) {
		trials[r.UID] = s.trials.of(q.Context(), &r)
	}
	show(w, http.StatusOK, ui.Queue(s.now(), runs, trials))
}

func (s *site) runsPage(w http.ResponseWriter, q *http.Request) {
	runs, err := seen[v1alpha1.BenchmarkRun](q.Context(), s.runs)
	if err != nil {
		s.failed(w, "Runs", err)
		return
	}
	show(w, http.StatusOK, ui.Runs(s.now(), runs, q.URL.Query().Get("namespace")))
}

func named[T any, P interface {
	*T
	client.Object
}](q *http.Request, all []T) P {
	found := util.First(all, func(o *T) bool {
		return P(o).GetNamespace() == q.PathValue("namespace") && P(o).GetName() == q.PathValue("name")
	})
	return P(found)
}

func (s *site) absent(w http.ResponseWriter, q *http.Request, kind, word string) {
	unless := ", or you may not list it"
	if s.frame.Shared {
		unless = " of those that are shown here"
	}
	s.trouble(w, http.StatusNotFound, "No such "+word, fmt.Sprintf("There is no %s %s in namespace %s%s: it may have been deleted.", kind, q.PathValue("name"), q.PathValue("namespace"), unless))
}

func (s *site) runOf(w http.ResponseWriter, q *http.Request) *v1alpha1.BenchmarkRun {
	all, err := seen[v1alpha1.BenchmarkRun](q.Context(), s.runs)
	if err != nil {
		s.failed(w, "Runs", err)
		return nil
	}
	r := named(q, all)
	if r == nil {
		s.absent(w, q, "BenchmarkRun", "run")
	}
	return r
}

func (s *site) runPage(w http.ResponseWriter, q *http.Request) {
	if r := s.runOf(w, q); r != nil {
		show(w, http.StatusOK, ui.Run(s.now(), r, s.trials.of(q.Context(), r), reportOf(r)))
	}
}

func reportOf(r *v1alpha1.BenchmarkRun) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.Status.Report.URI, "s3://"), "/")
	file, own := strings.CutPrefix(key, download.PrefixOf(r)+"/")
	if !own {
		return ""
	}
	return file
}

func (s *site) suitesPage(w http.ResponseWriter, q *http.Request) {
	suites, err := seen[v1alpha1.BenchmarkSuite](q.Context(), s.suites)
	if err != nil {
		s.failed(w, "Suites", err)
		return
	}
	show(w, http.StatusOK, ui.Suites(s.ofSuites(), suites))
}

func (s *site) ofSuites() ui.Frame {
	f := s.now()
	f.Trouble = cmp.Or(s.suites.trouble(), f.Trouble)
	return f
}

func (s *site) suitePage(w http.ResponseWriter, q *http.Request) {
	suites, err := seen[v1alpha1.BenchmarkSuite](q.Context(), s.suites)
	runs, errRuns := seen[v1alpha1.BenchmarkRun](q.Context(), s.runs)
	if err = errors.Join(err, errRuns); err != nil {
		s.failed(w, "Suites", err)
		return
	}
	s.reports.forget(suites)
	suite := named(q, suites)
	if suite == nil {
		s.absent(w, q, "BenchmarkSuite", "suite")
		return
	}
	var own []v1alpha1.BenchmarkRun
	for _, r := range runs {
		if r.Namespace == suite.Namespace && r.Labels[v1alpha1.LabelSuiteUID] == string(suite.UID) {
			own = append(own, r)
		}
	}
	show(w, http.StatusOK, ui.Suite(s.ofSuites(), suite, own, s.reports.history(q.Context(), suite, own)))
}

func (s *site) noisePage(w http.ResponseWriter, q *http.Request) {
	runs, err := seen[v1alpha1.BenchmarkRun](q.Context(), s.runs)
	if err != nil {
		s.failed(w, "Runs", err)
		return
	}
	show(w, http.StatusOK, ui.Noise(s.now(), s.reports.noise(q.Context(), runs)))
}

// Content security policies. Pages load only from this server. Stored files may use only their own styles, in a sandbox without access.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	filePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-downloads"
)

// guard allows only this server's own names, so that a foreign name that resolves here cannot read pages, and only read requests.
func guard(address net.Addr, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address.String()) // A listener's address is valid.
	names := []string{net.JoinHostPort(host, port), net.JoinHostPort("localhost", port)}
	if port == "80" {
		names = append(names, host, "localhost")
	}
	isOurs := func(name string) bool { return slices.Contains(names, name) }
	return answering(isOurs, fmt.Sprintf("this server answers to http://%s/ alone", names[0]), next)
}

// answering allows only read requests under an allowed host name.
func answering(isOurs func(host string) bool, otherwise string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !isOurs(q.Host):
			http.Error(w, otherwise, http.StatusMisdirectedRequest)
		case q.Method != http.MethodGet && q.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the pages change nothing: only GET and HEAD are answered", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, q)
		}
	})
}

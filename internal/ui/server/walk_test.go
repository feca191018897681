package server

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/ui"
)

var pictures = flag.String("pictures", "", "leave pictures of the pages in this `FOLDER`")

type walked struct {
	name, path, shows string
	// missing: the page is a 404, which browsers also log.
	missing bool
}

// Opens each page in a browser, from a cluster and a store. The console stays empty, accessibility checks pass, the keyboard reaches
// everything, and pages follow the cluster.
func TestThePagesInABrowser(t *testing.T) {
	w, b := newShown(t), newBrowser(t)
	flags := w.flags("", w.run.Namespace)
	flags.System = w.run.Namespace
	site := w.start(flags, false)
	of := func(r *v1alpha1.BenchmarkRun) string { return ui.RunPath(r.Namespace, r.Name) }
	for _, p := range []walked{
		{name: "queue", path: ui.QueuePath, shows: "Waiting for their turn"},
		{name: "runs", path: ui.RunsPath, shows: found},
		{name: "run-measuring", path: of(w.measuring), shows: "There is no report yet."},
		{name: "run-waiting", path: of(w.waiting), shows: "runs take turns"},
		{name: "run-ended", path: of(w.run), shows: "Open the report by itself"},
		{name: "suites", path: ui.SuitesPath, shows: "round 21, 0/1 runs ended"},
		{name: "suite", path: ui.SuitePath(w.suite.Namespace, w.suite.Name), shows: "Worse than before"},
		{name: "noise", path: ui.NoisePath, shows: "intervals leave out 0 %"},
		{name: "trouble", path: "/nothing", shows: "There is no such page.", missing: true},
	} {
		t.Run(p.name, func(t *testing.T) { b.of(t).walk(site.address, p) })
	}
	t.Run("what nobody could use is found", func(t *testing.T) {
		b := b.of(t)
		b.do("hanging up a picture without words", chromedp.Evaluate[chromedp.Void](`document.body.append(new Image())`), chromedp.Evaluate[chromedp.Void](b.axe))
		if found := ask[[]string](b, violations); len(found) != 1 || !strings.HasPrefix(found[0], "image-alt, critical") {
			t.Errorf("axe-core finds %q", found)
		}
	})
	t.Run("the report by itself", func(t *testing.T) { b.of(t).report(w.of(t), site.address) })
	t.Run("what has changed is shown without another page", func(t *testing.T) { b.of(t).follow(w.of(t), site.address) })
}

func (b *browser) walk(address string, p walked) {
	b.as(looks[0])
	b.open(address+p.path, p.shows)
	if !p.missing {
		b.wantQuiet()
	}
	if text := b.text(); strings.Contains(text, early) {
		b.t.Errorf("it shows a verdict of a run that measures:\n%s", text)
	}
	for _, l := range looks {
		b.as(l)
		b.wantUsable(l.name)
		if !l.dark {
			b.wantReached(l.name)
		}
		if *pictures != "" {
			b.picture(*pictures, p.name+"-"+l.name)
		}
	}
	if !p.missing {
		b.wantQuiet()
	}
	b.drop()
}

// report opens the ended run's report: as served, where its policy may break nothing, and without a policy, for axe-core.
func (b *browser) report(w *shown, address string) {
	file := ui.FilePath(w.run.Namespace, w.run.Name, reportOf(w.run))
	b.as(looks[0])
	b.do("opening the report", chromedp.Navigate(address+file))
	b.await(shows("go-slow"))
	b.wantQuiet()
	status, body := w.page(address + file)
	if status != http.StatusOK {
		b.t.Fatalf("the report is %d: %s", status, body)
	}
	free := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "text/html; charset=utf-8", []byte(body))
	}))
	defer free.Close()
	b.do("opening the report alone", chromedp.Navigate(free.URL))
	for _, l := range []look{looks[0], looks[len(looks)-1]} { // Reports are long, and axe-core is slow.
		b.as(l)
		b.wantUsable(l.name)
		if *pictures != "" {
			b.picture(*pictures, "report-"+l.name)
		}
	}
	b.drop()
}

// follow keeps a page open while its content changes. The reader's position must stay.
func (b *browser) follow(w *shown, address string) {
	b.as(looks[0])
	b.open(address+ui.RunPath(w.measuring.Namespace, w.measuring.Name), "There is no report yet.")
	const same = "window.stays === true"
	b.do("opening the conditions", chromedp.Evaluate[chromedp.Void](`window.stays = true; document.querySelector("#conditions summary").focus(); document.querySelector("#conditions").open = true`))
	stays := func(what string) {
		b.t.Helper()
		for _, so := range []string{same, `document.querySelector("#conditions").open`, `document.activeElement.closest("#conditions") !== null`} {
			if !ask[bool](b, so) {
				b.t.Errorf("after %s it is not true that %s", what, so)
			}
		}
	}
	var trials v1alpha1.TrialList
	w.must(w.c.List(b.t.Context(), &trials, client.InNamespace(w.measuring.Namespace), selectTrials(w.measuring)))
	at := slices.IndexFunc(trials.Items, func(t v1alpha1.Trial) bool { return t.Status.Attempt == 2 })
	trial := &trials.Items[at]
	now := metav1.NowMicro()
	trial.Status = trialEnded(now, now, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "the node went away")
	w.must(w.c.Status().Update(b.t.Context(), trial))
	b.await(shows("the node went away"))
	stays("the end of a trial")
	if text := b.text(); strings.Contains(text, early) {
		b.t.Errorf("it shows a verdict of a run that measures:\n%s", text)
	}
	w.end(w.measuring, early)
	b.await(shows(early))
	stays("the end of the run")
	// Several rows link to the same page: the focus must stay in its row.
	b.open(address+ui.RunsPath, early)
	b.do("reaching a link of the third row", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("a[href^='/runs?']")[2].focus()`))
	w.end(w.waiting, found+" at all")
	b.await(shows(found + " at all"))
	if row := ask[int](b, `[...document.querySelectorAll("a[href^='/runs?']")].indexOf(document.activeElement)`); row != 2 {
		b.t.Errorf("after the end of a run the keyboard is in row %d, counted from 0, and not in row 2", row)
	}
	b.wantQuiet()
}

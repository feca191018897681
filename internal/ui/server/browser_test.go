package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"loadstone.dev/loadstone/internal/testbed"
)

const browserDeadline = 2 * testbed.Patience

type browser struct {
	t       *testing.T
	ctx     context.Context
	console *console
	axe     string
}

type look struct {
	name          string
	width, height int64
	phone, dark   bool
}

var looks = []look{
	{"wide-light", 1280, 900, false, false},
	{"wide-dark", 1280, 900, false, true},
	{"phone-light", 390, 844, true, false},
	{"phone-dark", 390, 844, true, true},
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	testbed.Programs(t, "chromium")
	b := &browser{t: t, console: &console{}, axe: axeCore(t)}
	whole, end := context.WithTimeout(t.Context(), browserDeadline)
	t.Cleanup(end)
	started, kill := chromedp.NewExecAllocator(whole, append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath("chromium"))...)
	t.Cleanup(kill)
	page, leave := chromedp.NewContext(started)
	t.Cleanup(leave)
	b.ctx = page
	if err := chromedp.Listen(page, b.console.hear); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return b
}

// axeCore reads axe-core. If it is missing, the test is skipped; in CI it fails.
func axeCore(t *testing.T) string {
	t.Helper()
	file := filepath.Join(testbed.Assets(), "axe.min.js")
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("%s cannot be read, where hack/test.sh leaves axe-core: %v", file, err)
	default:
		t.Skipf("there is no axe-core in %s: make test fetches it", file)
	}
	return string(text)
}

func (b *browser) of(t *testing.T) *browser {
	t.Helper()
	own := *b
	own.t = t
	return &own
}

func (b *browser) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testbed.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// ask evaluates an expression in the page, and waits for a promise.
func ask[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testbed.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("asking the page for %s: %v", expression, err)
	}
	return v
}

func (b *browser) await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(testbed.Patience); !ask[bool](b, expression); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("it is never true that %s, of a page that says:\n%s", expression, b.text())
		}
	}
}

func (b *browser) text() string { return ask[string](b, "document.body.innerText") }

func shows(text string) string { return "document.body.innerText.includes(" + quoted(text) + ")" }

func quoted(text string) string {
	out, _ := json.Marshal(text) // A string always has a JSON form.
	return string(out)
}

// open opens a page, and waits until it shows a text and its stream is open.
func (b *browser) open(address, text string) {
	b.t.Helper()
	b.do("opening "+address, chromedp.Navigate(address))
	b.await(`document.getElementById("live").textContent === "live"`)
	b.await(shows(text))
}

func (b *browser) as(l look) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if l.phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	scheme := map[bool]string{false: "light", true: "dark"}[l.dark]
	b.do("looking as "+l.name, chromedp.EmulateViewport(l.width, l.height, options...), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

func (b *browser) press(key string) {
	b.t.Helper()
	b.do("pressing a key", chromedp.KeyEvent(key))
}

// violations asks axe-core for serious accessibility problems. It cannot run in frames, so they are skipped.
const violations = `axe.run(document, {iframes: false, preload: false, resultTypes: ["violations"]}).then((found) => found.violations
	.filter((v) => v.impact === "serious" || v.impact === "critical")
	.map((v) => v.id + ", " + v.impact + ": " + v.help + v.nodes.slice(0, 5).map((n) => "\n  " + n.html.slice(0, 300) + "\n  " + n.failureSummary).join("")))`

// wantUsable requires no serious axe-core findings, and no horizontal scrolling.
func (b *browser) wantUsable(as string) {
	b.t.Helper()
	b.do("reading axe-core", chromedp.Evaluate[chromedp.Void](b.axe))
	for _, v := range ask[[]string](b, violations) {
		b.t.Errorf("%s: %s", as, v)
	}
	if over := ask[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.t.Errorf("%s: the page is %d pixels wider than the window", as, over)
	}
}

// reachable are the elements that the keyboard must reach, in order.
const reachable = `[...document.querySelectorAll("a[href], summary, iframe, [tabindex='0']")].filter((e) => e.checkVisibility())`

// wantReached presses Tab through all of them; each must show its focus.
func (b *browser) wantReached(as string) {
	b.t.Helper()
	all := ask[int](b, reachable+".length")
	b.do("beginning at the top", chromedp.Evaluate[chromedp.Void](reachable+"[0].focus()"))
	type stop struct {
		At   int
		Name string
		Ring bool
	}
	const here = `(() => {
		const e = document.activeElement;
		return {At: ` + reachable + `.indexOf(e), Name: e.outerHTML.slice(0, 200), Ring: e.tagName === "IFRAME" || getComputedStyle(e).outlineStyle !== "none"};
	})()`
	// A framed page may have many stops.
	last := 0
	for range 500 {
		if last == all-1 {
			return
		}
		b.press("\t")
		s := ask[stop](b, here)
		// A frame may be another process, which reports focus late.
		for end := time.Now().Add(testbed.Patience); s.At < 0 && time.Now().Before(end); s = ask[stop](b, here) {
			time.Sleep(20 * time.Millisecond)
		}
		if s.At != last && s.At != last+1 {
			b.t.Errorf("%s: after stop %d of %d the key Tab leads to %d, %s", as, last, all, s.At, s.Name)
			return
		}
		if !s.Ring {
			b.t.Errorf("%s: nobody sees that %s is reached", as, s.Name)
		}
		last = s.At
	}
	b.t.Errorf("%s: the key Tab comes to %d of %d stops", as, last+1, all)
}

type console struct {
	mu   sync.Mutex
	said []string
}

func (c *console) hear(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if kind := string(e.Type); kind == "error" || kind == "warning" || kind == "assert" {
			text = kind + ":"
			for _, a := range e.Args {
				text += " " + string(a.Value) + a.Description
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			text = fmt.Sprintf("%s of %s: %s %s", e.Entry.Level, e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
	if text == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, text)
}

// wantQuiet requires no console messages since the last call.
func (b *browser) wantQuiet() {
	b.t.Helper()
	b.console.mu.Lock()
	defer b.console.mu.Unlock()
	if len(b.console.said) > 0 {
		b.t.Errorf("the console says:\n%s", strings.Join(b.console.said, "\n"))
	}
	b.console.said = nil
}

func (b *browser) drop() {
	b.console.mu.Lock()
	defer b.console.mu.Unlock()
	b.console.said = nil
}

func (b *browser) picture(folder, name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testbed.Patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Errorf("taking the picture %s: %v", name, err)
	}
}

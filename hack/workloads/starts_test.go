package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// TestMain lets the test binary run as a server.
func TestMain(m *testing.M) {
	if port, ok := strings.CutPrefix(os.Args[len(os.Args)-1], "--port="); ok {
		page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		server := http.Server{Addr: "127.0.0.1:" + port, Handler: page, ReadHeaderTimeout: time.Minute}
		fmt.Fprintln(os.Stderr, server.ListenAndServe())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestStartsAreLinesOfARecord(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBufferString(`{"run":"zco-start","started":"2026-03-14T09:00:00Z","ended":"2026-03-14T09:10:00Z","loadstone":"v1","blocks":2,"machine":{}}` + "\n")
	if err := run(t.Context(), out, []string{"starts", "2", "self=" + self}); err != nil {
		t.Fatal(err)
	}
	r, err := decode(out.Bytes(), startRun)
	if err != nil || len(r.sights) != 2 {
		t.Fatalf("got %v: %s", err, out.String())
	}
	for i, s := range r.sights {
		if s.Block != int32(i)+1 || s.Implementation != "self" || s.StartNanos <= 0 || s.ProgramBytes != file.Size() {
			t.Errorf("got %+v", s)
		}
	}
}

func TestStartFailureIsAnError(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for name, args := range map[string][]string{
		"no number of times":          {"none", "self=" + self},
		"no program":                  {"1", "self=/nowhere"},
		"a program that ends at once": {"1", "self=/bin/true"},
	} {
		if err := run(t.Context(), &out, append([]string{"starts"}, args...)); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	if out.Len() > 0 {
		t.Errorf("got %s", out.String())
	}
}

func TestStartGivesFigures(t *testing.T) {
	r := &results{head: head{Run: startRun, Blocks: 2}}
	for block := int32(1); block <= 2; block++ {
		r.sights = append(r.sights,
			sight{Block: block, Implementation: "zco", StartNanos: 2e6, ProgramBytes: 300 << 10},
			sight{Block: block, Implementation: "gohttp", StartNanos: 4e6, ProgramBytes: 6000 << 10})
	}
	want := map[string]float64{"zco-start": 2, "zco-start-to-gohttp": 0.5, "zco-size": 300, "zco-size-to-gohttp": 0.05}
	for _, c := range table {
		if v, ok := want[c.name]; ok {
			if got := c.figure(r); fmt.Sprintf("%.4g", got.Value) != fmt.Sprint(v) {
				t.Errorf("got %s, want %g", got.Line(), v)
			}
			delete(want, c.name)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no rows %v", want)
	}
}

func TestANumberOfOneBlockMayBeZero(t *testing.T) {
	r := &results{head: head{Run: allocationsRun, Blocks: 1}, sights: []sight{{
		Block: 1, Implementation: "netpoll", At: record.Point{}, Cases: map[string]map[string]float64{"baseline": {"allocations": 0, "B": 0}},
	}}}
	p := pageOf(nil, map[string]*results{allocationsRun: r}, nil)
	got, findings := p.render("<!-- = ipc-allocations/netpoll/baseline/B %.0f -->old<!-- . -->")
	if !strings.Contains(got, "-->0<!--") || len(findings) > 0 {
		t.Errorf("got %s, %q", got, findings)
	}
}

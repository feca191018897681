package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func elements(t *testing.T, page []byte, visit func(name string, attr func(string) string)) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			visit(e.Name.Local, func(name string) string {
				i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
				if i < 0 {
					return ""
				}
				return e.Attr[i].Value
			})
		}
	}
}

func TestThePageCanBeUsedWithoutEyesOrMouse(t *testing.T) {
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			ids, links, tables, captions := map[string]bool{}, map[string]bool{}, 0, 0
			elements(t, html(t, fixture()), func(name string, attr func(string) string) {
				if id := attr("id"); id != "" {
					if ids[id] {
						t.Errorf("the id %s is there twice", id)
					}
					ids[id] = true
				}
				if id, ok := strings.CutPrefix(attr("href"), "#"); ok {
					links[id] = true
				}
				switch {
				case name == "section" && attr("id") == "":
					t.Error("a section has no id")
				case name == "table":
					tables++
				case name == "caption":
					captions++
				case name == "th" && attr("scope") == "":
					t.Error("a heading of a table has no scope")
				case name == "svg" && attr("role") == "img" && attr("aria-label") == "":
					t.Error("a picture has no name")
				case attr("class") == "scroll" && attr("role") == "region" && (attr("tabindex") != "0" || attr("aria-label") == ""):
					t.Error("what scrolls cannot be reached or has no name")
				}
			})
			for id := range links {
				if !ids[id] {
					t.Errorf("the contents name %s, which is not there", id)
				}
			}
			for id := range ids {
				if !links[id] {
					t.Errorf("the contents lack %s", id)
				}
			}
			if tables == 0 || tables != captions {
				t.Errorf("%d tables have %d captions", tables, captions)
			}
		})
	}
}

func TestALimitNeitherAlarmsNorMakesTheScale(t *testing.T) {
	out := string(html(t, small(10)))
	for name, want := range map[string]string{
		"the badge of the contenders": `<li class="good">40 of 40 cells valid</li>`,
		"the badge of the limit":      `<li class="plain">reference: 0 of 20 cells valid, 20 suspect</li>`,
		"the limit's value":           "epoll ≥ ",
		"the scale of the contenders": ">100k</text>",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not shown: no %q", name, want)
		}
	}
	for name, absent := range map[string]string{"the scale of the limit": ">200k</text>", "an alarm": `<li class="care">`} {
		if strings.Contains(out, absent) {
			t.Errorf("%s is shown: %q", name, absent)
		}
	}
}

func TestRateAndConnectionsNeverShareAnAxis(t *testing.T) {
	out := string(html(t, bracketed()))
	closed, open, ok := strings.Cut(out[strings.Index(out, "<h3>sweep: fixed connections</h3>"):], "<h3>sweep: imposed arrival rate</h3>")
	if !ok {
		t.Fatal("the two models have no pictures of their own")
	}
	open, _, _ = strings.Cut(open, "</section>")
	if strings.Contains(closed, ">2,000</text>") || !strings.Contains(open, ">2,000</text>") || strings.Contains(open, ">connections</text>") {
		t.Error("a rate stands on the axis of connections, or the other way round")
	}
}

func TestACellLeadsToItsRawOutput(t *testing.T) {
	want := `<a href="../../trials/quick-b02-go/attempt-1/generator-0/sweep-10.wrk.txt">`
	d := quick()
	if out := string(html(t, d)); strings.Contains(out, want) {
		t.Errorf("the name of the run is not in its keys, and yet there is %s", want)
	}
	for i := range d.Trials {
		for k := range d.Trials[i].Manifest.Artifacts {
			a := &d.Trials[i].Manifest.Artifacts[k]
			a.Key = strings.ReplaceAll(a.Key, "duel-", "quick-")
		}
	}
	d.Manifest.Run.Name = "quick"
	if out := string(html(t, d)); strings.Count(out, want) != 2 {
		t.Errorf("%d times %s, want once for the cell and once for the object", strings.Count(out, want), want)
	}
}

func TestNoIntervalReachesBelowZero(t *testing.T) {
	negative := regexp.MustCompile(`>-[0-9][^<]*<`)
	for name, fixture := range fixtures {
		t.Run(name, func(t *testing.T) {
			out := html(t, fixture())
			for _, found := range negative.FindAll(out, -1) {
				if !bytes.Contains(found, []byte(" B")) && !bytes.Contains(found, []byte(" %")) {
					t.Errorf("there is %s", found)
				}
			}
		})
	}
}

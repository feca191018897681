package main

import (
	"strings"
	"testing"
)

const (
	headerLine    = `{"header":{"seed":7,"blocks":2,"figures":["g-r"]}}`
	cellLine      = `{"cell":{"group":"g","program":"x","load":"case","case":"a","cpus":"1","block":1,"attempt":1,"measured":{"operations":5}}}`
	disturbedLine = `{"cell":{"group":"g","program":"x","load":"case","case":"a","cpus":"1","block":1,"attempt":1,"disturbed":"others","measured":{"operations":4}}}`
	failureLine   = `{"failure":{"group":"g","program":"y","load":"keep-alive","connections":10,"why":"y is missing"}}`
)

func TestReadingRawData(t *testing.T) {
	tests := map[string]struct {
		lines   []string
		want    int64
		wantErr string
	}{
		"cells and failures":                        {[]string{headerLine, cellLine, failureLine}, 5, ""},
		"what is disturbed does not count":          {[]string{headerLine, disturbedLine, cellLine}, 5, ""},
		"whatever comes after":                      {[]string{headerLine, cellLine, disturbedLine}, 5, ""},
		"an interrupted program may cut a line off": {[]string{headerLine, cellLine, `{"cell":{"gro`}, 5, ""},
		"but none before the last":                  {[]string{headerLine, `{"cell":{"gro`, cellLine}, 0, "line 2"},
		"nothing":                                   {nil, 0, "no header"},
		"half of a header":                          {[]string{`{"hea`}, 0, "line 1"},
		"no header":                                 {[]string{cellLine}, 0, "the first line is the header"},
		"two headers":                               {[]string{headerLine, headerLine}, 0, "the first line is the header"},
		"a header without blocks":                   {[]string{`{"header":{}}`}, 0, "no header"},
	}
	at := spot{place{"g", single("x", "a")}, 1}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := read(strings.NewReader(strings.Join(tc.lines, "\n")))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || r.entries[at].Measured.Operations != tc.want || r.Seed != 7 || !r.chosen("g-r") || r.chosen("g-s") {
				t.Errorf("got %+v, %v", r, err)
			}
			if len(tc.lines) > 2 && tc.lines[2] == failureLine && r.failures[place{"g", wrk("y", 10)}] != "y is missing" {
				t.Errorf("got the failures %v", r.failures)
			}
		})
	}
}

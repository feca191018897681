package main

import (
	"strings"
	"testing"
)

func TestTheLineOfACase(t *testing.T) {
	tests := map[string]struct{ out, wantErr string }{
		"as it should be":   {`{"case":"a","operations":12,"wallSeconds":1.5,"cpuSeconds":1.25}` + "\n", ""},
		"nothing":           {"", "no line of JSON"},
		"two lines":         {"{}\n{}\n", "more than one line"},
		"another case":      {`{"case":"b","operations":12,"wallSeconds":1.5,"cpuSeconds":1}`, `the case "b"`},
		"no operations":     {`{"case":"a","operations":0,"wallSeconds":1.5,"cpuSeconds":1}`, "0 operations"},
		"too short":         {`{"case":"a","operations":12,"wallSeconds":0.9,"cpuSeconds":1}`, "instead of 1"},
		"without CPU time":  {`{"case":"a","operations":12,"wallSeconds":1.5}`, "no CPU time"},
		"a number too many": {`{"case":"a","operations":1.5,"wallSeconds":1.5,"cpuSeconds":1}`, "no line of JSON"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseCase([]byte(tc.out), "a")
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want %q", err, tc.wantErr)
				}
				return
			}
			if want := (measured{Operations: 12, WallSeconds: 1.5, CPUSeconds: 1.25}); err != nil || got != want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestPerfsCount(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64
	}{
		"a count":          {"# started on Sat\n\n2345,,raw_syscalls:sys_enter,1000,100.00,,\n", 2345},
		"a count of none":  {"<not counted>,,raw_syscalls:sys_enter,0,100.00,,\n", 0},
		"another event":    {"2345,,cycles,1000,100.00,,\n", 0},
		"nothing whatever": {"", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := parsePerf(tc.text); got != tc.want || (err == nil) != (tc.want > 0) {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
		})
	}
}

func TestJainsIndex(t *testing.T) {
	for name, tc := range map[string]struct {
		counts []int64
		want   float64
	}{
		"equals":          {[]int64{7, 7, 7, 7}, 1},
		"one has all":     {[]int64{7, 0, 0, 0}, 0.25},
		"half have twice": {[]int64{1, 2}, 0.9},
		"nobody has any":  {[]int64{0, 0}, 0},
	} {
		if got := jainIndex(tc.counts); got != tc.want {
			t.Errorf("%s: got %g, want %g", name, got, tc.want)
		}
	}
}

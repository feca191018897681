package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const module = "loadstone.dev/loadstone"

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

type pkg struct {
	said   map[string]*strings.Builder // by test; of the package itself under ""
	began  []string                    // tests, in the order of their starts
	status map[string]string           // the last action of an ended test
}

type summary struct {
	out      io.Writer
	verbose  bool
	packages map[string]*pkg
	failed   []string
	tests    map[string][]string
}

func (s *summary) read(r *bufio.Reader) error {
	for {
		line, err := r.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var e event
			if json.Unmarshal(text, &e) == nil {
				s.take(e)
			} else {
				fmt.Fprintf(s.out, "%s\n", text)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading what go test says: %w", err)
		}
	}
}

func (s *summary) take(e event) {
	if e.Action == "build-output" {
		fmt.Fprint(s.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{said: map[string]*strings.Builder{}, status: map[string]string{}}
		s.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.began = append(p.began, e.Test)
	case "output":
		p.say(e.Test, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.end(e, p)
			return
		}
		p.status[e.Test] = e.Action
		if s.verbose && e.Action == "pass" && !strings.Contains(e.Test, "/") {
			fmt.Fprintf(s.out, "      %s  %.1fs\n", e.Test, e.Elapsed)
		}
	}
}

// say keeps the output of a test, without lines that mark its start or continuation.
func (p *pkg) say(test, text string) {
	if strings.HasPrefix(text, "=== ") {
		return
	}
	b := p.said[test]
	if b == nil {
		b = &strings.Builder{}
		p.said[test] = b
	}
	b.WriteString(text)
}

func (s *summary) end(e event, p *pkg) {
	delete(s.packages, e.Package)
	name := strings.TrimPrefix(e.Package, module+"/")
	if e.Action == "skip" { // It has no tests.
		return
	}
	own := ""
	if b := p.said[""]; b != nil {
		own = b.String()
	}
	if e.Action == "pass" {
		took := fmt.Sprintf("%.1fs", e.Elapsed)
		if strings.Contains(own, "(cached)") {
			took = "cached"
		}
		fmt.Fprintf(s.out, "ok    %s  %s\n", name, took)
		return
	}
	fmt.Fprintf(s.out, "FAIL  %s  %.1fs\n", name, e.Elapsed)
	s.failed = append(s.failed, name)
	for _, test := range p.began {
		// A test without a final status was running when the process ended.
		if status := p.status[test]; status == "pass" || status == "skip" {
			continue
		}
		if b := p.said[test]; b != nil {
			fmt.Fprint(s.out, b.String())
		}
		if top, _, _ := strings.Cut(test, "/"); !slices.Contains(s.tests[name], top) {
			if s.tests == nil {
				s.tests = map[string][]string{}
			}
			s.tests[name] = append(s.tests[name], top)
		}
	}
	fmt.Fprint(s.out, own)
}

// commands run each failed test. A package that failed without a test is run as a whole.
func (s *summary) commands(race bool) []string {
	command := "go test "
	if race {
		command += "-race "
	}
	var out []string
	for _, name := range s.failed {
		if len(s.tests[name]) == 0 {
			out = append(out, command+"./"+name)
		}
		for _, test := range s.tests[name] {
			out = append(out, fmt.Sprintf("%s./%s -run '^%s$'", command, name, test))
		}
	}
	return out
}

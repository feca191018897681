package memcheck

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

const (
	// MaxBytes bounds the file.
	MaxBytes = 256 << 20
	// MaxContexts bounds error contexts and leaks: valgrind stops after a thousand errors.
	MaxContexts = 10_000
	maxFrames   = 500
	maxText     = 4096
	maxTotal    = 1 << 48
)

type state struct {
	result Result
	at     map[string]int
}

// Parse parses memcheck's XML. If the file ends early, the part read is returned with the error.
func Parse(r io.Reader) (Result, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	s := state{at: map[string]int{}}
	err := s.read(xml.NewDecoder(limited))
	if limited.N <= 0 {
		err = fmt.Errorf("%w: more than %d bytes", lines.ErrLarge, MaxBytes)
	}
	if err != nil {
		return s.result, fmt.Errorf("reading memcheck's XML: %w", err)
	}
	return s.result, nil
}

func (s *state) read(d *xml.Decoder) error {
	inside := false
	for {
		token, err := d.Token()
		if err != nil {
			return s.ended(err, d.InputOffset())
		}
		switch t := token.(type) {
		case xml.StartElement:
			if !inside && t.Name.Local != "valgrindoutput" {
				return fmt.Errorf("%w: it begins with <%s>, want <valgrindoutput>", lines.ErrForeign, printed.Clip(t.Name.Local, quoted))
			}
			if !inside {
				inside = true
				continue
			}
			if err := s.element(d, t); err != nil {
				return s.ended(err, d.InputOffset())
			}
		case xml.EndElement:
			return s.complete()
		}
	}
}

const quoted = 60

func (s *state) ended(err error, offset int64) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF) && offset == 0:
		return lines.ErrEmpty
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return fmt.Errorf("%w: %s", lines.ErrCut, s.missing())
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: line %d: %s", lines.ErrForeign, syntax.Line, printed.Clip(syntax.Msg, 2*quoted))
	}
	return err
}

func (s *state) missing() string {
	if s.result.Finished {
		return "the end of the program is there, and the counts of errors or some of the leaks are missing"
	}
	return "the program had not ended, so that leaks and the counts of errors are missing"
}

func (s *state) complete() error {
	if !s.result.Finished {
		return fmt.Errorf("%w: it is closed without the program having ended", lines.ErrForeign)
	}
	return nil
}

func (s *state) element(d *xml.Decoder, t xml.StartElement) error {
	switch t.Name.Local {
	case "protocoltool":
		return s.tool(d, t)
	case "preamble":
		return s.preamble(d, t)
	case "args":
		return s.args(d, t)
	case "status":
		return s.status(d, t)
	case "fatal_signal":
		return s.signal(d, t)
	case "error":
		return s.failure(d, t)
	case "errorcounts":
		return s.counts(d, t)
	case "suppcounts":
		return s.suppressed(d, t)
	}
	return d.Skip()
}

func (s *state) tool(d *xml.Decoder, t xml.StartElement) error {
	var name string
	if err := d.DecodeElement(&name, &t); err != nil {
		return err
	}
	if name != "memcheck" {
		return fmt.Errorf("%w: it is the output of %q", lines.ErrForeign, printed.Clip(name, quoted))
	}
	return nil
}

func (s *state) preamble(d *xml.Decoder, t xml.StartElement) error {
	var p struct {
		Lines []string `xml:"line"`
	}
	if err := d.DecodeElement(&p, &t); err != nil {
		return err
	}
	for _, line := range p.Lines {
		if _, after, found := strings.Cut(line, "Using Valgrind-"); found {
			version, _, _ := strings.Cut(after, " ")
			s.result.Version = printed.Clip(version, quoted)
		}
	}
	return nil
}

func (s *state) args(d *xml.Decoder, t xml.StartElement) error {
	var a struct {
		Program string   `xml:"argv>exe"`
		Args    []string `xml:"argv>arg"`
	}
	if err := d.DecodeElement(&a, &t); err != nil {
		return err
	}
	for _, arg := range append([]string{a.Program}, a.Args...) {
		s.result.Command = append(s.result.Command, printed.Clip(arg, maxText))
	}
	return nil
}

func (s *state) status(d *xml.Decoder, t xml.StartElement) error {
	var status struct {
		State string `xml:"state"`
	}
	if err := d.DecodeElement(&status, &t); err != nil {
		return err
	}
	s.result.Finished = s.result.Finished || status.State == "FINISHED"
	return nil
}

func (s *state) signal(d *xml.Decoder, t xml.StartElement) error {
	var signal struct {
		Name   string `xml:"signame"`
		Number int    `xml:"signo"`
	}
	if err := d.DecodeElement(&signal, &t); err != nil {
		return err
	}
	s.result.Signal = printed.Clip(signal.Name, quoted)
	if s.result.Signal == "" {
		s.result.Signal = fmt.Sprintf("signal %d", signal.Number)
	}
	return nil
}

type frame struct {
	IP       string `xml:"ip"`
	Object   string `xml:"obj"`
	Function string `xml:"fn"`
	Dir      string `xml:"dir"`
	File     string `xml:"file"`
	Line     int    `xml:"line"`
}

func frames(stack []frame) []Frame {
	var out []Frame
	for _, f := range stack[:min(len(stack), maxFrames)] {
		file := f.File
		if file != "" && f.Dir != "" {
			file = path.Join(f.Dir, f.File)
		}
		out = append(out, Frame{
			Address: printed.Clip(f.IP, quoted), Object: printed.Clip(f.Object, maxText), Function: printed.Clip(f.Function, maxText),
			File: printed.Clip(file, maxText), Line: max(f.Line, 0),
		})
	}
	return out
}

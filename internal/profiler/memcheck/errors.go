package memcheck

import (
	"encoding/xml"
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

// failure reads an error or a leak, which share a format.
func (s *state) failure(d *xml.Decoder, t xml.StartElement) error {
	var e struct {
		Unique string   `xml:"unique"`
		Kind   string   `xml:"kind"`
		What   string   `xml:"what"`
		Text   string   `xml:"xwhat>text"`
		Bytes  int64    `xml:"xwhat>leakedbytes"`
		Blocks int64    `xml:"xwhat>leakedblocks"`
		Aux    []string `xml:"auxwhat"`
		XAux   []string `xml:"xauxwhat>text"`
		Stacks []struct {
			Frames []frame `xml:"frame"`
		} `xml:"stack"`
	}
	if err := d.DecodeElement(&e, &t); err != nil {
		return err
	}
	if len(s.result.Errors)+len(s.result.Leaks) >= MaxContexts {
		return fmt.Errorf("%w: more than %d errors and leaks", lines.ErrLarge, MaxContexts)
	}
	var stack []Frame
	if len(e.Stacks) > 0 {
		stack = frames(e.Stacks[0].Frames)
	}
	if strings.HasPrefix(e.Kind, "Leak_") {
		if outside(e.Bytes) || outside(e.Blocks) {
			return fmt.Errorf("%w: a leak of %d bytes in %d blocks", lines.ErrForeign, e.Bytes, e.Blocks)
		}
		s.result.Leaks = append(s.result.Leaks, Leak{Kind: LeakKind(printed.Clip(e.Kind, quoted)), Bytes: e.Bytes, Blocks: e.Blocks, Stack: stack})
		return nil
	}
	found := Error{Kind: printed.Clip(e.Kind, quoted), What: printed.Clip(e.What+e.Text, maxText), Count: 1, Stack: stack}
	if aux := append(e.Aux, e.XAux...); len(aux) > 0 {
		found.Origin = &Origin{What: printed.Clip(strings.Join(aux, " "), maxText)}
		if len(e.Stacks) > 1 {
			found.Origin.Stack = frames(e.Stacks[1].Frames)
		}
	}
	s.at[e.Unique] = len(s.result.Errors)
	s.result.Errors = append(s.result.Errors, found)
	return nil
}

// counts reads how often each error happened. The element repeats while the program runs; the last one is the total.
func (s *state) counts(d *xml.Decoder, t xml.StartElement) error {
	var c struct {
		Pairs []struct {
			Count  int64  `xml:"count"`
			Unique string `xml:"unique"`
		} `xml:"pair"`
	}
	if err := d.DecodeElement(&c, &t); err != nil {
		return err
	}
	for _, p := range c.Pairs {
		if outside(p.Count) {
			return fmt.Errorf("%w: an error that happened %d times", lines.ErrForeign, p.Count)
		}
		if i, known := s.at[p.Unique]; known {
			s.result.Errors[i].Count = p.Count
		}
	}
	return nil
}

func (s *state) suppressed(d *xml.Decoder, t xml.StartElement) error {
	var c struct {
		Pairs []struct {
			Count int64 `xml:"count"`
		} `xml:"pair"`
	}
	if err := d.DecodeElement(&c, &t); err != nil {
		return err
	}
	s.result.Suppressed = 0
	for _, p := range c.Pairs {
		if outside(p.Count) {
			return fmt.Errorf("%w: an error that was suppressed %d times", lines.ErrForeign, p.Count)
		}
		s.result.Suppressed = lines.Sum(s.result.Suppressed, p.Count)
	}
	return nil
}

func outside(n int64) bool { return n < 0 || n > maxTotal }

package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
)

// maxDocument bounds the bytes of a JSON value: results of one run are a few kilobytes.
const maxDocument = 16 << 20

// beginsDocument finds JSON values. In a value, lines that look like the beginning of one belong to it.
func beginsDocument(line string, current *run) bool {
	if !opens(line) {
		return false
	}
	if current.in(Bombardier) {
		return current.has("Statistics ") // It prints its JSON below its first line.
	}
	switch {
	case current == nil:
		return true
	case is[*k6Rows](current):
		return !isK6JSON(line)
	case is[*vegetaLines](current):
		return !isVegetaLine(line)
	}
	return !is[*documents](current)
}

// opens reports whether a line begins with a JSON object or a list of objects, unlike "[200] 10 responses".
func opens(line string) bool {
	if line == "" || line[0] != '{' && line[0] != '[' {
		return false
	}
	rest := strings.TrimSpace(line[1:])
	if line[0] == '[' {
		return rest == "" || rest[0] == '{' || rest[0] == '['
	}
	return rest == "" || rest[0] == '"' || rest[0] == '}'
}

// documents reads JSON values, one behind another.
type documents struct {
	text strings.Builder
	// depth counts open brackets; quoted and escaped describe the next character.
	depth           int
	quoted, escaped bool
	first, lines    int
	found           []Sample
	err             error
}

func (d *documents) add(line string) bool {
	if d.depth == 0 && line == "" {
		return true
	}
	if d.depth == 0 && !opens(line) {
		return false
	}
	if d.depth == 0 {
		d.first = d.lines
	}
	d.lines++
	from := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case d.escaped:
			d.escaped = false
		case d.quoted && c == '\\':
			d.escaped = true
		case c == '"':
			d.quoted = !d.quoted
		case d.quoted:
		case c == '{' || c == '[':
			d.depth++
		case c == '}' || c == ']':
			if d.depth--; d.depth > 0 {
				continue
			}
			d.keep(line[from : i+1])
			d.complete()
			rest := strings.TrimSpace(line[i+1:])
			if d.depth = 0; !opens(rest) {
				return true
			}
			from = i + 1
		}
	}
	d.keep(line[from:] + "\n")
	return true
}

func (d *documents) keep(text string) {
	if d.text.Len()+len(text) > maxDocument {
		d.err = fmt.Errorf("a JSON value is larger than %d MiB: results of one run are a few kilobytes", maxDocument>>20)
		return
	}
	d.text.WriteString(text)
}

func (d *documents) complete() {
	text := d.text.String()
	d.text.Reset()
	d.quoted, d.escaped = false, false
	samples, err := readDocument([]byte(text))
	for i := range samples {
		samples[i].Line = d.first
	}
	d.found = append(d.found, samples...)
	if d.err == nil {
		d.err = err
	}
}

func (d *documents) samples(s Sample) ([]Sample, error) {
	if d.depth > 0 && d.err == nil {
		d.err = errors.New("the JSON ends in the middle: the file was cut off, or the tool was stopped")
	}
	for i := range d.found {
		f := &d.found[i]
		f.File, f.Line, f.Stream = s.File, s.Line+f.Line, s.Stream
	}
	return d.found, d.err
}

// documentForm is a kind of JSON value, recognized by its keys.
type documentForm struct {
	tool string
	keys []string
	read func(text []byte, s *Sample) error
}

func readDocument(text []byte) ([]Sample, error) {
	if text[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("reading a JSON list: %w", err)
		}
		var out []Sample
		for _, one := range list {
			if len(one) == 0 || one[0] != '{' {
				return out, errors.New(nameUnread(string(text)))
			}
			found, err := readDocument(one)
			if err != nil {
				return out, err
			}
			out = append(out, found...)
		}
		if len(out) == 0 {
			return nil, errors.New("the JSON list is empty")
		}
		return out, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("reading JSON: %s", printed.Clip(err.Error(), quotedLine))
	}
	for _, f := range documentForms {
		if slices.ContainsFunc(f.keys, func(key string) bool { return fields[key] == nil }) {
			continue
		}
		s := Sample{Tool: f.tool}
		if err := f.read(text, &s); err != nil {
			return nil, fmt.Errorf("reading the JSON of %s: %s", f.tool, printed.Clip(err.Error(), quotedLine))
		}
		return []Sample{s}, nil
	}
	why := nameUnread(string(text[:min(len(text), 64<<10)]))
	if keys := slices.Sorted(maps.Keys(fields)); strings.HasPrefix(why, "found no") && len(keys) > 0 {
		why = fmt.Sprintf("the JSON has %q and is of no tool that is known", keys[:min(len(keys), 4)])
	}
	return nil, errors.New(why)
}

// jsonNumber is a JSON number that may be missing, null or a text.
type jsonNumber string

// UnmarshalJSON accepts anything; other values than numbers are absent.
func (n *jsonNumber) UnmarshalJSON(text []byte) error {
	*n = jsonNumber(strings.Trim(string(text), `"`))
	return nil
}

func (n jsonNumber) value() float64 {
	v, _ := bounded(string(n)) // Absent is 0.
	return v
}

func (n jsonNumber) count() int64 { return int64(n.value()) }

// quantity is the number times a factor, with its rounding; nil if absent.
func (n jsonNumber) quantity(factor float64) *printed.Quantity {
	v, ok := bounded(string(n))
	if !ok {
		return nil
	}
	q := printed.Quantity{Value: v * factor}
	if plain, err := printed.Parse(string(n), printed.Plain); err == nil {
		q.Rounding = plain.Rounding * factor
	}
	return &q
}

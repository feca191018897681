package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// caseSchema is on every line, so that other programs' output is noticed.
const caseSchema = "loadstone.case/v1"

// caseLine is a case's value, a case's failure, or the context.
type caseLine struct {
	Schema     string            `json:"schema"`
	Case       string            `json:"case"`
	Metric     string            `json:"metric"`
	Unit       string            `json:"unit"`
	Better     record.Direction  `json:"better"`
	Value      *float64          `json:"value"`
	Iterations *int64            `json:"iterations"`
	Failure    string            `json:"failure"`
	Context    map[string]string `json:"context"`
}

func readJSONLines(output []byte) (Output, error) {
	r := jsonReader{collection: newCollection(), units: map[[2]string]string{}}
	text := bytes.TrimRight(output, " \t\r\n")
	number, last := 0, lineAt(text, int64(len(text))+1)
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		name, err := r.read(line)
		switch {
		case errors.Is(err, errMidJSON) && number == last && !bytes.HasSuffix(output, []byte("\n")):
			r.lose(number, "", string(line), err) // Earlier lines of its case are complete.
		case errors.Is(err, errMidJSON):
			r.lose(number, name, string(line), errMidLine)
		case err != nil:
			r.lose(number, name, string(line), err)
		}
	}
	return r.output("it has lines of context alone; print a line for each value")
}

// errMidLine: a line that is not the last ends in the middle of JSON.
var errMidLine = errors.New("the line ends in the middle of JSON: print each line at once")

// read adds one line. With an error it returns the line's case, if known.
func (r jsonReader) read(text []byte) (string, error) {
	line, err := parseCaseLine(text)
	if err == nil {
		return line.Case, r.add(line)
	}
	return caseIn(text), err
}

func caseIn(text []byte) string {
	var name string
	if found := caseMember.FindSubmatch(text); found != nil && json.Unmarshal(found[1], &name) != nil {
		return ""
	}
	return name
}

var caseMember = regexp.MustCompile(`"case"\s*:\s*("(?:[^"\\]|\\.)*")`)

func parseCaseLine(text []byte) (caseLine, error) {
	if !bytes.HasPrefix(text, []byte("{")) {
		return caseLine{}, fmt.Errorf("%q is no JSON object: print nothing else to standard output, and notes to standard error", words(string(text)))
	}
	var line caseLine
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		_, why := locate(text, err)
		return caseLine{}, why
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return caseLine{}, errors.New("something follows its JSON object: print each on a line of its own")
	}
	if line.Schema != caseSchema {
		return caseLine{}, fmt.Errorf("schema is %q: print %q on every line", words(line.Schema), caseSchema)
	}
	return line, nil
}

type jsonReader struct {
	*collection
	// units holds printed units by case and metric: normalized times lose theirs.
	units map[[2]string]string
}

func (r jsonReader) add(l caseLine) error {
	hasValue := l.Metric != "" || l.Unit != "" || l.Better != "" || l.Value != nil || l.Iterations != nil
	switch {
	case l.Context != nil && (hasValue || l.Case != "" || l.Failure != ""):
		return errors.New("context stands beside other members: print it on a line of its own")
	case l.Context != nil:
		for key, value := range l.Context {
			r.explain(key, value)
		}
		return nil
	case l.Failure != "" && hasValue:
		return errors.New("failure stands beside a value: print one of them")
	}
	k, err := r.find(l.Case)
	if err != nil {
		return err
	}
	if l.Failure != "" {
		k.fail(l.Failure, "it failed and does not say why")
		return nil
	}
	return r.addValue(k, l)
}

// allocations maps metrics that objectives support to their units, as in go test.
var allocations = map[string]string{"Bytes allocated": "B/op", "Allocations": "allocs/op"}

func (r jsonReader) addValue(k gathered, l caseLine) error {
	switch {
	case l.Value == nil:
		return fmt.Errorf("case %q has neither value nor failure: print one of them", k.Name)
	case l.Unit == "":
		return fmt.Errorf("case %q has no unit: print one", k.Name)
	case l.Better != record.LessIsBetter && l.Better != record.MoreIsBetter:
		return fmt.Errorf("case %q: better is %q: print %q or %q", k.Name, words(string(l.Better)), record.LessIsBetter, record.MoreIsBetter)
	case l.Iterations != nil && l.Metric != wallTime:
		return fmt.Errorf("case %q has iterations beside %q: print them beside %q alone, since they are added up", k.Name, l.Metric, wallTime)
	}
	if known := allocations[l.Metric]; known != "" && (l.Unit != known || l.Better != record.LessIsBetter) {
		return fmt.Errorf("case %q has %q in %q, %s is better: this metric is in %q, and less is better: print it so, or give the metric another name", k.Name, l.Metric, words(l.Unit), strings.ToLower(words(string(l.Better))), known)
	}
	s := sample{metric: l.Metric, unit: l.Unit, better: l.Better, value: *l.Value}
	if err := r.normalise(k.Name, &s); err != nil {
		return err
	}
	if err := k.add(s); err != nil {
		return err
	}
	if l.Iterations == nil {
		return nil
	}
	return k.iterate(*l.Iterations)
}

// normalise converts a time to nanoseconds. It refuses a metric that had another unit before, which is likely a mistake.
func (r jsonReader) normalise(name string, s *sample) error {
	key := [2]string{name, s.metric}
	if before, ok := r.units[key]; ok && before != s.unit {
		return fmt.Errorf("case %q has %q both in %q and in %q: print one unit", name, s.metric, before, words(s.unit))
	}
	r.units[key] = s.unit
	factor, ok := nanoseconds[s.unit]
	if !ok {
		if s.metric == wallTime || s.metric == cpuTime {
			return fmt.Errorf("case %q: the unit of %q is %q, %w", name, s.metric, words(s.unit), errTimeUnit)
		}
		return nil
	}
	s.unit, s.value = "ns", s.value*factor
	return nil
}

package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"loadstone.dev/loadstone/internal/record"
)

// caseSchema is on every line, so that what another program printed in between is noticed.
const caseSchema = "loadstone.case/v1"

// caseLine is one line: a value of a case, the failure of a case, or the context.
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

// readJSONLines reads lines that docs/cases.md describes.
func readJSONLines(output []byte) (Output, error) {
	r := jsonReader{collection: newCollection(), units: map[[2]string]string{}}
	number := 0
	for text := range bytes.Lines(bytes.TrimRight(output, " \t\r\n")) {
		number++
		line, err := parseCaseLine(bytes.TrimSpace(text))
		if err == nil {
			err = r.add(line)
		}
		if err != nil {
			return Output{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return r.output("it has lines of context alone; print a line for each value")
}

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

// jsonReader reads the lines one after the other.
type jsonReader struct {
	*collection
	// units are those that were printed, by case and metric: a time has lost its own.
	units map[[2]string]string
}

// add adds what a line holds, which is one of three things.
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

func (r jsonReader) addValue(k *Case, l caseLine) error {
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

// normalise makes a time one in nanoseconds. A metric that has been in another unit before is refused, since that is seldom meant.
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

package cases

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// maxCases, maxMetrics and maxContext bound a program's cases, metrics per case and context.
	maxCases, maxMetrics, maxContext = 10_000, 100, 100
	// maxName and maxWords bound the bytes of a name, and of a sentence for display.
	maxName, maxWords = 200, 500
	// maxUnread bounds the listed unread parts, maxQuoted the quoted bytes of each.
	maxUnread, maxQuoted = 20, 120
)

type collection struct {
	cases   []record.Case
	index   map[string]int
	context map[string]string
	// unread lists unreadable parts without a case, more counts the rest. spoiled are cases that lost their values; first is the first such
	// loss.
	unread []record.Unread
	more   int
	// outside counts the parts among them that are no values.
	outside int
	spoiled map[string]bool
	first   error
	// lost are values of cases that are no numbers.
	lost map[string][]valueError
}

func newCollection() *collection {
	return &collection{index: map[string]int{}, context: map[string]string{}, spoiled: map[string]bool{}, lost: map[string][]valueError{}}
}

// valueError is of a value that costs its case nothing else.
type valueError struct {
	error
	metric string
}

func (e valueError) Unwrap() error { return e.error }

// values joins the errors of a part's values; nil without any.
func values(errs ...error) error { return errors.Join(errs...) }

// lose records an unreadable part: its case fails, or it is listed if it has none. The rest stays. A value that is no number is only listed.
func (c *collection) lose(line int, name, text string, why error) {
	var all interface{ Unwrap() []error }
	if errors.As(why, &all) {
		for _, one := range all.Unwrap() {
			c.lose(line, name, text, one)
		}
		return
	}
	value := valueError{}
	isValue := errors.As(why, &value)
	why = fmt.Errorf("line %d: %w", line, why)
	if c.first == nil {
		c.first = why
	}
	if isValue {
		name = shortened(name)
		c.lost[name] = append(c.lost[name], valueError{why, value.metric})
		c.list(line, text, value.error)
		return
	}
	if name != "" {
		if k, err := c.find(name); err == nil {
			if k.Failure == "" {
				c.spoiled[name] = true
			}
			k.fail(why.Error(), "")
			return
		}
	}
	c.outside++
	c.list(line, text, errors.Unwrap(why))
}

func (c *collection) list(line int, text string, why error) {
	if len(c.unread) == maxUnread {
		c.more++
		return
	}
	c.unread = append(c.unread, record.Unread{Line: line, Text: clip(oneLine(text), maxQuoted), Why: words(why.Error())})
}

type gathered struct{ *record.Case }

// find returns the named case and adds it if new. The result is valid until the next call.
func (c *collection) find(name string) (gathered, error) {
	name = shortened(name)
	if i, ok := c.index[name]; ok {
		return gathered{&c.cases[i]}, nil
	}
	if err := checkName("case", name); err != nil {
		return gathered{}, err
	}
	if len(c.cases) == maxCases {
		return gathered{}, fmt.Errorf("case %q is one more than %d: run fewer cases, by the program's own filter", name, maxCases)
	}
	c.index[name] = len(c.cases)
	c.cases = append(c.cases, record.Case{Name: name, Axes: axes(name)})
	return gathered{&c.cases[len(c.cases)-1]}, nil
}

func (c *collection) explain(key, value string) {
	if key = words(key); key != "" && (len(c.context) < maxContext || c.context[key] != "") {
		c.context[key] = words(value)
	}
}

type sample struct {
	metric, unit string
	better       record.Direction
	value        float64
}

// add appends a sample to its metric, which has one unit and one direction.
func (k gathered) add(s sample) error {
	if err := s.check(); err != nil {
		return valueError{fmt.Errorf("case %q: %w", k.Name, err), s.metric}
	}
	for i, v := range k.Values {
		switch {
		case v.Metric != s.metric:
			continue
		case v.Unit != s.unit:
			return fmt.Errorf("case %q has %q both in %q and in %q: print one unit", k.Name, s.metric, v.Unit, s.unit)
		case v.Better != s.better:
			return fmt.Errorf("case %q has %q both as better when %s and as better when %s: print one", k.Name, s.metric, v.Better, s.better)
		}
		k.Values[i].Samples = append(v.Samples, s.value)
		return nil
	}
	if len(k.Values) == maxMetrics {
		return fmt.Errorf("case %q has more than %d metrics: print fewer", k.Name, maxMetrics)
	}
	k.Values = append(k.Values, record.CaseValue{Metric: s.metric, Unit: s.unit, Better: s.better, Samples: []float64{s.value}})
	return nil
}

func (s sample) check() error {
	if err := checkName("metric", s.metric); err != nil {
		return err
	}
	if s.unit != "" {
		if err := checkName("unit", s.unit); err != nil {
			return err
		}
	}
	if (s.metric == wallTime || s.metric == cpuTime) && s.unit != "ns" {
		return fmt.Errorf("%q is in %q: print a time in ns, us, ms or s", s.metric, s.unit)
	}
	if math.IsNaN(s.value) || math.IsInf(s.value, 0) || s.value < 0 {
		return fmt.Errorf("%q is %g: print a number that is finite and at least 0", s.metric, s.value)
	}
	return nil
}

func (k gathered) iterate(n int64) error {
	if n < 1 {
		return fmt.Errorf("case %q counts %d iterations: print how many it made, 1 or more", k.Name, n)
	}
	if n > math.MaxInt64-k.Iterations {
		return fmt.Errorf("case %q counts %d iterations after %d, more than 64 bits hold: print how many it made", k.Name, n, k.Iterations)
	}
	k.Iterations += n
	return nil
}

func (k gathered) fail(why, otherwise string) {
	if why = words(why); why == "" {
		why = otherwise
	}
	if k.Failure == "" {
		k.Failure = why
	}
}

// output returns the gathered cases, or a remedy if there are none. If there are only losses, the first is the error.
func (c *collection) output(wayOut string) (Output, error) {
	for i := range c.cases {
		c.failWithoutTime(&c.cases[i])
	}
	switch {
	case len(c.cases) == len(c.spoiled) && c.first != nil:
		return Output{}, c.first
	case len(c.cases) == 0:
		return Output{}, fmt.Errorf("the output holds no case: %s", wayOut)
	}
	for i := range c.cases {
		k := &c.cases[i]
		if k.Failure != "" {
			k.Values, k.Iterations = nil, 0
		}
		slices.SortStableFunc(k.Values, func(a, b record.CaseValue) int { return rank(a) - rank(b) })
	}
	return Output{Cases: c.cases, Context: c.context, Unread: c.unread, UnreadMore: c.more, Outside: c.outside}, nil
}

// failWithoutTime fails a case that lost its time, which decides, or all of its values.
func (c *collection) failWithoutTime(k *record.Case) {
	for _, lost := range c.lost[k.Name] {
		has := slices.ContainsFunc(k.Values, func(v record.CaseValue) bool { return v.Metric == wallTime })
		if k.Failure == "" && !has && (lost.metric == wallTime || len(k.Values) == 0) {
			c.spoiled[k.Name] = true
			k.Failure = words(lost.Error())
		}
	}
	if k.Failure == "" && len(k.Values) == 0 {
		c.spoiled[k.Name] = true
		k.Failure = "it printed no value"
	}
}

func rank(v record.CaseValue) int {
	switch v.Metric {
	case wallTime:
		return 0
	case cpuTime:
		return 1
	}
	return 2
}

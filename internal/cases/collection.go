package cases

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

const (
	// maxCases, maxMetrics and maxContext bound what one program can have, maxMetrics for each case.
	maxCases, maxMetrics, maxContext = 10_000, 100, 100
	// maxName and maxWords bound the bytes of a name, and of a sentence that is only shown.
	maxName, maxWords = 200, 500
)

// collection gathers cases in the order in which they are first named.
type collection struct {
	cases   []Case
	index   map[string]int
	context map[string]string
}

func newCollection() *collection {
	return &collection{index: map[string]int{}, context: map[string]string{}}
}

// find returns the case of a name, which it adds if it is new. The pointer is good until the next call.
func (c *collection) find(name string) (*Case, error) {
	if i, ok := c.index[name]; ok {
		return &c.cases[i], nil
	}
	if err := checkName("case", name); err != nil {
		return nil, err
	}
	if len(c.cases) == maxCases {
		return nil, fmt.Errorf("case %q is one more than %d: run fewer cases, by the program's own filter", name, maxCases)
	}
	c.index[name] = len(c.cases)
	c.cases = append(c.cases, Case{Name: name, Axes: axes(name)})
	return &c.cases[len(c.cases)-1], nil
}

// explain adds to the context, as far as there is room.
func (c *collection) explain(key, value string) {
	if key = words(key); key != "" && (len(c.context) < maxContext || c.context[key] != "") {
		c.context[key] = words(value)
	}
}

// sample is one number of one case, as a program printed it.
type sample struct {
	metric, unit string
	better       record.Direction
	value        float64
}

// add appends a sample to its metric. A metric has one unit and one direction.
func (k *Case) add(s sample) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("case %q: %w", k.Name, err)
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
	k.Values = append(k.Values, Value{Metric: s.metric, Unit: s.unit, Better: s.better, Samples: []float64{s.value}})
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
	if math.IsNaN(s.value) || math.IsInf(s.value, 0) || s.value < 0 {
		return fmt.Errorf("%q is %g: print a number that is finite and at least 0", s.metric, s.value)
	}
	return nil
}

// iterate adds the iterations of one repetition.
func (k *Case) iterate(n int64) error {
	if n < 1 {
		return fmt.Errorf("case %q counts %d iterations: print how many it made, 1 or more", k.Name, n)
	}
	if n > math.MaxInt64-k.Iterations {
		return fmt.Errorf("case %q counts %d iterations after %d, more than 64 bits hold: print how many it made", k.Name, n, k.Iterations)
	}
	k.Iterations += n
	return nil
}

// fail keeps the first failure of a case.
func (k *Case) fail(why, otherwise string) {
	if why = words(why); why == "" {
		why = otherwise
	}
	if k.Failure == "" {
		k.Failure = why
	}
}

// output is what was gathered, with the way out if that is nothing.
func (c *collection) output(wayOut string) (Output, error) {
	if len(c.cases) == 0 {
		return Output{}, fmt.Errorf("the output holds no case: %s", wayOut)
	}
	for i := range c.cases {
		k := &c.cases[i]
		if k.Failure != "" {
			k.Values, k.Iterations = nil, 0
		}
		slices.SortStableFunc(k.Values, func(a, b Value) int { return rank(a) - rank(b) })
	}
	return Output{Cases: c.cases, Context: c.context}, nil
}

// rank puts times before everything else.
func rank(v Value) int {
	switch v.Metric {
	case wallTime:
		return 0
	case cpuTime:
		return 1
	}
	return 2
}

// direction is which way of a metric is better, where the program does not declare it.
func direction(metric string) record.Direction {
	for _, ending := range []string{"/s", "_per_second", "PerSecond"} {
		if strings.HasSuffix(metric, ending) {
			return record.MoreIsBetter
		}
	}
	return record.LessIsBetter
}

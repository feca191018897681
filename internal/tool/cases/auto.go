package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/unwrap"
	"loadstone.dev/loadstone/internal/record"
)

type form struct {
	name string
	// is reports whether text, without spaces around it, is such an output.
	is   func(text []byte) bool
	read func(text []byte) (Output, error)
	// format is its name in specs; empty if only record.Auto reads it.
	format record.CaseFormat
}

// forms are asked in this order. Go's comes last, since it ignores other text.
var forms = []form{
	{"JSON lines", holds(`"` + caseSchema + `"`), readJSONLines, record.JSONLines},
	{"JMH", holds(`"primaryMetric"`), readJMH, ""},
	{"pytest-benchmark", holds(`"machine_info"`, `"stats"`), readPytest, ""},
	{"BenchmarkDotNet", holds(`"HostEnvironmentInfo"`, `"Benchmarks"`), readDotNet, ""},
	{"criterion", holds(`"benchmark-complete"`), readCriterionLines, ""},
	{"criterion", holds(`"point_estimate"`, `"std_dev"`), readEstimates, ""},
	{"hyperfine", holds(`"results"`, `"command"`), readHyperfine, ""},
	{"nanobench", holds(`"results"`, `"measurements"`, `"elapsed"`), readNanobench, ""},
	{"Google Benchmark", func(text []byte) bool {
		return benchmarksMember.Match(text) && bytes.Contains(text, []byte(`"run_name"`))
	}, readGoogleBenchmark, record.GoogleBenchmark},
	{"Google Benchmark", holds(`"library_build_type"`), readGoogleBenchmark, record.GoogleBenchmark},
	{"bencher", bencherLine.Match, readBencher, ""},
	{"go test", regexp.MustCompile(`(?m)^(?:Benchmark\S*\s+\d+\s|--- (?:FAIL|SKIP): Benchmark)`).Match, readGoTest, record.GoTest},
}

func holds(words ...string) func([]byte) bool {
	return func(text []byte) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !bytes.Contains(text, []byte(word)) })
	}
}

func readAuto(output []byte) (Output, error) {
	text := bytes.TrimSpace(output)
	for _, f := range forms {
		if f.is(text) {
			found, err := f.read(output)
			found.Format = f.format
			if err != nil {
				err = fmt.Errorf("it looks like output of %s: %w", f.name, err)
			}
			return found, err
		}
	}
	var names []string
	for _, f := range forms {
		if !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return Output{}, fmt.Errorf("the output is of no known format: print that of %s", strings.Join(names, ", "))
}

func decoded(output []byte) []byte {
	r, err := unwrap.New(bytes.NewReader(output))
	if err != nil {
		return output
	}
	plain, err := io.ReadAll(io.LimitReader(r.Raw(), maxDecoded))
	if err != nil {
		return output
	}
	return plain
}

// maxDecoded bounds a decoded output. The agent keeps less of it.
const maxDecoded = 64 << 20

// parseJSON reads a JSON value. Numbers that are not finite become null.
func parseJSON(output []byte, into any) error {
	text := nonFinite.ReplaceAll(output, []byte("${1}null${2}"))
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(into); err != nil {
		line, why := locate(output, err)
		return fmt.Errorf("line %d: %w", line, why)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its JSON: print one JSON value, and notes to standard error")
	}
	return nil
}

// number is a JSON number, or a text or null for one that is none.
type number struct {
	value float64
	text  string
}

// UnmarshalJSON takes anything.
func (n *number) UnmarshalJSON(text []byte) error {
	n.text = strings.Trim(string(text), `"`)
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		v = math.NaN()
	}
	n.value = v
	return nil
}

func (c *collection) addAll(name string, s sample, factor float64, samples []number) {
	k, err := c.find(name)
	for _, n := range samples {
		one := s
		one.value = n.value * factor
		if err == nil {
			k, err = c.find(name)
		}
		if err == nil {
			err = k.add(one)
		}
		if err != nil {
			c.lose(1, name, n.text, err)
			err = nil
		}
	}
	if err != nil {
		c.lose(1, name, name, err)
	}
}

func times(metric string) sample {
	return sample{metric: metric, unit: "ns", better: record.LessIsBetter}
}

// unique returns for each long name its short one, or the long one where several share the short one.
func unique(short map[string]string) map[string]string {
	count := map[string]int{}
	for _, s := range short {
		count[s]++
	}
	out := map[string]string{}
	for long, s := range short {
		if out[long] = s; s == "" || count[s] > 1 {
			out[long] = long
		}
	}
	return out
}

func parameters(of map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "/%s=%s", name, strings.ReplaceAll(oneLine(fmt.Sprint(of[name])), "/", "_"))
	}
	return b.String()
}

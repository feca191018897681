package kinds_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
	"loadstone.dev/loadstone/internal/trial/kind/microbenchmark"
)

const (
	// plantedMore is the extra time of planted cases, processNoise the noise of each process in each case, in logs.
	plantedMore, processNoise = 0.1, 0.01
	// plantedRuns is the number of simulated runs per program.
	plantedRuns = 8
)

// reprint multiplies the times of every case in an output.
type reprint func(t *testing.T, output []byte, factor func(name string) float64) []byte

func reprintGoogle(t *testing.T, output []byte, factor func(string) float64) []byte {
	t.Helper()
	var printed map[string]any
	if err := json.Unmarshal(output, &printed); err != nil {
		t.Fatal(err)
	}
	for _, run := range printed["benchmarks"].([]any) {
		own := run.(map[string]any)
		for _, member := range []string{"real_time", "cpu_time"} {
			own[member] = own[member].(float64) * factor(own["run_name"].(string))
		}
	}
	out, err := json.MarshalIndent(printed, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var goTimes = regexp.MustCompile(`(?m)^(Benchmark\S+)(\s+\d+\s+)([0-9.]+)( ns/op\s+)([0-9.]+)( cpu-ns/op.*)$`)

// reprintGo is for go test -bench, with the benchmarks of ipc.
func reprintGo(t *testing.T, output []byte, factor func(string) float64) []byte {
	t.Helper()
	return goTimes.ReplaceAllFunc(output, func(line []byte) []byte {
		part := goTimes.FindStringSubmatch(string(line))
		times := [2]float64{}
		for i, text := range []string{part[3], part[5]} {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			times[i] = value * factor(part[1])
		}
		return fmt.Appendf(nil, "%s%s%f%s%f%s", part[1], part[2], times[0], part[4], times[1], part[6])
	})
}

// reprinted is a run of ten blocks in which every process prints a recorded output with its own noise. Every other
// case of "new" takes a tenth more.
func reprinted(t *testing.T, seed uint64, format record.CaseFormat, output []byte, how reprint) (record.RunData, []string) {
	t.Helper()
	known, err := cases.Read(format, output)
	if err != nil || len(known.Unread) > 0 {
		t.Fatalf("what was recorded is not read: %v, %+v", err, known.Unread)
	}
	var planted []string
	for i := 0; i < len(known.Cases); i += 2 {
		planted = append(planted, known.Cases[i].Name)
	}
	d := programs(t, 10, 1)
	d.Manifest.Plan.Programs = &record.Programs{Format: format, LimitSeconds: 30}
	rng := rand.New(rand.NewPCG(seed, 3))
	for i := range d.Trials {
		one := &d.Trials[i]
		noise := map[string]float64{}
		text := how(t, output, func(name string) float64 {
			if noise[name] == 0 {
				noise[name] = math.Exp(processNoise * rng.NormFloat64())
			}
			of := slices.ContainsFunc(planted, func(p string) bool { return len(name) >= len(p) && name[:len(p)] == p && !digitAt(name, len(p)) })
			if of && one.Manifest.Servers[0] != d.Manifest.Plan.Baseline {
				return noise[name] * (1 + plantedMore)
			}
			return noise[name]
		})
		found, err := cases.Read(format, text)
		if err != nil {
			t.Fatal(err)
		}
		own := one.Servers[0].Program
		found.Record(own)
		one.Rows = microbenchmark.Kind{}.Rows(*one)
	}
	return d, planted
}

// digitAt reports whether a digit follows, so that the number in the name is another one.
func digitAt(name string, i int) bool { return i < len(name) && name[i] >= '0' && name[i] <= '9' }

// A planted tenth is found in real programs' output, and equal cases stay equal.
func TestAPlantedTenthIsFoundInTheOutputOfRealPrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		file   string
		format record.CaseFormat
		how    reprint
	}{
		"Google Benchmark, coro": {"coro.json", record.GoogleBenchmark, reprintGoogle},
		"go test -bench, ipc":    {"ipc.txt", record.GoTest, reprintGo},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := os.ReadFile(filepath.Join("testdata", tc.file))
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(plantedRuns) {
				data, planted := reprinted(t, seed, tc.format, output, tc.how)
				checkPlanted(t, data, planted)
			}
		})
	}
}

func checkPlanted(t *testing.T, data record.RunData, planted []string) {
	t.Helper()
	found := 0
	table, _ := analysed(t, data)
	for _, r := range table.Rows {
		if !r.Decides {
			continue
		}
		switch isPlanted := slices.Contains(planted, r.Case); {
		case !isPlanted && r.Verdict != verdict.NoDifference && r.Verdict != verdict.Inconclusive:
			t.Errorf("%s, which is equal, is %s: %v", r.Case, r.Verdict, *r.Ratio)
		case isPlanted && r.Verdict != verdict.Worse:
			t.Errorf("%s, in which a tenth is planted, is %s: %s", r.Case, r.Verdict, r.Reason)
		case isPlanted:
			found++
			if math.Abs(*r.Ratio-1-plantedMore) > 0.02 {
				t.Errorf("%s: the ratio is %v, planted was %v", r.Case, *r.Ratio, 1+plantedMore)
			}
		}
	}
	if found != len(planted) {
		t.Errorf("%d of %d planted cases are compared", found, len(planted))
	}
}

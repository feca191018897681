package cases

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

const second = 1e9

// readPytest reads the JSON of pytest-benchmark (--benchmark-json). Rounds are repetitions, if they were saved (--benchmark-save-data).
func readPytest(output []byte) (Output, error) {
	var p struct {
		Machine struct {
			Python string `json:"python_version"`
			CPU    struct {
				Brand string `json:"brand_raw"`
			} `json:"cpu"`
		} `json:"machine_info"`
		Benchmarks []struct {
			Name     string `json:"name"`
			FullName string `json:"fullname"`
			Stats    struct {
				Data []number `json:"data"`
				Mean number   `json:"mean"`
			} `json:"stats"`
		} `json:"benchmarks"`
	}
	if err := parseJSON(output, &p); err != nil {
		return Output{}, err
	}
	c := newCollection()
	c.explain("python", p.Machine.Python)
	c.explain("cpu", p.Machine.CPU.Brand)
	short := map[string]string{}
	for _, b := range p.Benchmarks {
		short[b.FullName] = b.Name
	}
	names := unique(short)
	for _, b := range p.Benchmarks {
		samples := b.Stats.Data
		if len(samples) == 0 {
			samples = []number{b.Stats.Mean}
		}
		c.addAll(names[b.FullName], times(wallTime), second, samples)
	}
	return c.output("its list of benchmarks is empty: let pytest select one")
}

// readHyperfine reads hyperfine's JSON (--export-json). The CPU time is the mean of user and system time of all runs.
func readHyperfine(output []byte) (Output, error) {
	var h struct {
		Results []struct {
			Command string         `json:"command"`
			Mean    number         `json:"mean"`
			User    *number        `json:"user"`
			System  *number        `json:"system"`
			Times   []number       `json:"times"`
			Exits   []*int         `json:"exit_codes"`
			Params  map[string]any `json:"parameters"`
		} `json:"results"`
	}
	if err := parseJSON(output, &h); err != nil {
		return Output{}, err
	}
	c := newCollection()
	for _, r := range h.Results {
		name := r.Command + parameters(r.Params)
		if at := slices.IndexFunc(r.Exits, func(code *int) bool { return code != nil && *code != 0 }); at >= 0 {
			if k, err := c.find(name); err == nil {
				k.fail(fmt.Sprintf("run %d of the command ended with exit code %d", at+1, *r.Exits[at]), "")
			}
			continue
		}
		samples := r.Times
		if len(samples) == 0 {
			samples = []number{r.Mean}
		}
		c.addAll(name, times(wallTime), second, samples)
		if r.User != nil && r.System != nil {
			c.addAll(name, times(cpuTime), second, []number{{value: r.User.value + r.System.value, text: "user and system"}})
		}
	}
	return c.output("its list of results is empty")
}

// readNanobench reads nanobench's JSON template. Epochs are repetitions.
func readNanobench(output []byte) (Output, error) {
	var n struct {
		Results []struct {
			Title        string `json:"title"`
			Name         string `json:"name"`
			Measurements []struct {
				Elapsed number `json:"elapsed"`
			} `json:"measurements"`
		} `json:"results"`
	}
	if err := parseJSON(output, &n); err != nil {
		return Output{}, err
	}
	c := newCollection()
	short := map[string]string{}
	for _, r := range n.Results {
		short[r.Title+"/"+r.Name] = r.Name
	}
	names := unique(short)
	for _, r := range n.Results {
		var samples []number
		for _, m := range r.Measurements {
			samples = append(samples, m.Elapsed)
		}
		c.addAll(names[r.Title+"/"+r.Name], times(wallTime), second, samples)
	}
	return c.output("its list of results is empty")
}

// readDotNet reads the full JSON of BenchmarkDotNet (JsonExporter.Full). Workload results are repetitions.
func readDotNet(output []byte) (Output, error) {
	var d struct {
		Host struct {
			Runtime   string `json:"RuntimeVersion"`
			Processor string `json:"ProcessorName"`
		} `json:"HostEnvironmentInfo"`
		Benchmarks []struct {
			FullName   string `json:"FullName"`
			Statistics *struct {
				Values []number `json:"OriginalValues"`
				Mean   number   `json:"Mean"`
			} `json:"Statistics"`
			Memory *struct {
				Bytes *number `json:"BytesAllocatedPerOperation"`
			} `json:"Memory"`
		} `json:"Benchmarks"`
	}
	if err := parseJSON(output, &d); err != nil {
		return Output{}, err
	}
	c := newCollection()
	c.explain("runtime", d.Host.Runtime)
	c.explain("cpu", d.Host.Processor)
	for _, b := range d.Benchmarks {
		if b.Statistics == nil {
			if k, err := c.find(b.FullName); err == nil {
				k.fail("it has no statistics: it failed or was not run", "")
			}
			continue
		}
		samples := b.Statistics.Values
		if len(samples) == 0 {
			samples = []number{b.Statistics.Mean}
		}
		c.addAll(b.FullName, times(wallTime), 1, samples)
		if b.Memory != nil && b.Memory.Bytes != nil {
			c.addAll(b.FullName, sample{metric: "Bytes allocated", unit: "B/op", better: record.LessIsBetter}, 1, []number{*b.Memory.Bytes})
		}
	}
	return c.output("its list of benchmarks is empty")
}

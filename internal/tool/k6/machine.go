package k6

import (
	"encoding/json"
	"fmt"
)

// ParseMachine converts the machine-readable summary, which k6 writes with --new-machine-readable-summary and, from version 2, with --summary-export.
// It holds no thresholds.
func ParseMachine(text []byte) (Export, error) {
	var summary struct {
		Config struct {
			Seconds float64 `json:"duration"`
		} `json:"config"`
		Results struct {
			Metrics []struct {
				Name   string         `json:"name"`
				Type   string         `json:"type"`
				Values ExportedMetric `json:"values"`
			} `json:"metrics"`
			Checks *struct {
				Results []struct {
					Passes float64 `json:"passes"`
					Fails  float64 `json:"fails"`
				} `json:"results"`
			} `json:"checks"`
		} `json:"results"`
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		return Export{}, fmt.Errorf("reading k6's machine-readable summary: %w", err)
	}
	e := Export{Metrics: map[string]ExportedMetric{}}
	e.State.RunMillis = summary.Config.Seconds * 1e3
	timed := false
	for _, m := range summary.Results.Metrics {
		n := m.Values.numbers
		switch {
		case n == nil:
			continue
		case m.Type == "rate":
			n["passes"], n["fails"] = n["matches"], max(n["total"]-n["matches"], 0)
		case m.Type == "counter" && n["rate"] > 0:
			timed = true
		case m.Type == "counter" && summary.Config.Seconds > 0:
			n["rate"] = n["count"] / summary.Config.Seconds
		}
		e.Metrics[m.Name] = m.Values
	}
	if timed {
		e.State.RunMillis = 0 // Rates are per second of k6's own, finer time.
	}
	if c := summary.Results.Checks; c != nil && len(c.Results) > 0 {
		numbers := map[string]float64{}
		for _, r := range c.Results {
			numbers["passes"] += max(r.Passes, 0)
			numbers["fails"] += max(r.Fails, 0)
		}
		e.Metrics["checks"] = ExportedMetric{numbers: numbers}
	}
	return e, nil
}

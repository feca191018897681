package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

var named = regexp.MustCompile(`\bloadstone_[a-z_]+`)

// TestAlertsAndDashboardNameWhatIsTold: alerts must use existing metrics, and every metric must be used.
func TestAlertsAndDashboardNameWhatIsTold(t *testing.T) {
	registry := prometheus.NewRegistry()
	store, err := NewStore(registry, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		for _, c := range []prometheus.Collector{NewRuns(these{}, leads), store.requests, store.seconds} {
			c.Describe(described)
		}
	}()
	var told, used []string
	for d := range described {
		told = append(told, named.FindString(d.String()))
	}
	for _, name := range []string{"rules.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "charts", "loadstone", "files", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			used = append(used, strings.TrimSuffix(name, "_bucket"))
		}
	}
	slices.Sort(told)
	slices.Sort(used)
	if diff := cmp.Diff(told, slices.Compact(used)); diff != "" {
		t.Errorf("what is told and what is used (-told +used):\n%s", diff)
	}
}

package workloads_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/agent/binary"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/workloads/conformance"
)

func TestAblationBuildsAnswerAlikeAndShowTheirFlags(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "ablation", "OUT="+dir).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for variant, want := range map[string]struct {
		flag                            string
		optimized, coverage, sanitizers record.Truth
	}{
		"o0":        {"-O0", record.No, record.No, record.No},
		"o1":        {"-O1", record.Yes, record.No, record.No},
		"o2":        {"-O2", record.Yes, record.No, record.No},
		"o3":        {"-O3", record.Yes, record.No, record.No},
		"coverage":  {"-fprofile-arcs", record.Yes, record.Yes, record.No},
		"address":   {"-fsanitize=address", record.Yes, record.No, record.Yes},
		"undefined": {"-fsanitize=undefined", record.Yes, record.No, record.Yes},
	} {
		t.Run(variant, func(t *testing.T) {
			program := filepath.Join(dir, "ablation-"+variant)
			// A build that computes another result ends at its first request.
			server := start(t, program)
			conformance.Ask(t, server.address, asked)
			server.stop(t)
			b, err := binary.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Build; got.Optimized.Is != want.optimized || got.Coverage.Is != want.coverage || got.Sanitizers.Is != want.sanitizers {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if flags := strings.Join(b.Flags, " "); !strings.Contains(flags, want.flag) {
				t.Errorf("got the flags %q, want %s", flags, want.flag)
			}
		})
	}
}

package kube

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

func TestTheRoundOfAReport(t *testing.T) {
	at := func(second int64) *metav1.Time { return &metav1.Time{Time: time.Unix(second, 0)} }
	lines := []v1alpha1.SuiteRound{{Round: 12, CompletionTime: at(50)}, {Round: 11, CompletionTime: at(40), PullRequest: "7"}, {Round: 9, CompletionTime: at(30)}}
	goneOnWith := []v1alpha1.SuiteRound{{Round: 12, CompletionTime: at(50)}, {Round: 11, CompletionTime: at(60)}}
	for name, tc := range map[string]struct {
		lines       []v1alpha1.SuiteRound
		current     v1alpha1.CurrentRound
		round, want int32
		says        string
	}{
		"the newest":                  {lines, v1alpha1.CurrentRound{}, 0, 12, ""},
		"the newest that has ended":   {lines, v1alpha1.CurrentRound{Round: 12}, 0, 11, ""},
		"one that was gone on with":   {goneOnWith, v1alpha1.CurrentRound{}, 0, 11, ""},
		"an older one":                {lines, v1alpha1.CurrentRound{}, 9, 9, ""},
		"one that nobody remembers":   {lines, v1alpha1.CurrentRound{}, 10, 0, "BenchmarkSuite perf/checkout has no finished round 10 in its history: choose one of 12, 11, 9"},
		"one that is in progress":     {lines, v1alpha1.CurrentRound{Round: 13, Progress: "1/2"}, 13, 0, "round 13 is in progress, 1/2 of its runs have ended: the report exists only after its end"},
		"a suite that has had no one": {nil, v1alpha1.CurrentRound{}, 0, 0, "BenchmarkSuite perf/checkout has no finished round: start one with loadstone suite run checkout"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout"}}
			s.Status.History, s.Status.Current = tc.lines, tc.current
			got, err := endedRound(s, tc.round)
			if bad := (*Invalid)(nil); tc.says != "" && (!errors.As(err, &bad) || err.Error() != tc.says) {
				t.Errorf("it ends with %v, want %q", err, tc.says)
			}
			if tc.says == "" && (err != nil || got.Round != tc.want) {
				t.Errorf("it is %+v, %v, want %d", got, err, tc.want)
			}
		})
	}
}

func TestFilesReadOfRoundRuns(t *testing.T) {
	const folder = "perf/run/reports/abc/"
	for name, tc := range map[string]struct {
		uri   string
		store shelf
		tests string
		lacks string
		away  bool
		open  bool
	}{
		"all of it":                     {"s3://bench/" + folder + "report.html", shelf{folder + "junit.xml ": "<x>", folder + "report.md ": "#"}, "<x>", "", false, false},
		"a report of an older version":  {"s3://bench/" + folder + "report.html", shelf{folder + "report.md ": "#"}, "", "cannot read junit.xml: ", false, false},
		"a run without a report":        {"", shelf{}, "", "it ended without a report", false, false},
		"a run that has not ended":      {"", shelf{}, "", "it has not ended", false, true},
		"a store that is away for both": {"s3://bench/" + folder + "report.html", shelf{folder + "junit.xml ": "away", folder + "report.md ": "away"}, "", "cannot read junit.xml: ", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := rounds.Run{Object: &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "run"}}}
			if run.Object.Status.Report.URI = tc.uri; !tc.open {
				run.Object.Status.CompletionTime = &metav1.Time{Time: time.Unix(1, 0)}
			}
			err := read(t.Context(), tc.store, &run)
			if string(run.Tests) != tc.tests || !strings.HasPrefix(run.Lacks, tc.lacks) || (run.Lacks == "") != (tc.lacks == "") || errors.Is(err, artifact.ErrUnreachable) != tc.away || !tc.away && err != nil {
				t.Errorf("it reads %q, lacks %q and ends with %v", run.Tests, run.Lacks, err)
			}
		})
	}
}

func TestEarlierRoundReportIsRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	k := &Flags{overrides: clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: "perf"}}}
	folder := roundFolder(dir, "perf", "checkout")
	old, mine := filepath.Join(folder, "junit.xml"), filepath.Join(folder, "notes.txt")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, mine} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := ForgetRound(k, "checkout", dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is no report is gone: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(old, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := ForgetRound(k, "checkout", dir); err == nil || !strings.HasPrefix(err.Error(), "removing the report of an earlier round: ") {
		t.Errorf("a folder in its place ends with %v", err)
	}
}

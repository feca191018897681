package docs_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runner is a file, and the text in it that runs a command.
type runner struct{ file, text string }

const (
	tests      = "hack/test.sh"
	continuous = ".ci/run"
)

// elsewhere lists commands that need a cluster or run the tests, and where they run.
var elsewhere = map[string]runner{
	"make kills":                      {"internal/cli/run_resume_test.go", "func TestKilledRunIsResumed("},
	"bin/loadstone calibrate":         {"internal/cli/calibrate_test.go", `"calibrate", "--out"`},
	"make lint":                       {continuous, "make lint"},
	"make style":                      {"Makefile", "$(STYLE) $(VALE)"},
	"make docs":                       {continuous, "make docs"},
	"make lint test":                  {continuous, "test | test-workloads"},
	"make test":                       {continuous, "test | test-workloads"},
	"make test-workloads":             {continuous, "test-workloads"},
	"make test-cluster":               {continuous, "test-cluster"},
	"make verify":                     {"Makefile", "hack/verify.sh"},
	"hack/test.sh packages":           {"test/house/levels_test.go", `"test.sh"), "packages"`},
	"make generate":                   {"hack/verify.sh", `make -s -C "$copy" generate`},
	"make build":                      {tests, "make -s build"},
	"make fuzz":                       {tests, "hack/workloads.sh test fuzz"},
	"make demo":                       {"test/docs/demo_test.go", `"hack", "demo.sh"`},
	"make cluster-up":                 {tests, "hack/cluster/up.sh"},
	"make cluster-down":               {tests, "hack/cluster/down.sh"},
	"make images deploy":              {tests, "make -s images deploy"},
	"make workloads images":           {tests, "make -s workloads"},
	"make faults":                     {"test/e2e/random_faults_test.go", "func TestRandomFaultsLoseNothingAndBlameNobody("},
	"make suite-kills":                {"test/e2e/suite_kills_test.go", "func TestAnOperatorThatIsKilledMeasuresEachRoundOnce("},
	"hack/cluster/build.sh":           {tests, "hack/cluster/build.sh"},
	"hack/cluster/build.sh vegeta k6": {tests, "hack/cluster/build.sh"},
	`eval "$(make -s kubeconfig)"`:    {"Makefile", "hack/cluster/kubeconfig.sh"},
	"hack/cluster/up.sh":              {tests, "hack/cluster/up.sh"},
	"KUBERNETES_VERSION=1.34.4 hack/cluster/up.sh": {tests, "KUBERNETES_VERSION=$OLDEST_KUBERNETES_VERSION"},
	"hack/cluster/down.sh":                         {tests, "hack/cluster/down.sh"},
	"hack/bench.sh":                                {"Makefile", "hack/bench.sh"},
	"hack/images.sh":                               {"Makefile", "hack/images.sh"},
	"REGISTRY=registry.example/loadstone TAG=v1 hack/images.sh --build-only": {"hack/cluster/up.sh", "images.sh\" --build-only"},
	`eval "$(hack/cluster/kubeconfig.sh)"`:                                   {tests, `eval "$(hack/cluster/kubeconfig.sh)"`},
	"apt-get install wrk":                                                    {tests, "wrk:wrk"},
	"apt-get install valgrind strace libc6-dbg":                              {tests, "strace:strace"},
	"go test ./internal/run/plan -update":                                    {tests, "go_tests test"},
	"go test ./hack/charts -update":                                          {"hack/verify.sh", "go test -count=1 ./hack/charts"},
	"go test ./test/validity":                                                {tests, "go_tests test"},
	"go test ./test/validity -run Document -update":                          {tests, "go_tests test"},
	"go test ./internal/ui/server -run Browser -pictures FOLDER":             {tests, "go_tests test"},
	"go test ./test/e2e -count=1 -run Quick -v":                              {tests, "go_tests test-cluster end-to-end"},

	"make release":                                  {tests, "make -s release"},
	"curl -fsSL RELEASE/install.sh | sh":            {"hack/release/dist/install_test.go", `"sh", append([]string{"-s", "--"}`},
	"make publish VERSION=0.1.0 REGISTRY=host/path": {"hack/release/publish_test.go", "func TestPublishPushesImagesAndChartFromFolderAlone("},
}

// byHand are commands that no program runs, and why. Their syntax is checked where possible.
var byHand = map[string]string{
	"make demo-cluster":                       "is make cluster-up, build, images, deploy and loadstone run --cluster, each of which make test-cluster runs",
	"make bench":                              "measures on a cluster and a machine that must be quiet",
	"make bench-commits":                      "measures on a cluster that must be quiet; make test-cluster has its test",
	"make bench-local":                        "measures on a machine that must be quiet",
	"make bench-rates":                        "measures on a machine that must be quiet",
	"make bench-record":                       "measures for half an hour on a machine that must be quiet",
	"make bench-suites":                       "measures on a machine that must be quiet",
	"make bench-stats":                        "draws figures for minutes: other tests draw fewer",
	"make bench-viewers":                      "measures on a cluster that must be quiet",
	"make adversary":                          "measures planted servers for 20 minutes on a machine that must be quiet",
	"make bench-workloads":                    "measures for more than an hour on a machine that must be quiet",
	"make pictures":                           "needs chromium, and a machine that does nothing else",
	"make vulnerabilities":                    "asks a database that changes",
	"make style-limits":                       "changes what is allowed",
	"make unit":                               "is make test without its servers",
	"docker login":                            "needs docker",
	"rclone copy old:loadstone new:loadstone": "is a tool of another project, and needs two stores; TestBucketCopiedToAnotherStoreIsReadAndWritten copies as it does",
	"docker save":                             "needs docker",
	"bin/loadstone vs --port 8080 server:1.4 server:1.5":                                                                "needs two images of the reader; TestLocalRunOfImages runs images",
	"bin/loadstone compare-refs main HEAD --build 'go build -o server ./cmd/server' -- ./server --port={port}":          "needs the reader's repository; TestCompareRefsMeasuresBothCommits has one",
	"bin/loadstone compare-refs v1.4 v1.5 --build 'go test -c -o bench ./pkg' --format GoTest -- ./bench -test.bench=.": "needs the reader's repository; TestCompareRefsMeasuresBothCommits has one",
	"ctr -a $C/cluster/nodes/NODE/containerd.sock -n k8s.io containers list":                                            "looks into the cluster of hack/cluster",
	"cat /sys/fs/cgroup/cpuset/loadstone/*/cpuset.cpus":                                                                 "looks into the cluster of hack/cluster",

	"make release VERSION=0.1.0 REGISTRY=host/path DOWNLOADS=URL SIGNING_KEY=FILE": "compiles for four platforms, for a quarter of an hour; the tests of hack/release run its parts",
	"make release-smoke VERSION=0.1.0":                                             "needs a release, and qemu",
	"go run ./hack/release pin":                                                    "asks Debian for today's versions",

	"kubectl --namespace loadstone-system port-forward service/loadstone-ui 8017:80": "goes on until it is ended, and needs a kubelet",

	"kubectl krew install --manifest-url=RELEASE/loadstone.yaml": "needs krew; TestKrewManifestHasTheArchiveOfEachPlatform reads the manifest",
}

func TestCommandsRunWhereTablesSay(t *testing.T) {
	quoted := typed(t)
	for line, by := range elsewhere {
		text, err := os.ReadFile(filepath.Join(root, by.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), by.text) {
			t.Errorf("%s is said to be run by %s, which does not have %q", line, by.file, by.text)
		}
		if _, is := quoted[line]; !is {
			t.Errorf("no page has %s: take it out of the table", line)
		}
	}
	for line, why := range byHand {
		if _, is := quoted[line]; !is || why == "" {
			t.Errorf("no page has %s, or nobody says why it is not run: %q", line, why)
		}
	}
}

func TestTablesListOnlyCommandsOfPages(t *testing.T) {
	quoted := typed(t)
	for _, line := range slices.Concat(slices.Collect(maps.Keys(ends)), slices.Collect(maps.Keys(named)), harmless) {
		if _, is := quoted[line]; !is && !slices.Contains(asPlugin, line) {
			t.Errorf("no page has %s: take it out of the table", line)
		}
	}
}

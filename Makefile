SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION   ?= $(shell git describe --always --dirty 2>/dev/null || echo dev)
COMMIT    ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE      ?= $(shell git log -1 --format=%cI 2>/dev/null)
REGISTRY  ?= localhost/loadstone
TAG       ?= dev
NAMESPACE ?= loadstone-system
RUN       ?= quick
ONLY      ?=
REPORT    ?=
# A private ECDSA key in PEM that signs a release. Without it, make release signs nothing.
SIGNING_KEY ?=
# The address at which the files of a release will be. Without it, make release writes no install.sh, krew manifest and Homebrew formula.
DOWNLOADS ?=
export REGISTRY TAG

LOADSTONE_CACHE ?= $(HOME)/.cache/loadstone
export LOADSTONE_CACHE
CLUSTER_ENV = eval "$$(hack/cluster/kubeconfig.sh)"

CONTROLLER_GEN := go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0
REFERENCE_DOCS := go run github.com/elastic/crd-ref-docs@v0.3.0
# One program is golangci-lint and kube-api-linter: each alone would take two minutes to compile.
LINT           := go tool -modfile=hack/lint/go.mod golangci-lint-kube-api-linter
# Vale, in C and Go. See hack/style.
STYLE          := go run ./hack/style
VALE           := go tool -modfile=hack/vale/go.mod vale
ACTIONLINT     := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.10
VULNERABILITIES := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Tests and benchmarks log figures (hack/figures): these go to standard output, and all else to standard error.
FIGURES := awk -F '\t' 'NF == 6 { sub(/^ *[a-z_]+\.go:[0-9]+: /, ""); print; next } { print > "/dev/stderr" }'
UTIL     := loadstone.dev/loadstone/internal/base/util
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X $(UTIL).Version=$(VERSION) -X $(UTIL).Commit=$(COMMIT) -X $(UTIL).CommitDate=$(DATE)"

##@ Use

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## A comparison on this machine, without a cluster, to its verdict and the path of its report: a minute, and two more the first time.
	@hack/demo.sh

.PHONY: demo-cluster
demo-cluster: cluster-up ## The same on a cluster of three nodes, in one command: cluster, images, install, a run, and the path of its report.
	@echo "The cluster is up. Now the operator, the agent and two servers are built (two minutes the first time), and then their images and the run, two more."
	@$(MAKE) -s build
	@hack/images.sh manager agent gohttp epoll
	@$(CLUSTER_ENV); hack/deploy.sh && bin/loadstone run config/samples/quick.yaml --cluster --replace

.PHONY: cluster-up
cluster-up: ## Start a three-node Kubernetes on this machine (root; safe to call twice).
	@hack/cluster/up.sh

.PHONY: cluster-down
cluster-down: ## End it and leave nothing behind but the built binaries.
	@hack/cluster/down.sh

.PHONY: kubeconfig
kubeconfig: ## Print the export lines that point kubectl at it: eval "$(make -s kubeconfig)".
	@hack/cluster/kubeconfig.sh

.PHONY: images
images: build ## Build all images and load them into the cluster's nodes.
	@hack/images.sh

.PHONY: deploy
deploy: ## Install or upgrade Loadstone with Argo and MinIO through its Helm chart, and wait until it is ready.
	@$(CLUSTER_ENV); hack/deploy.sh

.PHONY: report
report: ## Fetch the report of a run (RUN=quick) and print its path.
	@$(GO_BUILD) -o bin/ ./cmd/loadstone
	@$(CLUSTER_ENV); bin/loadstone report --namespace "$${RUN_NAMESPACE:-default}" --system-namespace $(NAMESPACE) --out reports $(RUN)

##@ Release

.PHONY: release
release: ## Build release/VERSION, which is all that is published: make release VERSION=0.1.0, and REGISTRY=host/path for the chart: a quarter of an hour the first time.
	@[[ "$(origin VERSION)" != file ]] || { echo "error: name the version: make release VERSION=0.1.0" >&2; exit 2; }
	@. hack/cluster/lib.sh; need_commands mmdebstrap:mmdebstrap dpkg-deb:dpkg /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring; zig_up
	@go run ./hack/release build -version "$(VERSION)" -commit "$(COMMIT)" -date "$(DATE)" -registry "$(REGISTRY)" -key "$(SIGNING_KEY)" "release/$(VERSION)"
	@[ -z "$(DOWNLOADS)" ] || go run ./hack/release/dist -version "$(VERSION)" -downloads "$(DOWNLOADS)" "release/$(VERSION)"

.PHONY: publish
publish: ## Push images and chart of release/VERSION to a registry: make publish VERSION=0.1.0 REGISTRY=host/path, after docker login.
	@[[ "$(origin VERSION)" != file && "$(origin REGISTRY)" != file ]] || { echo "error: name both: make publish VERSION=0.1.0 REGISTRY=host/path" >&2; exit 2; }
	@go run ./hack/release publish -registry "$(REGISTRY)" "release/$(VERSION)"

.PHONY: release-smoke
release-smoke: ## Start the programs of release/VERSION for arm64 in qemu: make release-smoke VERSION=0.1.0: a minute.
	@[[ "$(origin VERSION)" != file ]] || { echo "error: name the version: make release-smoke VERSION=0.1.0" >&2; exit 2; }
	@. hack/cluster/lib.sh; need_commands qemu-aarch64-static:qemu-user-static
	@go run ./hack/release smoke "release/$(VERSION)"

##@ Develop

.PHONY: pictures
pictures: ## Record make demo and its report for README and docs: two minutes, and nothing else running (chromium, Python, PyPI).
	@hack/pictures.sh

.PHONY: build
build: ## Build every program into bin/.
	@mkdir -p bin
	@. hack/cluster/lib.sh; need_commands gcc:gcc /usr/include/stdio.h:libc6-dev make:make
	$(GO_BUILD) -o bin/ ./cmd/manager ./cmd/loadstone-agent ./cmd/loadstone ./workloads/gohttp ./workloads/gnet ./workloads/faulty
	@$(MAKE) -s -C workloads/epoll OUT=$(CURDIR)/bin/epoll epoll

.PHONY: workloads
workloads: ## Build the reference workloads that are not in Go into bin/: "make images" then has images of them, too.
	@hack/workloads.sh build

.PHONY: generate
generate: ## Generate deep copies, CRDs for config/ and the chart, docs/reference/api.md, the pages of the commands, JSON Schemas, and the figures of the workloads.
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	go run ./hack/charts
	$(REFERENCE_DOCS) --source-path=api --config=hack/reference/config.yaml --templates-dir=hack/reference/templates \
		--renderer=markdown --output-path=docs/reference/api.md --log-level=ERROR
	go run ./hack/cli
	go run ./hack/schemas
	go run ./hack/workloads pages hack/workloads/records docs/explanation/workloads.md workloads/*/README.md

.PHONY: docs
docs: ## Build the documentation site into bin/site, and fail at a broken link: seconds, and a minute the first time (Python, PyPI).
	@hack/docs.sh

.PHONY: lint
lint: ## Check the format and bugs of Go code, the API's conventions, workflows, and the English: compiles three linters and Vale the first time.
	$(LINT) fmt --diff
	$(LINT) run ./...
	$(LINT) run -c hack/kube-api-linter.yml ./api/...
	$(ACTIONLINT)
	@. hack/cluster/lib.sh; need_commands gcc:gcc /usr/include/stdio.h:libc6-dev git:git
	$(STYLE) $(VALE)

.PHONY: style
style: ## Print all findings of the style check.
	$(STYLE) -all $(VALE)

.PHONY: style-limits
style-limits: ## Allow today's findings of the style check, and no more: run it after you have corrected some.
	$(STYLE) -update $(VALE)

.PHONY: verify
verify: ## Check generated files, chart, modules and shell scripts. Part of make test.
	@hack/verify.sh

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in what the programs call, in Go's database, which changes every day: not part of verify.
	$(VULNERABILITIES) ./...

.PHONY: unit
unit: ## Test pure code and golden files: seconds, no server, no root. Part of make test.
	@hack/test.sh unit

.PHONY: test
test: ## Verify and test everything of the product that needs no cluster, on a real API server, MinIO and load generators.
	@hack/test.sh test

.PHONY: test-workloads
test-workloads: ## Test the reference workloads, with sanitizers and fuzzers.
	@hack/test.sh test-workloads

.PHONY: test-cluster
test-cluster: ## Test end to end, on a real cluster that is started for the tests and taken down after, and with Flux and Argo CD.
	@hack/test.sh test-cluster

.PHONY: fuzz
fuzz: ## Fuzz parsers of the reference workloads (workloads/fuzz/README.md says which), guided by coverage: five minutes each, FUZZ_SECONDS=300, with another seed each time.
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-300} FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} hack/workloads.sh test fuzz

.PHONY: kills
kills: ## Kill loadstone run at 50 random moments (LOADSTONE_TEST_KILLS=50) and resume it: half an hour at most, and wrk.
	@LOADSTONE_TEST_KILLS=$${LOADSTONE_TEST_KILLS:-50} go test -count=1 -timeout 30m -v ./internal/cli -run TestKilledRunIsResumed

.PHONY: adversary
adversary: build ## Compare servers with planted faults with an honest one, and print a table of the verdicts: 20 minutes, wrk, and nothing else running. ONLY=stall,daemon
	@go build -o bin/adversary ./test/adversary
	@bin/adversary -only "$(ONLY)"

.PHONY: faults
faults: cluster-up ## Let faults befall a queue of runs on the cluster: 20 minutes (LOADSTONE_FAULTS=20m), in an order that follows from a seed.
	@$(MAKE) -s build
	@hack/images.sh manager agent gohttp
	@$(CLUSTER_ENV); hack/deploy.sh && LOADSTONE_FAULTS=$${LOADSTONE_FAULTS:-20m} go test -count=1 -timeout 60m -v ./test/e2e -run TestRandomFaults

.PHONY: suite-kills
suite-kills: cluster-up ## Kill the operator at 50 random moments (LOADSTONE_SUITE_KILLS=50) over ten rounds of a suite or more, on the cluster.
	@$(MAKE) -s build
	@hack/images.sh manager agent gohttp
	@$(CLUSTER_ENV); hack/deploy.sh && LOADSTONE_SUITE_KILLS=$${LOADSTONE_SUITE_KILLS:-50} go test -count=1 -timeout 60m -v ./test/e2e -run TestAnOperatorThatIsKilledMeasuresEachRoundOnce

.PHONY: bench
bench: ## Measure Loadstone itself on the cluster: name, value, unit, aim, met or short: an hour and a quarter, and nothing else running.
	@hack/bench.sh | $(FIGURES)

.PHONY: bench-local
bench-local: build ## Only those of loadstone run on this machine: twelve minutes, wrk, and nothing else running.
	@go test -count=1 -timeout 60m -run '^$$' -benchtime 1x -bench Local ./test/bench | $(FIGURES)

.PHONY: bench-suites
bench-suites: ## Only those of suites: a history of 1,000 rounds, and 500 suites with a schedule of each minute (LOADSTONE_TEST_SUITES=500), on an API server of its own: ten minutes.
	@go test -count=1 -timeout 15m -run '^$$' -bench AThousandRounds ./internal/ui/server | $(FIGURES)
	@LOADSTONE_TEST_SUITES=$${LOADSTONE_TEST_SUITES:-500} go test -count=1 -timeout 15m -v ./controllers/suites -run TestManySuitesMissNoMinute | $(FIGURES)

.PHONY: bench-viewers
bench-viewers: build ## Only what 50 open pages of loadstone ui cost beside an A/A run, on a cluster with Loadstone: five minutes, and nothing else running.
	@go build -o bin/viewers ./hack/viewers
	@$(CLUSTER_ENV); { bin/viewers -report reports/default/aa/report.json bin/loadstone run config/samples/aa.yaml --cluster --replace 2>&1 || [ $$? -eq 4 ]; } | $(FIGURES) # Undecided, as an A/A run mostly is.

.PHONY: bench-commits
bench-commits: ## Only how long it takes from a commit, and from a request to the webhook, to the first request of their rounds, on the cluster: ten minutes.
	@{ hack/cluster/build.sh source-controller kustomize-controller; hack/cluster/up.sh; } >&2
	@$(MAKE) -s build >&2 # In a line of its own: make -n runs the lines that call make.
	@hack/images.sh manager agent gohttp >&2
	@$(CLUSTER_ENV); hack/deploy.sh >&2; go test -count=1 -timeout 60m -v ./test/e2e -run TestACommitIsMeasuredAndItsPullRequestIsTold | $(FIGURES)

.PHONY: bench-rates
bench-rates: build ## Only how load generators sustain imposed rates of 1,000 to 50,000/s: three minutes, k6, h2load, oha and vegeta in PATH, and nothing else running.
	@go test -count=1 -run '^$$' -benchtime 1x -bench Rates ./test/bench | $(FIGURES)

.PHONY: bench-stats
bench-stats: ## Only those of its figures that need no cluster: verdicts on recorded blocks, drift, age, searches, change points, merging, sliced pairs, reports of 1,000 and 10,000 cells.
	@LOADSTONE_TEST_DRAWN_RUNS=$${LOADSTONE_TEST_DRAWN_RUNS:-10000} go test -count=1 -timeout 60m -v -run . -bench Analyse1000Cells ./internal/analysis ./internal/analysis/capacity ./internal/analysis/trend ./internal/analysis/verdict ./internal/stats/inference ./internal/trial/search | $(FIGURES)
	@go test -count=1 -v -run TestNoSentenceHidesTheOtherSide ./internal/report | $(FIGURES)
	@go test -count=1 -v -run '^$$' -benchtime 3x -bench ReportProcess ./cmd/manager | $(FIGURES)

.PHONY: bench-record
bench-record: build ## Record the blocks that they are drawn from: half an hour on a quiet machine.
	@rm -rf bin/aa
	@for run in sequential sliced planted calibration; do bin/loadstone run --out bin/aa/$$run config/aa/$$run.yaml || [[ $$? == [34] ]]; done
	@go test -count=1 ./internal/analysis/verdict -run TestRecordBlocks -record $(CURDIR)/bin/aa

.PHONY: bench-workloads
bench-workloads: build workloads ## Measure the reference workloads against their peers with loadstone run: more than an hour on a quiet machine. ONLY=zco,coro-switch
	@go build -o bin/bench-workloads ./hack/workloads
	@hack/workloads.sh measure "$(ONLY)"

// Package crd holds the definitions of the API's kinds, as they are installed, for programs that check objects without a cluster.
package crd

import _ "embed"

// BenchmarkRun is the definition of BenchmarkRuns, as YAML.
//
//go:embed bases/loadstone.dev_benchmarkruns.yaml
var BenchmarkRun []byte

// BenchmarkSuite is the definition of BenchmarkSuites, as YAML.
//
//go:embed bases/loadstone.dev_benchmarksuites.yaml
var BenchmarkSuite []byte

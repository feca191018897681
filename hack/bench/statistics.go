package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/hack/bench/aa"
)

// recordings hold aa-blocks.json, which hack/bench/record writes, and a placeholder for tests that was recorded beside compilers.
//
//go:embed testdata/*.json
var recordings embed.FS

const blocksFile = "testdata/aa-blocks.json"

func readRecording(name string) (aa.Recording, error) {
	text, err := recordings.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return aa.Recording{}, fmt.Errorf("there is no hack/bench/%s: make it with \"make bench-record\" on a quiet machine", name)
	}
	if err != nil {
		return aa.Recording{}, fmt.Errorf("reading the recorded blocks: %w", err)
	}
	return aa.Parse(text)
}

// upperBound is the one-sided upper bound of a share of which k of n were seen, at 95 %, by Clopper and Pearson.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

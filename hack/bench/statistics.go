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

// allowed reads the recorded blocks in which Loadstone would void no cell, and says how many it leaves out.
func (b *bench) allowed() (aa.Recording, error) {
	r, err := readRecording(blocksFile)
	if err != nil {
		return r, err
	}
	kept, out := r.Allowed()
	b.say("Blocks recorded %s on %s: %d, and %d more that Loadstone would void.", r.Recorded.Format("2006-01-02"), r.Machine, len(kept.Blocks), out)
	if len(kept.Blocks) == 0 {
		return r, errors.New("reading the recorded blocks: Loadstone would void all of them")
	}
	return kept, nil
}

func (b *bench) noises() (noises, error) {
	r, err := b.allowed()
	return noisesOf(r), err
}

// upperBound is the one-sided upper bound of a share of which k of n were seen, at 95 %, by Clopper and Pearson.
func upperBound(k, n int) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

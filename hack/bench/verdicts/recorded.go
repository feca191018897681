package verdicts

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/progress"
)

// recordings hold aa-blocks.json, which hack/bench/record writes, and a placeholder for tests that was recorded beside compilers.
//
//go:embed testdata/*.json
var recordings embed.FS

const blocksFile = "testdata/aa-blocks.json"

func readRecording(name string) (aa.Recording, error) {
	text, err := recordings.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return aa.Recording{}, fmt.Errorf("there is no hack/bench/verdicts/%s: make it with \"make bench-record\" on a quiet machine", name)
	}
	if err != nil {
		return aa.Recording{}, fmt.Errorf("reading the recorded blocks: %w", err)
	}
	return aa.Parse(text)
}

// Bench draws from the recorded blocks, and tells Log what it does.
type Bench struct{ Log *progress.Log }

// allowed reads the recorded blocks in which Loadstone would void no cell, and says how many it leaves out.
func (b Bench) allowed() (aa.Recording, error) {
	r, err := readRecording(blocksFile)
	if err != nil {
		return r, err
	}
	kept, out := r.Allowed()
	b.Log.Say("Blocks recorded %s on %s: %d, and %d more that Loadstone would void.", r.Recorded.Format("2006-01-02"), r.Machine, len(kept.Blocks), out)
	if len(kept.Blocks) == 0 {
		return r, errors.New("reading the recorded blocks: Loadstone would void all of them")
	}
	return kept, nil
}

func (b Bench) noises() (noises, error) {
	r, err := b.allowed()
	return noisesOf(r), err
}

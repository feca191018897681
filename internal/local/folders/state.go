package folders

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

const (
	// stateFile holds a run's progress. Reports do not need it.
	stateFile   = "state.json"
	stateSchema = "loadstone.dev/local-state/v1"
)

// State is a run's progress, for a resume. It is replaced atomically.
type State struct {
	Schema string `json:"schema"`
	// Spec is the request; Plan is the digest of the compiled plan.
	Name string          `json:"name"`
	UID  string          `json:"uid"`
	Spec json.RawMessage `json:"spec"`
	Plan string          `json:"plan"`
	// Operator is the version of the program that began the run.
	Operator string `json:"operator"`
	// Seats is a sentence on the members' CPUs.
	Seats string `json:"seats"`
	// Started is when the run began; LedNanos is how long it has been led.
	Started  time.Time `json:"started"`
	LedNanos int64     `json:"ledNanos"`
	// Interim and Scan are the state of the run's analyses.
	Interim conduct.Interim `json:"interim"`
	Scan    conduct.Scan    `json:"scan"`
	Trials  []Trial         `json:"trials,omitempty"`
	// Tries are attempts by trial name, including blocks that will be measured again.
	Tries map[string]*Tries `json:"tries,omitempty"`
	// Resumed is when and where the run was resumed.
	Resumed []Resumption `json:"resumed,omitempty"`
	// Reported is true once the whole run is reported.
	Reported bool `json:"reported,omitempty"`
}

// Trial is a trial's state.
type Trial struct {
	Name    string             `json:"name"`
	Started time.Time          `json:"started,omitzero"`
	Ended   time.Time          `json:"ended,omitzero"`
	Stored  *record.Artifact   `json:"stored,omitempty"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Nodes   []record.BoundNode `json:"nodes,omitempty"`
}

// Tries are the attempts at a trial.
type Tries struct {
	// Failures say why earlier attempts failed.
	Begun    int32    `json:"begun"`
	Failures []string `json:"failures,omitempty"`
}

// Resumption is the time of a resume, and the last complete block then.
type Resumption struct {
	At       time.Time `json:"at"`
	Complete int32     `json:"complete"`
}

// Sentence is the note in the run's manifest.
func (r Resumption) Sentence() string {
	return fmt.Sprintf("loadstone run ended after block %d and was resumed at %s: blocks that were complete are kept, and what was measured of the next one before is left out", r.Complete, r.At.UTC().Format(time.RFC3339))
}

// Read reads the state of the run in a folder; nil if there is none.
func Read(dir string) (*State, error) {
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading how far the run is: %w", err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading how far the run is, from %s: %w", filepath.Join(dir, stateFile), err)
	}
	if s.Schema != stateSchema {
		return nil, fmt.Errorf("%s is a %q, and this version of Loadstone resumes a %q", filepath.Join(dir, stateFile), s.Schema, stateSchema)
	}
	return &s, nil
}

// Write replaces the state of the run in a folder.
func Write(dir string, s State) (err error) {
	s.Schema = stateSchema
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding how far the run is: %w", err)
	}
	file, err := os.CreateTemp(dir, temporary+"*")
	if err != nil {
		return fmt.Errorf("storing how far the run is: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, stateFile))
	}
	if err != nil {
		return fmt.Errorf("storing how far the run is: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// Abandon records that the last attempt does not count, since the run ended before its block was complete.
func (t *Tries) Abandon(line record.PlannedTrial) {
	if int32(len(t.Failures)) >= t.Begun {
		return
	}
	what := fmt.Sprintf("block %d was complete", line.Block)
	if line.Follows() {
		what = "it was stored"
	}
	t.Failures = append(t.Failures, fmt.Sprintf("attempt %d: loadstone run ended before %s", t.Begun, what))
}

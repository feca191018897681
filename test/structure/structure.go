// Package structure compares what different backends leave of a run: which records, which fields of them, and which sections of the report. The
// same golden file is compared with a run on one machine and, by the end-to-end tests, with one on a cluster.
package structure

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// Quick is the structure of a comparison of two servers by levels of one load, such as config/samples/quick.yaml.
//
//go:embed testdata/quick.txt
var Quick string

// byChance are the fields and sections that a record has or lacks by what happened in the run, whoever has led it.
var byChance = map[string]bool{
	"manifest repeatBlocks": true, "trial failures": true,
	"generator cell error": true, "generator cell late": true, "generator cell stealNanos": true, "generator cell firstConnection": true,
	"server cell error": true,
	"section care":      true, "section noise": true, "section objectives": true,
	// These show what counts, and a disturbed cell does not.
	"section effects": true, "section levels": true, "section latency": true, "section time": true, "section tests": true, "section scaling": true,
}

// ofMachines are those that follow from the machine, whatever backend leads the run: counters that a kernel has or lacks, what the network
// namespace of a pod can tell and that of a machine cannot, and fixed work on a server's CPU, on which an observer may not run where it is pinned.
var ofMachines = map[string]bool{
	"generator cell unknown": true, "generator cell throttled": true, "server cell unknown": true, "server cell pressureMicros": true,
	"server cell workBefore": true, "server cell workAfter": true,
}

var sectionID = regexp.MustCompile(`<section[^>]* id="([a-z-]+)"`)

// Of is the structure of a run and of the page of its report: a line for each field and section, in order.
func Of(data record.RunData, page []byte) (string, error) {
	l := lines{}
	err := l.add("manifest", data.Manifest)
	for _, t := range data.Trials {
		err = errors.Join(err, l.trial(t))
	}
	for _, m := range sectionID.FindAllSubmatch(page, -1) {
		l["section "+string(m[1])] = true
	}
	maps.DeleteFunc(l, func(line string, _ bool) bool { return byChance[line] || ofMachines[line] })
	return strings.Join(slices.Sorted(maps.Keys(l)), "\n") + "\n", err
}

// lines are those of a structure.
type lines map[string]bool

// trial adds the records of a trial.
func (l lines) trial(t record.TrialData) error {
	err := l.add("trial", t.Manifest)
	for _, a := range t.Manifest.Artifacts {
		l["artifact "+a.Member+"/"+a.Name] = true
	}
	for _, s := range t.Servers {
		err = errors.Join(err, l.add("server", s))
		for _, c := range s.Cells {
			err = errors.Join(err, l.add("server cell", c))
		}
	}
	for _, g := range t.Generators {
		err = errors.Join(err, l.add("generator", g))
		for _, c := range g.Cells {
			err = errors.Join(err, l.add("generator cell", c))
		}
	}
	return err
}

// add adds the fields that a record has.
func (l lines) add(what string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a %s: %w", what, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("decoding a %s: %w", what, err)
	}
	for field := range fields {
		l[what+" "+field] = true
	}
	return nil
}

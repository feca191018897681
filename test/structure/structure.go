// Package structure compares what backends store of a run: records, their fields, sections of the report and fields of its data. A local run and, in
// end-to-end tests, a run on a cluster must match the same golden file.
package structure

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
)

// Quick is the structure of a comparison of two servers at several levels, such as config/samples/quick.yaml.
//
//go:embed testdata/quick.txt
var Quick string

// absence says why lines that match a pattern do not depend on the backend.
type absence struct{ pattern, why string }

const (
	repeated = "a block that was disturbed is repeated"
	marked   = "what is wrong with a cell is said of it"
	counted  = "it is computed from the cells that count, which a busy machine takes away; the cells themselves are compared"
	found    = "what is said of the machine follows from runs that lie beside this one"
	counters = "a kernel has this counter or lacks it"
	shared   = "the network namespace of a pod tells it, and that of a machine does not"
	pinned   = "an observer may not run on a CPU that is the server's alone"
)

// byChance are fields and sections that depend on events or the machine, with every backend.
var byChance = []absence{
	{"manifest repeatBlocks", repeated},
	{"report coverage.repeated.*", repeated},
	{"report coverage.missing.*", "a trial may be lost"},
	{"trial failures", "an attempt may fail"},
	{"generator cell error", marked},
	{"generator cell late", marked},
	{"server cell error", marked},
	{"server cell pauses", "a server pauses, or its machine is busy"},
	{"report groups.cells.reasons*", marked},
	{"report groups.cells.throughputIsDiluted", marked},
	{"report groups.cells.observations.*", "what a cell shows over its time takes more of its samples than a busy machine may leave"},
	{"report groups.findings.*", marked},
	{"section care", marked},
	{"generator cell stealNanos", "a hypervisor may steal time"},
	{"generator cell firstConnection", "a connection may begin before anybody looks"},
	{"generator cell loadAudit*", "a container's seccomp profile may not allow it"},
	{"report builds.atRest.*tMost", "a server may be faster than anybody looks"},
	{"report headline.entries*", counted},
	{"report headline.peaks*", counted},
	{"report comparisons.overall*", counted},
	{"report comparisons.reason", counted},
	{"report comparisons.main", counted},
	{"report comparisons.against*", counted},
	{"report trends.*", counted},
	{"report comparisons.levels.results*", counted},
	{"report comparisons.levels.reason", counted},
	{"report groups.throughputRequestsPerSecond*", counted},
	{"report groups.meanLatency*", counted},
	{"report groups.server*", counted},
	{"report groups.generatorCPUs*", counted},
	{"report groups.latency*", counted},
	{"report groups.observations*", counted},
	{"report groups.overTime*", counted},
	{"report scaling.*", counted},
	{"section effects", counted},
	{"section levels", counted},
	{"section latency", counted},
	{"section time", counted},
	{"section tests", counted},
	{"section scaling", counted},
	{"report noiseFloor*", found},
	{"report headline.calibration*", found},
	{"section noise", found},
	{"section objectives", found},
	{"generator cell unknown", counters},
	{"generator cell throttled", counters},
	{"server cell unknown", counters},
	{"server cell pressureMicros", counters},
	{"report unknowns.*", counters},
	{"report groups.cells.observations.cpuPressureShare", counters},
	{"report groups.cells.observations.serverMHz", counters},
	{"report groups.cells.observations.connectionsOpened", shared},
	{"report groups.cells.observations.listenOverflows", shared},
	{"report groups.cells.observations.synRetransmits", shared},
	{"report groups.cells.observations.neighbourShare", "only of a CPU that is the server's alone it is known who else was there"},
	{"server cell work*", pinned},
	{"report groups.cells.observations.workChangeShare", pinned},
}

var sectionID = regexp.MustCompile(`<section[^>]* id="([a-z-]+)"`)

// Of returns the structure of a run and its report files: a sorted line per field and section.
func Of(data record.RunData, files []report.File) (string, error) {
	l := lines{}
	err := l.add("manifest", data.Manifest)
	for _, t := range data.Trials {
		err = errors.Join(err, l.trial(t))
	}
	for _, f := range files {
		err = errors.Join(err, l.file(f))
	}
	maps.DeleteFunc(l, func(line string, _ bool) bool {
		return slices.ContainsFunc(byChance, func(a absence) bool { return a.of(line) })
	})
	return strings.Join(slices.Sorted(maps.Keys(l)), "\n") + "\n", err
}

func (a absence) of(line string) bool {
	ok, err := path.Match(a.pattern, line)
	return ok && err == nil
}

// lines are those of a structure.
type lines map[string]bool

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

// file adds the sections of the page, and all fields of the data.
func (l lines) file(f report.File) error {
	if f.ContentType != "application/json" {
		for _, m := range sectionID.FindAllSubmatch(f.Body, -1) {
			l["section "+string(m[1])] = true
		}
		return nil
	}
	var data any
	if err := json.Unmarshal(f.Body, &data); err != nil {
		return fmt.Errorf("decoding %s: %w", f.Name, err)
	}
	l.shape("report ", data)
	return nil
}

// shape adds the fields of a value, recursively. The elements of a list share one shape: fields that any of them has.
func (l lines) shape(at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for field, inner := range v {
			l[at+field] = true
			l.shape(at+field+".", inner)
		}
	case []any:
		for _, one := range v {
			l.shape(at, one)
		}
	}
}

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

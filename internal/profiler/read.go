package profiler

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/profiler/massif"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
	"loadstone.dev/loadstone/internal/profiler/perfstat"
)

const (
	// MaxProcesses bounds the processes whose files are read.
	MaxProcesses = 64
	top          = 30
)

// Read parses a tool's output folder. A file that is unreadable or truncated is listed as unread; its readable part is kept.
func Read(folder fs.FS, run Run) Result {
	r := reader{folder: folder, result: Result{Run: run, Limits: Limits(run.Tool)}}
	r.result.Messages = all(&r, OutputLog, ParseMessages)
	switch run.Tool {
	case Memcheck:
		r.memory()
	case Massif, MassifHeap, MassifPages:
		r.massif()
	case Callgrind:
		r.costs(OutputCallgrind)
	case Cachegrind:
		r.costs(OutputCachegrind)
	case Strace:
		if tables := all(&r, OutputStrace, ParseSystemCalls); len(tables) > 0 {
			r.result.Calls = &tables[0]
		}
	case PerfStat:
		if tables := all(&r, OutputPerfStat, perfstat.Parse); len(tables) > 0 {
			r.result.Counters = tables[0]
		}
	}
	if n := r.result.Processes; n > 1 && (r.result.Costs != nil || r.result.Massif != nil) {
		r.result.Limits = append(r.result.Limits, remark(SeveralProcesses, "The program has %d processes: functions, lines and stacks are of the one that cost "+
			"most, and a heap is of the one whose heap was largest.", n))
	}
	return r.result
}

type reader struct {
	folder fs.FS
	result Result
}

func all[T any](r *reader, name Output, parse func(io.Reader) (T, error)) []T {
	files, err := fs.Glob(r.folder, string(name))
	if err == nil && len(files) == 0 && name != OutputLog {
		err = fmt.Errorf("the tool wrote no such file")
	}
	if err == nil && len(files) > MaxProcesses {
		err = fmt.Errorf("%w: %d processes, but only %d are read", lines.ErrLarge, len(files), MaxProcesses)
	}
	r.unread(string(name), err)
	var out []T
	slices.Sort(files)
	for _, file := range files[:min(len(files), MaxProcesses)] {
		v, err := open(r.folder, file, parse)
		r.unread(path.Base(file), err)
		out = append(out, v)
	}
	r.result.Processes = max(r.result.Processes, len(files))
	return out
}

func (r *reader) unread(file string, err error) {
	if err != nil {
		r.result.Unread = append(r.result.Unread, Unread{File: file, Why: err.Error()})
	}
}

func open[T any](folder fs.FS, name string, parse func(io.Reader) (T, error)) (T, error) {
	file, err := folder.Open(name)
	if err != nil {
		var none T
		return none, fmt.Errorf("opening it: %w", err)
	}
	defer func() { _ = file.Close() }()
	return parse(file)
}

func (r *reader) memory() {
	results, heaps := all(r, OutputXML, memcheck.Parse), all(r, OutputHeap, memcheck.ParseHeap)
	if len(results) == 0 {
		results = []memcheck.Result{{}}
	}
	m := Memory{Result: results[0]}
	for _, other := range results[1:] {
		m.Errors, m.Leaks = append(m.Errors, other.Errors...), append(m.Leaks, other.Leaks...)
		m.Finished, m.Suppressed = m.Finished && other.Finished, lines.Sum(m.Suppressed, other.Suppressed)
		if m.Signal == "" {
			m.Signal = other.Signal
		}
	}
	for _, h := range heaps {
		m.Heap = m.Heap.Plus(h)
	}
	m.Verdicts = Judge(Evidence{
		Result: m.Result, Heap: m.Heap, Messages: r.result.worst(), Exit: r.result.Exit, Requests: r.result.Requests, Unanswered: r.result.Unanswered, Program: r.result.Program,
		Children: max(len(heaps)-len(results), 0),
	})
	r.result.Memcheck = &m
}

func (r Result) worst() Messages {
	var worst Messages
	for _, m := range r.Messages {
		worst = worst.Graver(m)
	}
	return worst
}

func (r *reader) massif() {
	for _, m := range all(r, OutputMassif, massif.Parse) {
		if len(m.Snapshots) > 0 && (r.result.Massif == nil || m.PeakHeap() > r.result.Massif.PeakHeap()) {
			r.result.Massif = &m
		}
	}
	if m := r.result.Massif; m != nil && !m.HeapSeen() {
		r.result.Limits = append(r.result.Limits, remark(AllocatorUnseen, "massif saw no allocation: the program has its own allocator, or none."))
	}
}

func (r *reader) costs(name Output) {
	profiles := all(r, name, callgrind.Parse)
	var most *callgrind.Profile
	var total callgrind.Cost
	for i, p := range profiles {
		total = total.Plus(p.Total)
		if most == nil || p.Total.At(0) > most.Total.At(0) {
			most = &profiles[i]
		}
	}
	if most == nil {
		return
	}
	r.result.Profiles = profiles
	r.result.Costs = &Costs{
		Events: most.Events, Total: total, Most: most.Total, Self: most.TopSelf(0, top), Inclusive: most.TopInclusive(0, top), Lines: most.TopLines(0, top),
		Calls: most.TopCalls(0, top),
	}
}

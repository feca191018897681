// Program bench measures Loadstone itself: as it is installed on a cluster (package cluster), as it runs on this machine (local.go), load
// generators by themselves (package rates), and its statistics (packages merging and verdicts). The table below says what there is.
//
// A line a figure goes to standard output, tab-separated: name, value, unit, aim, "met" or "short", and a note. Progress, and
// where the time goes, go to standard error. The program compares no versions and keeps no history.
//
// "bench record FOLDER FILE" makes the recording of equal servers that verdicts draws from, out of the runs that "loadstone run" has left in a
// folder (make bench-record; package aa).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/cluster"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/merging"
	"loadstone.dev/loadstone/hack/bench/rates"
	"loadstone.dev/loadstone/hack/bench/verdicts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	if len(args) == 3 && args[0] == "record" {
		return aa.Record(ctx, args[1], args[2])
	}
	log, sizes := figures.NewLog(stderr), cluster.Full
	own := here{log: log, bin: "bin", pairs: herePairs, seconds: hereSeconds, rates: rates.Full}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := f.String("only", "", "measure only this: "+names(all(cluster.New(log, sizes), own, log))+"; several with commas")
	try := f.Bool("try", false, "measure next to nothing, only to see whether everything works")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if *try {
		sizes, own.pairs, own.seconds, own.rates = cluster.Tiny, herePairsTried, hereSecondsTried, rates.Tried
		log.Say("This is a trial of the program: its figures mean nothing.")
	}
	c := cluster.New(log, sizes)
	chosen, err := choose(all(c, own, log), *only)
	if err != nil {
		return err
	}
	if onCluster(chosen) {
		if err := c.Connect(ctx); err != nil {
			return err
		}
		defer c.Close()
	}
	var failed error
	for i, m := range chosen {
		log.Expect(reckoned(chosen[i:]))
		log.Step("%s", m.name)
		failed = errors.Join(failed, one(ctx, stdout, log, m))
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
	return errors.Join(failed, printLines(stdout, c.Records(), nil))
}

// one takes a measurement and prints its figures, and says beside them if others used the machine meanwhile.
func one(ctx context.Context, stdout io.Writer, log *figures.Log, m measurement) error {
	meter := newMeter(machine)
	list, err := m.measure(ctx)
	strangers, known := meter.strangers()
	var warning []string
	switch {
	case !known:
		log.Say("%s: how much of the machine others used is not known here", m.name)
	case strangers > quietLimit:
		warning = []string{fmt.Sprintf("NOT QUIET: others used %.2f CPUs", strangers)}
	default:
		log.Say("%s: the machine was quiet: others used %.3f CPUs", m.name, strangers)
	}
	if err != nil {
		err = fmt.Errorf("measuring %s: %w", m.name, err)
	}
	return errors.Join(err, printLines(stdout, list, warning))
}

func printLines(w io.Writer, list []figures.Figure, warning []string) error {
	for _, f := range list {
		f.Note = strings.Join(append(warning, f.Note), "; ")
		if _, err := fmt.Fprintln(w, f.Line()); err != nil {
			return fmt.Errorf("printing figures: %w", err)
		}
	}
	return nil
}

// measurement yields figures; reckoned is about how long it takes.
type measurement struct {
	name      string
	onCluster bool
	reckoned  time.Duration
	measure   func(context.Context) ([]figures.Figure, error)
}

// all are the measurements. Those that need no cluster are of loadstone run and of the statistics.
func all(c *cluster.Bench, own here, log *figures.Log) []measurement {
	takes, merged, drawn := c.Times(), merging.Bench{Log: log}, verdicts.Bench{Log: log}
	imposed := rates.Bench{Log: log, Bin: own.bin, Sizes: own.rates}
	return []measurement{
		{"start", true, takes.Start, c.Start},
		{"sweep", true, takes.Sweep, c.Sweep},
		{"pairs", true, takes.Pairs, c.Pairs},
		{"generators", true, takes.Generators, c.Generators},
		{"memory", true, takes.Memory, c.Memory},
		{"profiles", true, takes.Profiles, c.Profiles},
		{"stored", true, takes.Stored, c.Stored},
		{"dependency", true, takes.Dependency, c.Dependency},
		{"chart", true, takes.Chart, c.Chart},
		{"local", false, time.Duration(own.pairs)*10*time.Second + time.Duration(own.seconds)*32*time.Second, own.Local},
		{"cases", false, programPairs * time.Duration(own.pairs) * 2 * time.Second, own.Cases},
		{"program", false, time.Second, own.Program},
		{"rates", false, own.rates.Takes(), imposed.Measure},
		{"merging", false, 15 * time.Second, merged.Measure},
		{"verdicts", false, 90 * time.Second, drawn.Verdicts},
		{"power", false, 60 * time.Second, drawn.Power},
		{"regression", false, time.Second, drawn.Regression},
		{"duet", false, time.Second, drawn.Duet},
	}
}

func names(list []measurement) string {
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.name
	}
	return strings.Join(all, ", ")
}

// choose takes those that are named, in the order in which they are, with commas between them; all if none is.
func choose(all []measurement, only string) ([]measurement, error) {
	if only == "" {
		return all, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("parsing flags: -only %s: there are %s", name, names(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// onCluster says whether any of them needs a cluster.
func onCluster(list []measurement) bool {
	return slices.ContainsFunc(list, func(m measurement) bool { return m.onCluster })
}

// reckoned is about how long all of them take.
func reckoned(list []measurement) time.Duration {
	var sum time.Duration
	for _, m := range list {
		sum += m.reckoned
	}
	return sum
}

// quietLimit is how many CPUs others may use of a machine that counts as quiet. Up to a tenth is the cluster's own: what starts
// containers lives so briefly that with cgroup v1 it is counted among the others.
const quietLimit = 0.15

const tick = 10 * time.Millisecond

// host is where a machine shows what its processes use.
type host struct{ cgroups, proc string }

// meter tells how much CPU others than the cluster and this program use. It works on the machine on which hack/cluster runs, whose
// processes are all in cgroups of one name.
type meter struct {
	host   host
	at     time.Time
	others time.Duration
	known  bool
}

// machine is this one.
var machine = host{"/sys/fs/cgroup", "/proc"}

// newMeter begins to count.
func newMeter(h host) meter {
	all, okAll := h.cpuTime("")
	ours, okOurs := h.clusterTime()
	return meter{host: h, at: time.Now(), others: all - ours - ownTime(), known: okAll && okOurs}
}

// strangers is the number of CPUs that others have used on average since the meter was made; false if that cannot be seen here.
func (m meter) strangers() (float64, bool) {
	now := newMeter(m.host)
	return (now.others - m.others).Seconds() / now.at.Sub(m.at).Seconds(), m.known && now.known
}

// clusterTime is what the cluster has used. With cgroup v1 the servers outside of pods are in a cpuset, but account to nobody.
func (h host) clusterTime() (time.Duration, bool) {
	sum, known := h.cpuTime("loadstone")
	list, err := os.ReadFile(filepath.Join(h.cgroups, "cpuset/loadstone/system/cgroup.procs"))
	if err != nil {
		return sum, known
	}
	for pid := range strings.FieldsSeq(string(list)) {
		if stat, err := os.ReadFile(filepath.Join(h.proc, pid, "stat")); err == nil {
			sum += processTime(string(stat))
		}
	}
	return sum, known
}

// processTime is what a process and its children that have ended have used, by the fields 14 to 17 of its stat.
func processTime(stat string) time.Duration {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first, last = 14 - 3, 17 - 3
	var ticks int64
	for i := first; i <= last && i < len(fields); i++ {
		if n, err := strconv.ParseInt(fields[i], 10, 64); err == nil {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// cpuTime is what all processes of a cgroup have used, by cgroup v2 or else by v1's cpuacct.
func (h host) cpuTime(group string) (time.Duration, bool) {
	if text, err := os.ReadFile(filepath.Join(h.cgroups, group, "cpu.stat")); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("usage_usec ")); ok {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			return number(line, time.Microsecond)
		}
	}
	text, err := os.ReadFile(filepath.Join(h.cgroups, "cpuacct", group, "cpuacct.usage"))
	if err != nil {
		return 0, false
	}
	return number(bytes.TrimSpace(text), time.Nanosecond)
}

func number(text []byte, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n) * unit, err == nil
}

// ownTime is what this program and its children that have ended have used.
func ownTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

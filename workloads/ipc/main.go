// Command ipc-bench measures the cost of messages between goroutines and between processes over Unix sockets.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"loadstone.dev/loadstone/workloads/ipc/ladder"
)

var errUsage = errors.New("usage: ipc-bench cases, ipc-bench cell CASE [--seconds 1.0], ipc-bench rungs, or ipc-bench ladder RUNG [--seconds 1.0]")

// warmUp is the untimed start of a case.
const warmUp = 100 * time.Millisecond

func main() {
	if err := command(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ipc-bench:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func command(stdout io.Writer, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "cases":
		return list(stdout)
	case len(args) >= 2 && args[0] == "cell":
		if strings.HasPrefix(args[1], "c-") {
			return execC(args)
		}
		b, size, err := find(args[1])
		if err != nil {
			return err
		}
		least, err := seconds(args[2:])
		if err != nil {
			return err
		}
		return measure(stdout, args[1], b, size, least)
	case len(args) == 1 && args[0] == "rungs":
		return listRungs(stdout)
	case len(args) >= 2 && args[0] == "ladder":
		return climb(stdout, args[1], args[2:])
	case len(args) > 0 && args[0] == "ladder-peer":
		return ladder.Peer(args[1:])
	case len(args) > 0 && args[0] == "peer":
		return peer(args[1:])
	}
	return errUsage
}

// seconds parses "--seconds N" or "--seconds=N"; the last one counts. Default: 1.
func seconds(args []string) (time.Duration, error) {
	flags := flag.NewFlagSet("ipc-bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	n := flags.Float64("seconds", 1, "")
	if err := flags.Parse(args); err != nil {
		return 0, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 || !(*n > 0 && *n <= 3600) {
		return 0, fmt.Errorf("%w: %q is not a number of seconds", errUsage, args)
	}
	return time.Duration(*n * float64(time.Second)), nil
}

type cell struct {
	Case        string  `json:"case"`
	Operations  uint64  `json:"operations"`
	WallSeconds float64 `json:"wallSeconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
	// Bytes and Allocations are this process's per operation.
	Bytes       float64 `json:"bytesPerOperation"`
	Allocations float64 `json:"allocationsPerOperation"`
}

func measure(stdout io.Writer, name string, b benchmark, size int, least time.Duration) error {
	idle := func() {}
	if _, err := b.do(&run{size: size, least: min(least, warmUp), begin: idle, end: idle}); err != nil {
		return fmt.Errorf("warming up %s: %w", name, err)
	}
	var begin, end time.Time
	var cpuBegin, cpuEnd time.Duration
	var memBegin, memEnd runtime.MemStats
	var clock error
	read := func(wall *time.Time, cpu *time.Duration) {
		var err error
		*wall = time.Now()
		*cpu, err = cpuTime()
		clock = errors.Join(clock, err)
	}
	r := &run{
		size: size, least: least,
		begin: func() { runtime.ReadMemStats(&memBegin); read(&begin, &cpuBegin) },
		end:   func() { read(&end, &cpuEnd); runtime.ReadMemStats(&memEnd) },
	}
	operations, err := b.do(r)
	if err = errors.Join(err, clock); err != nil {
		return fmt.Errorf("measuring %s: %w", name, err)
	}
	each := func(n uint64) float64 { return float64(n) / float64(operations) }
	return json.NewEncoder(stdout).Encode(cell{
		Case: name, Operations: operations, WallSeconds: end.Sub(begin).Seconds(), CPUSeconds: (cpuEnd - cpuBegin + r.otherCPUs).Seconds(),
		Bytes: each(memEnd.TotalAlloc - memBegin.TotalAlloc), Allocations: each(memEnd.Mallocs - memBegin.Mallocs),
	})
}

func listRungs(stdout io.Writer) error {
	for _, r := range ladder.Rungs() {
		if _, err := fmt.Fprintln(stdout, r.Name); err != nil {
			return fmt.Errorf("listing the rungs: %w", err)
		}
	}
	return nil
}

func climb(stdout io.Writer, name string, args []string) error {
	rung, ok := ladder.Find(name)
	if !ok {
		return fmt.Errorf("%w: there is no rung %q", errUsage, name)
	}
	least, err := seconds(args)
	if err != nil {
		return err
	}
	return ladder.Print(stdout, rung, least)
}

func list(stdout io.Writer) error {
	all := strings.Join(names(), "\n") + "\n"
	path, err := pathC()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		peers, err := exec.Command(path, "cases").Output()
		if err != nil {
			return fmt.Errorf("asking the C peer for its cases: %w", err)
		}
		all += string(peers)
	}
	_, err = io.WriteString(stdout, all)
	return err
}

// pathC returns the C peer's path, next to this program.
func pathC() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return filepath.Join(filepath.Dir(self), "ipc-c-bench"), nil
}

func execC(args []string) error {
	path, err := pathC()
	if err != nil {
		return err
	}
	return fmt.Errorf("becoming the C peer: %w", syscall.Exec(path, append([]string{path}, args...), os.Environ()))
}

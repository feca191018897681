package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
	"loadstone.dev/loadstone/workloads/ipc/ladder"
	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// TestMain lets the test binary be the other process of cases that have one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "peer" {
		if err := peer(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "ladder-peer" {
		if err := ladder.Peer(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// The race detector sleeps a second at each exit, to catch late races. Here there are none.
	if err := os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// counted is an untimed run of a number of operations.
func counted(size int, limit uint64) *run {
	return &run{size: size, limit: limit, begin: func() {}, end: func() {}}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestEveryCaseDoesWhatItCountsAndLeavesNothingOpen(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			b, size, err := find(name)
			if err != nil {
				t.Fatal(err)
			}
			if testing.Short() && size > smallest {
				t.Skip("the usual size is enough for the race detector")
			}
			if _, err := b.do(counted(size, 1)); err != nil { // The first use of pipes and processes leaves files open.
				t.Fatal(err)
			}
			before := openFiles(t)
			r := counted(size, 1000)
			began, ended := 0, 0
			r.begin, r.end = func() { began++ }, func() { ended++ }
			if n, err := b.do(r); err != nil || n != 1000 {
				t.Errorf("got %d operations of 1000, %v", n, err)
			}
			if began != 1 || ended != 1 {
				t.Errorf("the timer was started %d times and stopped %d times", began, ended)
			}
			if strings.Contains(name, "processes") && r.otherCPUs <= 0 {
				t.Error("the other process's CPU time is missing")
			}
			if after := openFiles(t); after != before {
				t.Errorf("%d descriptors were left open", after-before)
			}
		})
	}
}

func TestACellPrintsOneLineOfJSONAndLastsAsLongAsItWasTold(t *testing.T) {
	for _, args := range [][]string{{"cell", "go-baseline", "--seconds", "0.05"}, {"cell", "go-processes-100", "--seconds=0.05"}} {
		var out bytes.Buffer
		if err := command(&out, args); err != nil {
			t.Fatal(err)
		}
		var c cell
		d := json.NewDecoder(bytes.NewReader(out.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%q: %v", out.String(), err)
		}
		if c.Case != args[1] || c.Operations < look || c.WallSeconds < 0.05 || c.CPUSeconds <= 0 || c.CPUSeconds > 100*c.WallSeconds {
			t.Errorf("got %+v", c)
		}
	}
}

// As documented: a message allocates nothing, and a goroutine per message twice.
func TestACellTellsWhatAnOperationAllocates(t *testing.T) {
	tests := map[string]struct{ least, most cell }{
		"go-netpoll-baseline":  {most: cell{Bytes: 1, Allocations: 0.1}},
		"go-netpoll-channel-0": {most: cell{Bytes: 1, Allocations: 0.1}},
		"go-netpoll-channel-1": {most: cell{Bytes: 1, Allocations: 0.1}},
		"go-netpoll-channel-4": {most: cell{Bytes: 1, Allocations: 0.1}},
		"go-netpoll-pool":      {most: cell{Bytes: 1, Allocations: 0.1}},
		"go-netpoll-goroutine": {least: cell{Bytes: 90, Allocations: 1}, most: cell{Bytes: 180, Allocations: 2.1}},
		"go-empty-goroutine":   {least: cell{Bytes: 90, Allocations: 1}, most: cell{Bytes: 180, Allocations: 2.1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := command(&out, []string{"cell", name, "--seconds", "0.05"}); err != nil {
				t.Fatal(err)
			}
			var c cell
			if err := json.Unmarshal(out.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if c.Operations < 20_000 {
				t.Skipf("%d operations do not outweigh what the runtime allocates", c.Operations)
			}
			if c.Bytes < tc.least.Bytes || c.Bytes > tc.most.Bytes || c.Allocations < tc.least.Allocations || c.Allocations > tc.most.Allocations {
				t.Errorf("got %v B and %v allocations, want %v to %v and %v to %v", c.Bytes, c.Allocations, tc.least.Bytes, tc.most.Bytes, tc.least.Allocations, tc.most.Allocations)
			}
		})
	}
}

func TestTheLadderPrintsItsCasesByTheCommand(t *testing.T) {
	var out bytes.Buffer
	if err := command(&out, []string{"rungs"}); err != nil {
		t.Fatal(err)
	}
	rungs := strings.Fields(out.String())
	for _, want := range []string{"memory-futex", "memory-eventfd", "pipe", "unix-stream", "unix-seqpacket", "unix-datagram", "tcp"} {
		if !slices.Contains(rungs, want) {
			t.Errorf("%s is missing", want)
		}
	}
	out.Reset()
	if err := command(&out, []string{"ladder", "pipe", "--seconds", "3600", "--seconds=0.001"}); err != nil {
		t.Fatal(err)
	}
	read, err := cases.Read(record.JSONLines, out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, c := range read.Cases {
		if c.Failure != "" {
			t.Errorf("%s failed: %s", c.Name, c.Failure)
		}
	}
}

func TestNonsenseIsRefusedWithTheUsage(t *testing.T) {
	for _, args := range []string{
		"", "cell", "cases 1", "cell nothing", "cell go-baseline-6", "cell go-baseline-65537", "cell go-baseline-07", "cell go-baseline-",
		"cell go-baseline --seconds", "cell go-baseline --seconds 0", "cell go-baseline --seconds NaN", "cell go-baseline --second=1", "cell go-baseline --seconds 1 2", "cell go-baseline 1", "rungs 1", "ladder", "ladder nothing", "ladder pipe --seconds 0", "peer", "peer true x", "peer true 1",
	} {
		if err := command(&bytes.Buffer{}, strings.Fields(args)); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v, want the usage", args, err)
		}
	}
}

func TestCasesAreListedOnceEach(t *testing.T) {
	all := names()
	for _, want := range []string{"go-baseline", "go-goroutine", "go-channel-0", "go-channel-1", "go-channel-4", "go-pool", "go-select", "go-empty-goroutine", "go-baseline-4096"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != len(names()) {
		t.Error("a name is listed twice")
	}
}

func TestAMessageThatIsLateOrWrongEndsTheWaitAndNobodyWaitsToHandOnMore(t *testing.T) {
	tests := map[string]struct {
		from channel
		send [][]byte
		want string
	}{
		"nothing comes":   {from: channel{limit: time.Millisecond}, want: errLate.Error()},
		"a wrong message": {from: channel{limit: time.Minute}, send: [][]byte{{1}, {2}, {3}}, want: "message 0 is not what was sent"},
		"without a limit": {send: [][]byte{{1}, {2}, {3}}, want: "message 0 is not what was sent"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			messages, sent := make(chan []byte), make(chan struct{})
			go func() {
				defer close(sent)
				for _, m := range tc.send {
					messages <- m
				}
			}()
			if err := tc.from.take(messages, newChecker(smallest)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			select {
			case <-sent:
			case <-time.After(2 * time.Minute):
				t.Fatal("whoever hands messages on still waits")
			}
			close(messages)
		})
	}
}

func TestTheCheckerNotices(t *testing.T) {
	good := newMessage(20)
	tests := map[string]struct {
		number uint64
		change func(m []byte) []byte
	}{
		"a message that came twice":       {number: 1, change: func(m []byte) []byte { stamp(m, 0); return m }},
		"a message that is missing":       {number: 1, change: func(m []byte) []byte { stamp(m, 2); return m }},
		"a message that is too short":     {number: 1, change: func(m []byte) []byte { return m[:19] }},
		"a message that is too long":      {number: 1, change: func(m []byte) []byte { return append(m, 0) }},
		"a last byte that changed":        {number: 1, change: func(m []byte) []byte { m[19]++; return m }},
		"a byte that changed, each 256th": {number: look, change: func(m []byte) []byte { m[10]++; return m }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newChecker(len(good))
			for i := range tc.number {
				stamp(good, i)
				if err := c.check(good); err != nil {
					t.Fatal(err)
				}
			}
			stamp(good, tc.number)
			if err := c.check(tc.change(slices.Clone(good))); err == nil {
				t.Error("it went unnoticed")
			}
		})
	}
	if err := newChecker(20).all(1); err == nil {
		t.Error("that nothing came went unnoticed")
	}
}

func TestDescriptorsAndCredentialsAreHeldAgainstWhatWasSent(t *testing.T) {
	a, b, err := socket.Pair(socket.SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer b.Close()
	want, err := transfer{fds: true, cred: true}.beside(b)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = want.close() }()
	other, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	stranger := socket.Self()
	stranger.Uid++
	for name, m := range map[string]socket.Msg{
		"nothing": {}, "another file": {Fds: []int{int(other.Fd())}, Cred: socket.Self(), HasCred: true},
		"a stranger": {Cred: stranger, HasCred: true}, "a descriptor that is closed": {Fds: []int{1 << 20}},
	} {
		if err := want.check(m, true); err == nil {
			t.Errorf("%s went unnoticed", name)
		}
	}
}

func TestAPartThatFailsEndsTheOthers(t *testing.T) {
	a, b, err := socket.Pair(socket.SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	end := closer(a, b)
	failure := errors.New("failure")
	r := counted(1000, 1_000_000)
	done := make(chan error, 1)
	go func() {
		done <- r.together(func() { _ = end() },
			func() error { _, err := send(r, a, socket.Msg{}); return err },
			func() error { time.Sleep(20 * time.Millisecond); return failure })
	}()
	select {
	case err := <-done:
		if !errors.Is(err, failure) {
			t.Errorf("got %v, want the first failure", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the sender still waits for room")
	}
}

// children returns started processes that were not yet waited for.
func children() (pids []string, err error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, readErr := os.ReadFile(list)
		if !errors.Is(readErr, os.ErrNotExist) { // A thread may have ended.
			err = errors.Join(err, readErr)
		}
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids, err
}

// killChild kills this process's only child.
func killChild() error {
	pids, err := children()
	if err != nil || len(pids) != 1 {
		return errors.Join(fmt.Errorf("there are the processes %q, want one", pids), err)
	}
	pid, err := strconv.Atoi(pids[0])
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

func TestTheDeathOfTheOtherProcessEndsTheCase(t *testing.T) {
	for _, name := range []string{"go-processes", "go-roundtrip-processes"} {
		t.Run(name, func(t *testing.T) {
			b, size, err := find(name)
			if err != nil {
				t.Fatal(err)
			}
			before := openFiles(t)
			r := counted(size, 1<<62)
			r.begin = func() {
				if err := killChild(); err != nil {
					t.Error(err)
				}
			}
			done := make(chan error, 1)
			go func() {
				_, err := b.do(r)
				done <- err
			}()
			select {
			case err := <-done:
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
					t.Errorf("got %v, want that the other process was killed", err)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("the case still waits for the process that was killed")
			}
			if after := openFiles(t); after > before {
				t.Errorf("%d descriptors were left open", after-before)
			}
		})
	}
}

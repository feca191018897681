package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// inherited is a child process's socket descriptor.
const inherited = 3

// process is a case whose other end is this program in another process.
type process struct{ echo bool }

func (p process) do(r *run) (done uint64, err error) {
	here, there, err := socket.Pair(socket.SeqPacket)
	if err != nil {
		return 0, err
	}
	end := sync.OnceValue(here.Close)
	defer func() { err = errors.Join(err, end()) }()
	wait, err := p.start(there, r.size)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, end(), wait()) }()
	if _, err := receiveReport(here); err != nil {
		return 0, fmt.Errorf("waiting for the other process: %w", err)
	}
	var found report
	err = r.together(func() { _ = end() }, func() (err error) {
		if p.echo {
			done, err = ping(r, here)
		} else {
			done, err = send(r, here, socket.Msg{})
		}
		if err == nil {
			found, err = receiveReport(here)
		}
		return err
	})
	r.otherCPUs = found.cpu
	if err == nil && found.count != done {
		err = fmt.Errorf("%d messages were sent, and %d received", done, found.count)
	}
	return done, err
}

// start starts the other process, which alone has its end then, so its death ends the connection.
func (p process) start(end *socket.Socket, size int) (wait func() error, err error) {
	file, err := end.Detach()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command("/proc/self/exe", "peer", strconv.FormatBool(p.echo), strconv.Itoa(size))
	cmd.ExtraFiles = []*os.File{file} // It is descriptor 3 there.
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the other process: %w", err)
	}
	return cmd.Wait, nil
}

// peer is the other process: it reports readiness, receives until the end, and reports the result.
func peer(args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	answers, err := strconv.ParseBool(args[0])
	size, err2 := strconv.Atoi(args[1])
	if errors.Join(err, err2) != nil || size < smallest || size > largest {
		return errUsage
	}
	s := socket.New(inherited)
	if err := sendReport(s, report{}); err != nil {
		return err
	}
	begin, err := cpuTime()
	if err != nil {
		return err
	}
	check := newChecker(size)
	if answers {
		err = echo(s, check)
	} else {
		t, buffer := transfer{kind: socket.SeqPacket}, newBuffer(socket.SeqPacket, size)
		err = untilEnd(func() error { return t.next(s, buffer, check, nil) })
	}
	if err != nil {
		return err
	}
	end, err := cpuTime()
	if err != nil {
		return err
	}
	return errors.Join(sendReport(s, report{count: check.count, cpu: end - begin}), s.Close())
}

type report struct {
	count uint64
	cpu   time.Duration
}

const reportSize = 16

func sendReport(to endpoint, r report) error {
	b := binary.LittleEndian.AppendUint64(nil, r.count)
	return to.SendMsg(binary.LittleEndian.AppendUint64(b, uint64(r.cpu)), socket.Msg{})
}

func receiveReport(from endpoint) (report, error) {
	b := make([]byte, reportSize)
	n, _, err := from.RecvMsg(b)
	if err == nil && n != reportSize {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return report{}, fmt.Errorf("receiving the other process's report: %w", err)
	}
	return report{count: binary.LittleEndian.Uint64(b), cpu: time.Duration(binary.LittleEndian.Uint64(b[8:]))}, nil
}

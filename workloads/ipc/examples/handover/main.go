// Program handover passes a listener to a restarted copy of itself, with credentials, and asks what it listens on. Servers are replaced
// without downtime this way.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

const inherited = 3

func main() {
	run := give
	if len(os.Args) > 1 && os.Args[1] == "take" {
		run = take
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "handover:", err)
		os.Exit(1)
	}
}

func give() error {
	here, there, err := socket.Pair(socket.SeqPacket)
	if err != nil {
		return fmt.Errorf("making a pair: %w", err)
	}
	defer func() { _ = here.Close() }()
	end, err := there.Detach()
	if err != nil {
		return fmt.Errorf("detaching the other end: %w", err)
	}
	defer func() { _ = end.Close() }()
	successor := exec.Command(os.Args[0], "take")
	successor.ExtraFiles, successor.Stderr = []*os.File{end}, os.Stderr
	if err := successor.Start(); err != nil {
		return fmt.Errorf("starting the successor: %w", err)
	}
	_ = end.Close() // Only the successor has its end now: its death is noticed.
	if err := hand(here); err != nil {
		return err
	}
	if err := successor.Wait(); err != nil {
		return fmt.Errorf("the successor: %w", err)
	}
	return nil
}

// hand sends a listener with this process's credentials, and prints the answer.
func hand(to *socket.Socket) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer func() { _ = listener.Close() }()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return fmt.Errorf("taking the listener's descriptor: %w", err)
	}
	defer func() { _ = file.Close() }()
	// The receiver must have enabled credentials first; its message says so.
	answer := make([]byte, 128)
	if _, _, err := to.RecvMsg(answer); err != nil {
		return fmt.Errorf("waiting for the successor: %w", err)
	}
	message := socket.Msg{Fds: []int{int(file.Fd())}, Cred: socket.Self(), HasCred: true}
	if err := to.SendMsg([]byte("yours"), message); err != nil {
		return err
	}
	n, _, err := to.RecvMsg(answer)
	if err != nil {
		return fmt.Errorf("waiting for the answer: %w", err)
	}
	if want := listener.Addr().String(); string(answer[:n]) != want {
		return fmt.Errorf("the successor listens on %s, not on %s", answer[:n], want)
	}
	fmt.Println("the successor listens on the same address")
	return nil
}

// take receives a listener from its parent only, and prints its address.
func take() error {
	s := socket.New(inherited)
	defer func() { _ = s.Close() }()
	if err := s.PassCred(); err != nil {
		return fmt.Errorf("asking for credentials: %w", err)
	}
	if err := s.SendMsg([]byte("ready"), socket.Msg{}); err != nil {
		return err
	}
	buffer := make([]byte, 128)
	_, message, err := s.RecvMsg(buffer)
	if err != nil {
		return fmt.Errorf("waiting for the listener: %w", err)
	}
	if len(message.Fds) != 1 || !message.HasCred || int(message.Cred.Pid) != os.Getppid() {
		return fmt.Errorf("%d descriptors came, of process %d", len(message.Fds), message.Cred.Pid)
	}
	file := os.NewFile(uintptr(message.Fds[0]), "listener")
	defer func() { _ = file.Close() }()
	listener, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("listening on what was received: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return s.SendMsg([]byte(listener.Addr().String()), socket.Msg{})
}

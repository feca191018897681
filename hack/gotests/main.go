// Command gotests runs go test. It prints a line for each passed package, and the whole output of failed tests.
//
//	usage: gotests [-again FILE] -- ARGUMENT...      (the arguments of go test; with -v each test that passes gets a line, too)
//
// It appends a command to FILE for each failed test, which runs only that test.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	again := flag.String("again", "", "append the commands that run failed tests alone to `FILE`")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: gotests [-again FILE] -- ARGUMENT...")
		os.Exit(2)
	}
	if err := run(os.Stdout, *again, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gotests:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, again string, args []string) error {
	c := exec.CommandContext(context.Background(), "go", slices.Concat([]string{"test", "-json"}, args)...)
	c.Stderr = os.Stderr
	events, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	s := summary{out: out, verbose: slices.Contains(args, "-v"), packages: map[string]*pkg{}}
	readErr := s.read(bufio.NewReader(events))
	err = c.Wait() // All was read.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(s.failed) > 0 {
		err = fmt.Errorf("%d packages failed: %s", len(s.failed), strings.Join(s.failed, " "))
	}
	return errors.Join(readErr, err, appendLines(again, s.commands(slices.Contains(args, "-race"))))
}

func appendLines(file string, lines []string) error {
	if file == "" || len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

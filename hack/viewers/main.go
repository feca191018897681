// Program viewers keeps pages of loadstone ui open while a command runs and measures the cost:
//
//	viewers [-n 50] [-page /] [-report report.json] COMMAND [ARGUMENT...]
//
// It starts "bin/loadstone ui" for the current cluster and stops it after the command. It returns the command's exit code. Each figure is a line on
// standard error: name, value, unit, aim, "met" or "short", and a note.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/analysis"
)

const (
	pageDeadline, endDeadline = 20 * time.Second, 10 * time.Second
	events                    = "/events"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "viewers:", err)
		os.Exit(1)
	}
}

// run writes to files, because two other processes write there too.
func run(ctx context.Context, stdout, stderr *os.File, args []string) error {
	f := flag.NewFlagSet("viewers", flag.ContinueOnError)
	n := f.Int("n", 50, "how many have the page open")
	page := f.String("page", "/", "the path of the page")
	program := f.String("loadstone", "bin/loadstone", "the program that serves the pages")
	report := f.String("report", "", "the report.json of the A/A run that the command leads, which must find no difference")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() == 0 {
		return errors.New("name the command that runs meanwhile, such as: bin/loadstone run config/samples/aa.yaml --cluster")
	}
	site, err := serve(ctx, *program, stderr)
	if err != nil {
		return err
	}
	looking, leave := context.WithCancel(ctx)
	viewers := make([]viewer, *n)
	var all sync.WaitGroup
	began := time.Now()
	for i := range viewers {
		all.Go(func() { viewers[i].look(looking, site.address, *page) })
	}
	c := exec.CommandContext(ctx, f.Arg(0), f.Args()[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, stdout, stderr
	failed := c.Run()
	took := time.Since(began)
	leave()
	all.Wait()
	if err := site.end(); err != nil {
		return errors.Join(failed, err)
	}
	lines := cost(site.command.ProcessState, viewers, took)
	if *report != "" {
		lines = append(lines, undisturbed(*report, began)...)
	}
	for _, line := range lines {
		fmt.Fprintln(stderr, line.Line())
	}
	return failed
}

// undisturbed returns both ends of an A/A run's interval, which should include 1. The report must be newer than the start of the run.
func undisturbed(path string, began time.Time) []figures.Figure {
	low := figures.Figure{Name: "viewers-aa-low", Unit: "ratio", Aim: figures.AtMost(1)}
	high := figures.Figure{Name: "viewers-aa-high", Unit: "ratio", Aim: figures.AtLeast(1)}
	entry, err := headline(path, began)
	if err != nil {
		low.Missing, high.Missing = err.Error(), err.Error()
		return []figures.Figure{low, high}
	}
	note := fmt.Sprintf("%s of %s to %s is %.4g; n = %d blocks", entry.Metric, entry.Implementation, entry.Baseline, *entry.Ratio, entry.Blocks)
	low.Value, low.Note, high.Value, high.Note = *entry.Low, note, *entry.High, note
	return []figures.Figure{low, high}
}

func headline(path string, since time.Time) (analysis.HeadlineEntry, error) {
	about, err := os.Stat(path)
	if err != nil {
		return analysis.HeadlineEntry{}, fmt.Errorf("reading the report: %w", err)
	}
	if about.ModTime().Before(since) {
		return analysis.HeadlineEntry{}, fmt.Errorf("%s is of another run", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return analysis.HeadlineEntry{}, fmt.Errorf("reading the report: %w", err)
	}
	var r struct{ Headline analysis.Headline }
	if err := json.Unmarshal(text, &r); err != nil {
		return analysis.HeadlineEntry{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Headline.Entries) == 0 || r.Headline.Entries[0].Ratio == nil || r.Headline.Entries[0].Low == nil || r.Headline.Entries[0].High == nil {
		return analysis.HeadlineEntry{}, fmt.Errorf("%s compares nothing", path)
	}
	return r.Headline.Entries[0], nil
}

type site struct {
	command *exec.Cmd
	address string
}

func serve(ctx context.Context, program string, stderr *os.File) (*site, error) {
	s := &site{command: exec.CommandContext(ctx, program, "ui")}
	s.command.Stderr = stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s ui: %w", program, err)
	}
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s ui: %w", program, err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the address of %s ui: %w", program, err), s.command.Wait())
	}
	s.address, _, _ = strings.Cut(line, "/ shows")
	return s, nil
}

// end ends it as Ctrl-C does.
func (s *site) end() error {
	kill := time.AfterFunc(endDeadline, func() { _ = s.command.Process.Kill() }) // Wait says how it has ended.
	defer kill.Stop()
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("ending loadstone ui: %w", err)
	}
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("ending loadstone ui: %w", err)
	}
	return nil
}

// viewer keeps a page open and requests it again after each change event.
type viewer struct {
	took   []time.Duration
	failed []error
}

func (v *viewer) look(ctx context.Context, address, page string) {
	own := &http.Client{Transport: &http.Transport{}} // Each browser has its own connections.
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address+events, nil)
	if err != nil {
		v.failed = append(v.failed, err)
		return
	}
	stream, err := own.Do(q)
	if err != nil {
		v.failed = append(v.failed, err)
		return
	}
	defer stream.Body.Close()
	v.ask(ctx, own, address+page)
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if lines.Text() == "event: changed" {
			v.ask(ctx, own, address+page)
		}
	}
}

func (v *viewer) ask(ctx context.Context, own *http.Client, address string) {
	limited, cancel := context.WithTimeout(ctx, pageDeadline)
	defer cancel()
	began := time.Now()
	q, err := http.NewRequestWithContext(limited, http.MethodGet, address, nil)
	if err != nil {
		v.failed = append(v.failed, err)
		return
	}
	answer, err := own.Do(q)
	if err == nil {
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
	}
	switch {
	case ctx.Err() != nil: // It leaves.
	case err != nil:
		v.failed = append(v.failed, err)
	case answer.StatusCode != http.StatusOK:
		v.failed = append(v.failed, fmt.Errorf("the page is %s", answer.Status))
	default:
		v.took = append(v.took, time.Since(began))
	}
}

func cost(ended *os.ProcessState, viewers []viewer, took time.Duration) []figures.Figure {
	var pages []time.Duration
	var failed []error
	for _, v := range viewers {
		pages, failed = append(pages, v.took...), append(failed, v.failed...)
	}
	note := fmt.Sprintf("%d viewers for %.0f s", len(viewers), took.Seconds())
	cpu := figures.Of("viewers-cpu", (ended.UserTime()+ended.SystemTime()).Seconds()/took.Minutes(), "s/min", figures.Aim{}, note)
	memory := figures.Figure{Name: "viewers-memory", Unit: "MB", Missing: "the system does not say"}
	if u, ok := ended.SysUsage().(*syscall.Rusage); ok {
		memory = figures.Of("viewers-memory", float64(u.Maxrss)*1024/1e6, "MB", figures.Aim{}, "its largest; "+note)
	}
	slowest := figures.Figure{Name: "viewers-slowest-page", Unit: "s", Missing: "no page was answered"}
	if len(pages) > 0 {
		slowest = figures.Of("viewers-slowest-page", slices.Max(pages).Seconds(), "s", figures.AtMost(1), fmt.Sprintf("median %.4f s of %d pages", figures.Median(pages).Seconds(), len(pages)))
	}
	lost := figures.Of("viewers-pages-lost", float64(len(failed)), "", figures.AtMost(0), "")
	if len(failed) > 0 {
		lost.Note = "the first: " + failed[0].Error()
	}
	return []figures.Figure{cpu, memory, slowest, lost}
}

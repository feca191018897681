package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/runfile"
)

const vsHelp = `Compares commands or images on this machine, without a file. The first argument is the baseline.

Servers: write {port} where the port belongs. Each server gets a free port. If a command has a fixed port, or
the argument is an image, add --port. A server must answer GET / (or --path) with HTTP/1.1.

Any other commands: with --time, the wall time, CPU time and peak memory of the commands are compared. Each
process is one sample. A command must exit with code 0.

Commands are split at spaces and quotes, as in a shell, and run without a shell. NAME=COMMAND gives a name.
An argument is an image if it has a tag, as in server:1.5, or is an archive or an OCI layout, as in
./server.tar.

The load sends the next request after each answer, so its latencies are no response times. With
--response-times, a short test finds the throughputs first. A second load then sends requests at a fixed rate:
70 % of the lowest throughput, at most 10,000 requests/s.

The implementations run in seven blocks, in random order, each time as a new process. Disturbed blocks are
repeated. With --save, nothing is measured: the comparison is written as a BenchmarkRun file, to be changed
and measured with "loadstone run". See also "loadstone run --help".`

// Defaults of a comparison. They end in a verdict in about a minute.
const (
	vsBlocks       = 7
	vsSeconds      = 2
	vsLimitSeconds = 300
)

func vsCommand() *cobra.Command {
	v := runfile.Versus{LimitSeconds: vsLimitSeconds, Memory: quarterOfMemory(), FreePort: unusedPort}
	v.Name, v.Blocks, v.Seconds = "vs", vsBlocks, vsSeconds
	here := localRun{output: textOutput}
	var save string
	var timed, responseTimes bool
	c := &cobra.Command{
		Use:   "vs BASELINE OTHER...",
		Short: "Compare commands or images on this machine, without a file",
		Long:  vsHelp,
		Example: "  loadstone vs './server-1.4 --port={port}' './server-1.5 --port={port}'\n" +
			"  loadstone vs --port 8080 server:1.4 server:1.5\n" +
			"  loadstone vs --time 'md5sum bin/loadstone' 'sha256sum bin/loadstone'",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return badInput(fmt.Errorf("name at least two implementations: %s", c.UseLine()))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if save == "" {
				if err := refuseHere(c.OutOrStdout(), here.output); err != nil {
					return err
				}
			}
			if timed {
				v.Format = v1alpha1.FormatTime
			}
			if err := refuseResponseTimes(responseTimes, timed, save); err != nil {
				return err
			}
			file, text, err := versus(c, &v, "--time", args)
			if err == nil && responseTimes {
				file, err = withResponseTimes(c, &v, here.output)
			}
			if err != nil {
				return err
			}
			if save != "" {
				return writeNew(save, text)
			}
			return runAll(c, []string{"this comparison"}, here.output, func(ctx context.Context, out io.Writer, name string) (readyRun, error) {
				return here.prepareFile(ctx, out, name, localOptions{Folder: "."}, file)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&timed, "time", false, "compare the wall time, CPU time and peak memory of any commands")
	f.BoolVar(&responseTimes, "response-times", false, "also compare response times, at a rate that all servers sustain in a short test (needs vegeta)")
	bindVersus(&v, f)
	f.StringVar(&save, "save", "", "write the comparison to `FILE`, which must not exist, and measure nothing")
	f.StringVar(&here.out, "out", "", "write plan, raw output, manifests and report to `DIR` (default loadstone-results/vs-TIME)")
	f.BoolVar(&here.open, "open", false, "open the report in a browser")
	bindOutput(c, &here.output, textOutput, jsonOutput)
	return c
}

func bindVersus(v *runfile.Versus, f *pflag.FlagSet) {
	f.Int32Var(&v.Port, "port", 0, "`PORT` that every server listens on, instead of {port}")
	f.StringVar(&v.Path, "path", "/", "`PATH` of the requests")
	f.Int32SliceVar(&v.Connections, "connections", []int32{10}, "connection counts to test")
}

// versus returns the run of a comparison, and its text. An error is about the command line. The flag set the format of programs that are no
// servers.
func versus(c *cobra.Command, v *runfile.Versus, flag string, args []string) (*runfile.File, string, error) {
	v.Tool = firstTool()
	if v.Format != "" {
		for _, other := range []string{"port", "path", "connections"} {
			if c.Flags().Changed(other) {
				return nil, "", badInput(fmt.Errorf("--%s is for servers, and %s for other commands: remove one of them", other, flag))
			}
		}
	}
	if err := v.Add(args); err != nil {
		return nil, "", badInput(err)
	}
	return versusFile(c.Context(), v)
}

func versusFile(ctx context.Context, v *runfile.Versus) (*runfile.File, string, error) {
	text, err := v.Text()
	if err != nil {
		return nil, "", err
	}
	file, err := runfile.Parse(ctx, []byte(text))
	if err == nil {
		_, err = runfile.ValidateRun(file)
	}
	if wrong := (*runfile.Invalid)(nil); errors.As(err, &wrong) {
		return nil, "", badInput(errors.New(wrong.Problems[0].Message))
	}
	return file, text, err
}

// firstTool is a load generator that this machine has: wrk, or else another one that needs no fixed rate.
func firstTool() string {
	for _, name := range []string{"wrk", "ab", "k6"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return "wrk"
}

// quarterOfMemory is the default memory limit of implementations: a quarter of this machine's memory, rounded down to a power of two; empty if
// unknown. Less would end large programs, and change the heap of a JVM.
func quarterOfMemory() string {
	const gibi = 1 << 30
	text, err := os.ReadFile("/proc/meminfo")
	var kibi uint64
	if _, scanErr := fmt.Sscanf(string(text), "MemTotal: %d kB", &kibi); err != nil || scanErr != nil || kibi < 4 {
		return ""
	}
	limit := uint64(1) << (bits.Len64(kibi<<10/4) - 1)
	if limit < gibi {
		return fmt.Sprintf("%dMi", limit>>20)
	}
	return fmt.Sprintf("%dGi", limit/gibi)
}

func unusedPort() (int32, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return int32(port), l.Close()
}

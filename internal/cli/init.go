package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/runfile"
)

//go:embed init.yaml.tmpl
var draftText string

const initHelp = `Writes a BenchmarkRun with comments, ready to be run. Each argument names an implementation and the command that starts it, word by word and
without a shell; the first one is the baseline. On a cluster an implementation needs its image: --image NAME=IMAGE.`

// draft is what the file of a new run is made from.
type draft struct {
	Name, Tool, Path string
	Implementations  []draftImplementation
	Connections      []int32
	Seconds, Blocks  int32
	port             int32
	images           map[string]string
}

// draftImplementation is an implementation of a draft.
type draftImplementation struct {
	Name, Image string
	Command     []string
	Port        int32
}

// initCommand writes the file of a new run.
func initCommand() *cobra.Command {
	var d draft
	var out string
	c := &cobra.Command{
		Use:   "init [NAME=COMMAND]...",
		Short: "Write the file of a new BenchmarkRun, with comments",
		Long:  initHelp,
		Example: "  loadstone init 'old=./server-old --port=8080' 'new=./server-new --port=8080' --out run.yaml\n" +
			"  loadstone init --image old=registry.example/server:1 --image new=registry.example/server:2 --port 80 > run.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			text, err := d.text(c, args)
			if err != nil {
				return err
			}
			if out != "" {
				return writeNew(out, text)
			}
			_, err = io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	d.bind(c.Flags())
	c.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not exist; standard output if empty")
	return c
}

func (d *draft) bind(f *pflag.FlagSet) {
	f.StringVar(&d.Name, "name", "quick", "the `NAME` of the run")
	f.StringToStringVar(&d.images, "image", nil, "the image of an implementation, as `NAME=IMAGE`; may be given for each")
	f.Int32Var(&d.port, "port", 8080, "the `PORT` on which every server listens")
	f.StringVar(&d.Tool, "tool", "wrk", "the load generator: wrk, ab or k6")
	f.StringVar(&d.Path, "path", "/", "the `PATH` of the requests")
	f.Int32SliceVar(&d.Connections, "connections", []int32{10, 100}, "the levels, by their numbers of open connections")
	f.Int32Var(&d.Seconds, "seconds", 5, "how long each cell is measured")
	f.Int32Var(&d.Blocks, "blocks", plan.DefaultBlocks, "how often every implementation is measured: a verdict needs 7")
}

// text is the file of a draft. One that no machine and no cluster would take is an error of the flags.
func (d *draft) text(c *cobra.Command, args []string) (string, error) {
	if err := d.implementations(args); err != nil {
		return "", err
	}
	t, err := template.New("init").Funcs(template.FuncMap{"scalar": scalar, "list": flowList}).Parse(draftText)
	if err != nil {
		return "", fmt.Errorf("reading the draft of a run: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return "", fmt.Errorf("writing the draft of a run: %w", err)
	}
	file, err := runfile.Parse(c.Context(), b.Bytes())
	if err == nil {
		_, err = planFile(file, checked{})
	}
	if wrong := (*runfile.Invalid)(nil); errors.As(err, &wrong) {
		return "", badInput(errors.New(wrong.Problems[0].Message))
	}
	return b.String(), err
}

// implementations reads those of the arguments and of the images; examples if there are none.
func (d *draft) implementations(args []string) error {
	if len(args) == 0 && len(d.images) == 0 {
		args = []string{"old=./server-old --port=" + strconv.Itoa(int(d.port)), "new=./server-new --port=" + strconv.Itoa(int(d.port))}
	}
	for _, arg := range args {
		name, command, found := strings.Cut(arg, "=")
		if !found || name == "" || len(strings.Fields(command)) == 0 {
			return badInput(fmt.Errorf("%q is no implementation: write NAME=COMMAND, such as 'new=./server --port=8080'", arg))
		}
		d.Implementations = append(d.Implementations, draftImplementation{Name: name, Command: strings.Fields(command), Image: d.images[name], Port: d.port})
	}
	var others []string
	for name := range d.images {
		if !slices.ContainsFunc(d.Implementations, func(i draftImplementation) bool { return i.Name == name }) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		d.Implementations = append(d.Implementations, draftImplementation{Name: name, Image: d.images[name], Port: d.port})
	}
	return nil
}

// plainScalar are the texts that YAML reads as they are.
var plainScalar = regexp.MustCompile(`^[./A-Za-z][-._/:A-Za-z0-9]*[A-Za-z0-9/]$|^[a-z/]$`)

// scalar is a text as YAML reads it.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "null"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// flowList is a list of texts as YAML reads it.
func flowList(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, scalar(text))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// writeNew writes a file that does not exist.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return badInput(fmt.Errorf("%s exists already: name another file with --out", path))
	}
	if err != nil {
		return badInput(fmt.Errorf("writing the file of the run: %w", err))
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the file of the run: %w", err)
	}
	return nil
}

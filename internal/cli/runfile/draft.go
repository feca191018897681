package runfile

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed run.yaml.tmpl
var draftSource string

// Draft is what the file of a new run is made from.
type Draft struct {
	Name, Tool, Path string
	Implementations  []Implementation
	Connections      []int32
	Seconds, Blocks  int32
	// Port is every implementation's; Images are by implementation name.
	Port   int32
	Images map[string]string
}

// Implementation is an implementation of a draft.
type Implementation struct {
	Name, Image string
	Command     []string
	Port        int32
}

// Text is the file of a draft.
func (d *Draft) Text() (string, error) { return filled(draftSource, d) }

func filled(source string, values any) (string, error) {
	t, err := template.New("run").Funcs(template.FuncMap{"scalar": scalar, "list": flowList}).Parse(source)
	if err != nil {
		return "", fmt.Errorf("reading the run template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return "", fmt.Errorf("filling in the run template: %w", err)
	}
	return b.String(), nil
}

// Add reads implementations from arguments (NAME=COMMAND) and images; examples if there are none.
func (d *Draft) Add(args []string) error {
	if len(args) == 0 && len(d.Images) == 0 {
		args = []string{"old=./server-old --port=" + strconv.Itoa(int(d.Port)), "new=./server-new --port=" + strconv.Itoa(int(d.Port))}
	}
	for _, arg := range args {
		name, command, found := strings.Cut(arg, "=")
		if !found || name == "" || len(strings.Fields(command)) == 0 {
			return fmt.Errorf("%q is not an implementation: write NAME=COMMAND, such as 'new=./server --port=8080'", arg)
		}
		d.Implementations = append(d.Implementations, Implementation{Name: name, Command: strings.Fields(command), Image: d.Images[name], Port: d.Port})
	}
	var others []string
	for name := range d.Images {
		if !slices.ContainsFunc(d.Implementations, func(i Implementation) bool { return i.Name == name }) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		d.Implementations = append(d.Implementations, Implementation{Name: name, Image: d.Images[name], Port: d.Port})
	}
	return nil
}

// plainScalar are the texts that YAML reads as they are.
var plainScalar = regexp.MustCompile(`^[./A-Za-z][-._/:A-Za-z0-9]*[A-Za-z0-9/]$|^[a-z/]$`)

func scalar(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

func flowList(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, scalar(text))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// imageAnswer begins an answer that names an image and no command.
const imageAnswer = "image "

// Ask asks for two implementations and their port, one line each. Without an answer to one of the first two questions there are none.
func (d *Draft) Ask(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	ask := func(question string, args ...any) (string, error) {
		if _, err := fmt.Fprintf(out, question, args...); err != nil {
			return "", fmt.Errorf("asking for the implementations: %w", err)
		}
		lines.Scan() // The end of the input is an empty answer.
		return strings.TrimSpace(lines.Text()), lines.Err()
	}
	server, err := ask("Baseline server: its command, or %sREFERENCE (empty for an example): ", imageAnswer)
	if err != nil || server == "" {
		return err
	}
	other, err := ask("Server to compare with it: command or image, as above: ")
	if err != nil || other == "" {
		return err
	}
	port, err := ask("Port that both listen on (empty for %d): ", d.Port)
	if err != nil {
		return err
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is not a valid port: use a number from 1 to 65535", port)
		}
		d.Port = int32(n)
	}
	d.Implementations = []Implementation{answered("baseline", server, d.Port), answered("contender", other, d.Port)}
	return nil
}

func answered(name, answer string, port int32) Implementation {
	if image, found := strings.CutPrefix(answer, imageAnswer); found {
		return Implementation{Name: name, Image: strings.TrimSpace(image), Port: port}
	}
	return Implementation{Name: name, Command: strings.Fields(answer), Port: port}
}

package runfile

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-shellwords"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
)

//go:embed vs.yaml.tmpl
var versusSource string

// Versus is a comparison that a command line describes.
type Versus struct {
	Draft
	// Format is for programs that measure themselves, or Time; empty for servers under load.
	Format v1alpha1.CaseFormat
	// MaxRatio bounds the ratio to the baseline, of CPU time per request or each case's time, such as "1.05"; empty for none.
	MaxRatio string
	// LimitSeconds is the maximum duration of a program.
	LimitSeconds int32
	// Memory is each implementation's memory limit, such as "4Gi"; empty for the default.
	Memory string
	// Rate, in requests per second, is of a load for response times; 0 for none.
	Rate     int32
	FreePort func() (int32, error)
}

// PortPlaceholder stands for the port in a server's command.
const PortPlaceholder = "{port}"

var named = regexp.MustCompile(`^([a-z][-a-z0-9]*)=(.+)$`)

// Add reads implementations: commands, or servers' images. An error is a sentence about an argument.
func (v *Versus) Add(args []string) error {
	for _, arg := range args {
		i, err := v.read(arg)
		if err != nil {
			return err
		}
		v.Implementations = append(v.Implementations, i)
	}
	v.name()
	return nil
}

// Last is the last connection count.
func (v *Versus) Last() int32 { return v.Connections[len(v.Connections)-1] }

// Text returns the run file.
func (v *Versus) Text() (string, error) { return filled(versusSource, v) }

func (v *Versus) read(arg string) (Implementation, error) {
	var i Implementation
	if m := named.FindStringSubmatch(arg); m != nil {
		i.Name, arg = m[1], m[2]
	}
	if strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://") {
		return i, fmt.Errorf("%q is an address, and Loadstone measures only servers that it starts: give the command that starts the server, or its image", arg)
	}
	command, err := Words(arg)
	switch {
	case err != nil:
		return i, err
	case v.Format == "" && len(command) == 1 && isImage(command[0]):
		i.Image, i.Port = command[0], v.Port
		if v.Port == 0 {
			return i, fmt.Errorf("the image %s needs the port that its server listens on: add --port PORT", i.Image)
		}
		return i, nil
	}
	return i, v.give(&i, command)
}

// AddCommand adds an implementation that a command starts.
func (v *Versus) AddCommand(name string, command []string) error {
	i := Implementation{Name: name}
	err := v.give(&i, command)
	v.Implementations = append(v.Implementations, i)
	v.name()
	return err
}

// give sets an implementation's command. A server also gets its port, with a free one for {port}.
func (v *Versus) give(i *Implementation, command []string) error {
	i.Command = slices.Clone(command)
	if v.Format != "" {
		return nil
	}
	i.Port = v.Port
	if !slices.ContainsFunc(command, func(word string) bool { return strings.Contains(word, PortPlaceholder) }) {
		if i.Port == 0 {
			return fmt.Errorf("%q does not say its port: write {port} where the port belongs, as in './server --port {port}', or add --port PORT", strings.Join(command, " "))
		}
		return nil
	}
	if i.Port == 0 {
		var err error
		if i.Port, err = v.FreePort(); err != nil {
			return fmt.Errorf("finding a free port: %w", err)
		}
	}
	for k := range i.Command {
		i.Command[k] = strings.ReplaceAll(i.Command[k], PortPlaceholder, strconv.Itoa(int(i.Port)))
	}
	return nil
}

// isImage reports whether a word names an image: a local archive or folder, or a reference with a tag or a digest. A program with this name
// wins.
func isImage(word string) bool {
	if _, err := exec.LookPath(word); err == nil {
		return false
	}
	if info, err := os.Stat(word); err == nil {
		return plan.IsPath(word) && (info.IsDir() || strings.HasSuffix(word, ".tar"))
	}
	return !plan.IsPath(word) && strings.ContainsAny(word, ":@")
}

const maxName = 20

// name names unnamed implementations after their program or image, numbered if equal.
func (v *Versus) name() {
	count := map[string]int{}
	for k := range v.Implementations {
		i := &v.Implementations[k]
		if i.Name == "" {
			i.Name = derived(*i)
		}
		count[i.Name]++
	}
	seen := map[string]int{}
	for k := range v.Implementations {
		i := &v.Implementations[k]
		if count[i.Name] > 1 {
			seen[i.Name]++
			number := "-" + strconv.Itoa(seen[i.Name])
			i.Name = strings.TrimRight(i.Name[:min(len(i.Name), maxName-len(number))], "-") + number
		}
	}
}

// derived is a valid name from a program, or an image with its tag.
func derived(i Implementation) string {
	from := i.Image
	if from == "" {
		from = i.Command[0]
	}
	from, _, _ = strings.Cut(filepath.Base(from), "@")
	return Label(strings.TrimSuffix(from, ".tar"))
}

// Label turns a text into a name of an implementation: lower-case letters, digits and dashes.
func Label(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLower(r) || unicode.IsDigit(r)):
			return r
		case r < unicode.MaxASCII && unicode.IsUpper(r):
			return unicode.ToLower(r)
		}
		return '-'
	}, text)
	name = strings.Trim(name, "-")
	if name == "" || !unicode.IsLower(rune(name[0])) {
		name = "i" + name
	}
	return strings.TrimRight(name[:min(len(name), maxName)], "-")
}

// Words splits a command at spaces, except within quotes. No shell runs, and nothing is expanded.
func Words(command string) ([]string, error) {
	p := shellwords.NewParser()
	found, err := p.Parse(command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q has a quote that is not closed, or a parenthesis outside quotes: commands run without a shell", command)
	case p.Position >= 0:
		return nil, fmt.Errorf("%q has shell syntax (%c), and commands run without a shell: put it in a script, or write sh -c '...'", command, []rune(command)[p.Position])
	case len(found) == 0:
		return nil, fmt.Errorf("%q is empty: write a command, such as './server --port {port}'", command)
	}
	return found, nil
}

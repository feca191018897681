package runfile

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// imageAnswer begins an answer that names an image and no command.
const imageAnswer = "image "

// Ask asks for two implementations and for their port, a line each. Whoever answers nothing to one of the first two questions gets neither.
func (d *Draft) Ask(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	ask := func(question string, args ...any) (string, error) {
		if _, err := fmt.Fprintf(out, question, args...); err != nil {
			return "", fmt.Errorf("asking for what the run compares: %w", err)
		}
		lines.Scan() // The end of the input is an empty answer.
		return strings.TrimSpace(lines.Text()), lines.Err()
	}
	server, err := ask("The command that starts the server to compare with, or %sREFERENCE (empty for an example): ", imageAnswer)
	if err != nil || server == "" {
		return err
	}
	other, err := ask("The same of the server to compare: ")
	if err != nil || other == "" {
		return err
	}
	port, err := ask("The port on which each listens (empty for %d): ", d.Port)
	if err != nil {
		return err
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is no port: answer with a number from 1 to 65535", port)
		}
		d.Port = int32(n)
	}
	d.Implementations = []Implementation{answered("baseline", server, d.Port), answered("contender", other, d.Port)}
	return nil
}

// answered is the implementation that an answer names.
func answered(name, answer string, port int32) Implementation {
	if image, found := strings.CutPrefix(answer, imageAnswer); found {
		return Implementation{Name: name, Image: strings.TrimSpace(image), Port: port}
	}
	return Implementation{Name: name, Command: strings.Fields(answer), Port: port}
}

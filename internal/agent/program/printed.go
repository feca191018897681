package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// errReplaced: the program removed or replaced its standard output file.
var errReplaced = errors.New("it removed or replaced the file of its standard output")

// output returns the program's output, and a sentence about truncation if any.
func (c *Collector) output() (text []byte, cut string, err error) {
	text, all, err := printed(c.config.Exchange, launch.OutputFile)
	switch {
	case errors.Is(err, errReplaced):
		return nil, "", &protocol.ProgramFault{Fault: protocol.FaultOutput, Message: err.Error()}
	case err != nil:
		return nil, "", fmt.Errorf("reading the program's output: %w", err)
	case all > maxOutput:
		cut = fmt.Sprintf("its output has %d bytes, and only the first %d are read: print fewer cases, with one line per value", all, maxOutput)
	}
	return text, cut, nil
}

func printed(x launch.Exchange, file string) (text []byte, size int64, err error) {
	f, err := x.Open(file)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, launch.ErrReplaced):
		return nil, 0, errReplaced
	case err != nil:
		return nil, 0, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written to it.
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err = io.ReadAll(io.LimitReader(f, maxOutput))
	return text, info.Size(), err
}

// keepFailed keeps a failed program's output and returns the file names. Truncation or a failed copy is added to the failure's message.
func (c *Collector) keepFailed(failure error) []string {
	var fault *protocol.ProgramFault
	if !errors.As(failure, &fault) {
		return nil
	}
	var names []string
	for _, of := range []struct{ from, name string }{{launch.OutputFile, programOutput}, {launch.ErrorsFile, programErrors}} {
		text, all, err := printed(c.config.Exchange, of.from)
		if errors.Is(err, errReplaced) || err == nil && len(text) == 0 {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(c.config.Dir, of.name), text, 0o600)
		}
		if err != nil {
			fault.Message += fmt.Sprintf("; %s could not be kept: %s", of.name, err)
			continue
		}
		if all > maxOutput {
			fault.Message += fmt.Sprintf("; only the first %d of the %d bytes of %s are kept", maxOutput, all, of.name)
		}
		names = append(names, of.name)
	}
	return names
}

package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// locate returns on which line of a text JSON cannot be decoded, and why, with the way out.
func locate(text []byte, err error) (int, error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(len(text))
	switch {
	case errors.As(err, &kind):
		return lineAt(text, kind.Offset), fmt.Errorf("%s holds a %s that is no %s: print one", words(kind.Field), words(kind.Value), kind.Type)
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return 1, fmt.Errorf("%s: see the documentation of the format", words(err.Error()))
	}
	line := lineAt(text, offset)
	here := bytes.TrimSpace(bytes.Split(text, []byte("\n"))[line-1])
	switch {
	case noNumber.Match(here):
		return line, fmt.Errorf("%q holds what is no number: print only what is finite", words(string(here)))
	case offset >= int64(len(text)):
		return line, errMidJSON
	}
	return line, fmt.Errorf("%q is no JSON (%w): print nothing else to standard output, and notes to standard error", words(string(here)), err)
}

// errMidJSON is why the end of an output cannot be read whose program was ended, or stopped printing.
var errMidJSON = errors.New("the output ends in the middle of JSON: let the program end by itself")

// noNumber is one of the values that C and its heirs print for what is no finite number.
var noNumber = regexp.MustCompile(`(?i):\s*[-+]?(nan|inf|infinity)\s*([,}]|$)`)

// lineAt is the number of the line that holds an offset, from 1.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset-1, 0), int64(len(text)))], []byte("\n"))
}

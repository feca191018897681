package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type finding struct {
	kind, file    string
	line          int
	rule, message string
}

var errNoVale = errors.New("usage: style VALE [ARGUMENT...]")

func vale(o options, dir string) ([]finding, error) {
	if len(o.vale) == 0 {
		return nil, errNoVale
	}
	settings, err := filepath.Abs(filepath.Join(o.root, here, "vale.ini"))
	if err != nil {
		return nil, err
	}
	command := exec.Command(o.vale[0], append(o.vale[1:len(o.vale):len(o.vale)], "--config", settings, "--no-exit", "--output=JSON", dir)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=1") // For its parsers, which make test would compile without.
	command.Dir = o.root
	var trouble bytes.Buffer
	command.Stderr = &trouble
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", strings.Join(command.Args, " "), err, trouble.String(), printed)
	}
	return parse(printed, dir)
}

// parse reads Vale's answer. The texts are in KIND/FILE.md.
func parse(printed []byte, dir string) ([]finding, error) {
	var answer map[string][]struct {
		Check, Message string
		Line           int
	}
	if err := json.Unmarshal(printed, &answer); err != nil {
		return nil, fmt.Errorf("reading what Vale printed: %w: %s", err, printed)
	}
	var found []finding
	for path, alerts := range answer {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		kind, file, _ := strings.Cut(strings.TrimSuffix(name, ".md"), "/")
		for _, a := range alerts {
			found = append(found, finding{kind, file, a.Line, strings.TrimPrefix(a.Check, "Loadstone."), a.Message})
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line, strings.Compare(a.rule, b.rule), strings.Compare(a.message, b.message))
	})
	return found, nil
}

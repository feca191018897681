package protocol

import (
	"fmt"
	"regexp"
)

// maxFiles bounds how many files an agent may hold.
const maxFiles = 2000

// fileName is what the files of agents are called: names in their folder, one folder deep at most.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}(/[A-Za-z0-9][A-Za-z0-9._-]{0,199})?$`)

// sha256Hex is a digest as agents write it.
var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check reports what no agent of ours would say. Files become keys of the store, and whoever answers at an agent's address chooses their names.
func (s State) Check() error {
	if n := len(s.Files); n > maxFiles {
		return fmt.Errorf("it holds %d files, and no agent holds more than %d", n, maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range s.Files {
		switch {
		case !fileName.MatchString(f.Name):
			return fmt.Errorf("it calls a file %.100q, as no agent would", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("it names the file %s twice", f.Name)
		case f.Bytes < 0 || !sha256Hex.MatchString(f.SHA256):
			return fmt.Errorf("it describes the file %s by %d bytes and the digest %.100q", f.Name, f.Bytes, f.SHA256)
		}
		seen[f.Name] = true
	}
	return nil
}

// Is reports whether the state is that of the member whom a command would be for.
func (s State) Is(o Command) bool {
	return s.Trial == o.Trial && s.Attempt == o.Attempt && s.Member == o.Member
}

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// keep writes a worker's record beside its other files and describes them all.
func keep(dir string, result any, names []string) ([]protocol.File, error) {
	if err := writeJSON(filepath.Join(dir, record.ResultFile), result); err != nil {
		return nil, err
	}
	return describe(dir, append(names, record.ResultFile))
}

// writeJSON writes a value as a file of its own.
func writeJSON(path string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}

// describe syncs files to disk and returns their sizes and digests.
func describe(dir string, names []string) ([]protocol.File, error) {
	files := make([]protocol.File, 0, len(names))
	for _, name := range names {
		f, err := describeOne(dir, name)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func describeOne(dir, name string) (file protocol.File, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil {
		return file, err
	}
	digest := sha256.New()
	size, err := io.Copy(digest, f)
	if err != nil {
		return file, err
	}
	return protocol.File{Name: name, Bytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
}

package binary

import (
	"fmt"
	"os"

	"loadstone.dev/loadstone/internal/record"
)

// Open reads an executable from a path, and looks for some symbols.
func Open(path string, symbols ...string) (record.Binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return record.Binary{}, fmt.Errorf("opening the executable: %w", err)
	}
	defer func() { _ = f.Close() }() // Nothing is written.
	info, err := f.Stat()
	if err != nil {
		return record.Binary{}, fmt.Errorf("reading the executable's size: %w", err)
	}
	if !info.Mode().IsRegular() {
		return record.Binary{}, fmt.Errorf("reading the executable: %s is not a file", path)
	}
	return Read(f, info.Size(), symbols...)
}

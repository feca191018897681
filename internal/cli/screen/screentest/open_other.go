//go:build !linux

package screentest

import (
	"os"
	"testing"
)

// Open skips the test.
func Open(t *testing.T, _ uint16) (terminal *os.File, page *Page, done func()) {
	t.Helper()
	t.Skip("terminals for tests need Linux")
	return nil, nil, nil
}

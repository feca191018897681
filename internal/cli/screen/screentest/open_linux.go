package screentest

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Open opens a terminal of a width. Text appears on the page after done, which closes the terminal.
func Open(t *testing.T, width uint16) (terminal *os.File, page *Page, done func()) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine gives no terminal: %v", err)
	}
	number, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatalf("unlocking a terminal: %v", err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: width}); err != nil {
		t.Fatal(err)
	}
	page = &Page{}
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		_, _ = io.Copy(page, near) // It ends with an error when the terminal is closed.
	}()
	done = sync.OnceFunc(func() {
		_ = terminal.Close() // The text is there already.
		<-drawn
		_ = near.Close() // There are no more writes.
	})
	t.Cleanup(done)
	return terminal, page, done
}

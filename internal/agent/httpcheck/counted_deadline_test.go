package httpcheck

import (
	"bufio"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

func TestWhatWasNotSentIsNotAmongTheRequests(t *testing.T) {
	got, err := Counted(t.Context(), Server{Address: speak(t, says(helloAnswer))}, hello("helloworld"), 100, 4, time.Now().Add(-time.Second))
	if err != nil || got.Requests != 0 || got.Failed != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAwaitTellsWhatIsWrongAndNotThatItsTimeIsOver(t *testing.T) {
	for range 8 {
		var asked atomic.Int64
		target := speak(t, func(c net.Conn) {
			for in := bufio.NewReader(c); readRequest(in); asked.Add(1) {
				_, _ = io.WriteString(c, "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n")
			}
		})
		// A second request means that one answer was read in time.
		err := again(300*time.Millisecond, func(error) bool { return asked.Load() > 1 }, func(deadline time.Time) error {
			asked.Store(0)
			_, err := Await(t.Context(), Server{Address: target}, hello("helloworld"), deadline)
			return err
		})
		if err == nil || err.Error() != "GET / answered 404 instead of 200" {
			t.Errorf("%v", err)
		}
	}
}

package httpcheck

import (
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
		_, err := Await(t.Context(), Server{Address: speak(t, says("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n"))}, hello("helloworld"), time.Now().Add(300*time.Millisecond))
		if err == nil || err.Error() != "GET / answered 404 instead of 200" {
			t.Errorf("%v", err)
		}
	}
}

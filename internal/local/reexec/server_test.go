package reexec

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/testbed"
)

const serverPatience = 2 * time.Minute

func TestTheServerOfACalibrationAnswersUntilItIsEnded(t *testing.T) {
	address, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{ServerCommand, "--port=" + port}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := Help(ctx, args, strings.NewReader(""), io.Discard, io.Discard)
		ended <- err
	}()
	url := "http://127.0.0.1:" + port + "/"
	for deadline := time.Now().Add(serverPatience); ; time.Sleep(time.Millisecond) {
		answer, err := http.Get(url)
		if err == nil {
			text, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close() // It was read.
			if err != nil || string(text) != "helloworld" || answer.StatusCode != http.StatusOK || answer.ContentLength != int64(len(text)) {
				t.Errorf("it answers %d, %q, %v", answer.StatusCode, text, err)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not answer: %v", err)
		}
	}
	if _, err := Help(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second one on its port ends with %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

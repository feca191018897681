package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"
)

// servePages serves a page and announces a change every tenth of a second. Each request adds a byte to the file $ASKED.
func servePages() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	m := http.NewServeMux()
	m.HandleFunc(events, func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil && ctx.Err() == nil {
			fmt.Fprint(w, "event: changed\ndata: changed\n\n")
			_ = http.NewResponseController(w).Flush() // A viewer may have left.
			time.Sleep(100 * time.Millisecond)
		}
	})
	m.HandleFunc("/", func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(os.Getenv("ASKED"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		_, err = f.WriteString(".")
		if err := errors.Join(err, f.Close()); err != nil {
			panic(err)
		}
	})
	fmt.Printf("http://%s/ shows Loadstone at nowhere until Ctrl-C\n", l.Addr())
	go func() { _ = http.Serve(l, m) }() // It ends with the process.
	<-ctx.Done()
}

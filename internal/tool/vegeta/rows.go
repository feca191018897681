package vegeta

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

type row struct {
	// Seq is the number from 0, in starting order.
	Seq       uint64
	Timestamp time.Time
	Latency   time.Duration
	// Code is the status; 0 if no answer was read completely.
	Code uint16
	// Error says why there is no answer, or repeats a status from 400.
	Error string
	Body  []byte
	// Headers are most of a record and released after reading: head is their size on the wire with the status line, and length the body's
	// declared length, if any, which may not be a number.
	Headers map[string][]string
	head    int64
	length  int64
	says    bool
	unsaid  error
}

func (r row) answered() bool { return r.Code != 0 }

func readRows(text []byte) ([]row, error) {
	var list []row
	var most uint64
	for d := gob.NewDecoder(bytes.NewReader(text)); ; {
		var r row
		err := d.Decode(&r)
		switch {
		case errors.Is(err, io.EOF):
			if len(list) == 0 || uint64(len(list)) != most+1 {
				return nil, fmt.Errorf("reading vegeta's records: there are %d, and the last has the number %d", len(list), most)
			}
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("reading vegeta's record %d: %w", len(list), err)
		case r.Latency < 0 || r.Latency.Microseconds() > histogram.HighestMicros || r.Seq > maxRequests*2:
			return nil, fmt.Errorf("reading vegeta's record %d: number %d with a latency of %s is none", len(list), r.Seq, r.Latency)
		}
		most = max(most, r.Seq)
		r.readHeaders()
		list = append(list, r)
	}
}

const (
	// statusLine is the size of the first line for status 200. The record lacks the reason phrase of others.
	statusLine = len("HTTP/1.1 200 OK\r\n")
	// headerRest is a header's size on the wire without name and value; headEnd ends the head.
	headerRest, headEnd = len(": \r\n"), len("\r\n")
)

func (r *row) readHeaders() {
	r.head = int64(statusLine + headEnd)
	for name, values := range r.Headers {
		for _, v := range values {
			r.head += int64(len(name) + len(v) + headerRest)
		}
	}
	if values := r.Headers["Content-Length"]; len(values) == 1 {
		r.says = true
		r.length, r.unsaid = tool.Count(values[0])
	}
	r.Headers = nil
}

// bytes returns an answer's size on the wire, from its headers. It is unknown without a declared length, unless the body was kept whole.
func (r row) bytes(kept bool) (n int64, known bool) {
	if r.says {
		return r.head + r.length, r.unsaid == nil
	}
	const noContent, notModified = 204, 304
	return r.head + int64(len(r.Body)), kept || r.Code == noContent || r.Code == notModified
}

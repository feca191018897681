package main

import "bytes"

const headMax = 8192

const (
	answerHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
	body       = "helloworld"
	refusal    = "Content-Length: 0\r\nConnection: close\r\n\r\n"
)

// Answers to GET. HEAD gets the part before the body. A refusal ends its connection.
var (
	answer      = []byte(answerHead + "\r\n" + body)
	answerKeep  = []byte(answerHead + "Connection: keep-alive\r\n\r\n" + body)
	answerClose = []byte(answerHead + "Connection: close\r\n\r\n" + body)
	badRequest  = []byte("HTTP/1.1 400 Bad Request\r\n" + refusal)
	badMethod   = []byte("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n" + refusal)
	tooLate     = []byte("HTTP/1.1 408 Request Timeout\r\n" + refusal)
	badBody     = []byte("HTTP/1.1 413 Content Too Large\r\n" + refusal)
	badHead     = []byte("HTTP/1.1 431 Request Header Fields Too Large\r\n" + refusal)
	overloaded  = []byte("HTTP/1.1 503 Service Unavailable\r\n" + refusal)
)

var (
	crlf, blankLine     = []byte("\r\n"), []byte("\r\n\r\n")
	space, colon, comma = []byte(" "), []byte(":"), []byte(",")
)

type ending int

const (
	goesOn  ending = iota
	asked          // It ends, because the client wants it to.
	refused        // It ends, and the client may not know.
)

// respond appends the answers to all complete requests in input. It returns their size in bytes, and the connection's ending.
func respond(out, input []byte) (all []byte, used int, end ending) {
	for {
		rest := input[used:]
		size := bytes.Index(rest[:min(len(rest), headMax)], blankLine)
		if size < 0 {
			if len(rest) >= headMax {
				return append(out, badHead...), used, refused
			}
			return out, used, goesOn
		}
		used += size + len(blankLine)
		reply, end := judge(rest[:size+len(crlf)])
		out = append(out, reply...)
		if end != goesOn {
			return out, used, end
		}
	}
}

// judge answers a request head without its blank line. It refuses ambiguous requests. HTTP/1.0 clients must ask for keep-alive and get it
// confirmed; for others it is the default.
func judge(head []byte) ([]byte, ending) {
	line, head, _ := bytes.Cut(head, crlf)
	r, refusal := requestLine(line)
	for refusal == nil && len(head) > 0 {
		line, head, _ = bytes.Cut(head, crlf)
		refusal = r.header(line)
	}
	if refusal == nil && !r.old && !r.host {
		refusal = badRequest
	}
	if refusal != nil {
		return refusal, refused
	}
	reply, end := answer, goesOn
	switch {
	case r.closes, r.old && !r.keep:
		reply, end = answerClose, asked
	case r.old:
		reply = answerKeep
	}
	if r.head {
		reply = reply[:len(reply)-len(body)]
	}
	return reply, end
}

type requestHead struct {
	old                              bool // HTTP/1.0
	head, host, length, keep, closes bool
}

func requestLine(line []byte) (r requestHead, refusal []byte) {
	method, rest, _ := bytes.Cut(line, space)
	target, version, _ := bytes.Cut(rest, space)
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		r.old = true
	default:
		return r, badRequest
	}
	if !consistsOf(method, inToken) || !consistsOf(target, inTarget) {
		return r, badRequest
	}
	switch string(method) {
	case "GET":
	case "HEAD":
		r.head = true
	default:
		return r, badMethod
	}
	return r, nil
}

func (r *requestHead) header(line []byte) (refusal []byte) {
	name, value, found := bytes.Cut(line, colon)
	if !found || !consistsOf(name, inToken) || len(value) > 0 && !consistsOf(value, inValue) {
		return badRequest // A folded line, which also begins with a blank.
	}
	switch {
	case is(name, "host"):
		if r.host {
			return badRequest
		}
		r.host = true
	case is(name, "connection"):
		r.closes = r.closes || lists(value, "close")
		r.keep = r.keep || lists(value, "keep-alive")
	case is(name, "content-length"):
		return r.contentLength(bytes.Trim(value, " \t"))
	case is(name, "transfer-encoding"):
		return badBody
	}
	return nil
}

// contentLength accepts one header of value zero.
func (r *requestHead) contentLength(value []byte) (refusal []byte) {
	if r.length || len(value) == 0 || len(bytes.Trim(value, "0123456789")) > 0 {
		return badRequest
	}
	r.length = true
	if len(bytes.Trim(value, "0")) > 0 {
		return badBody
	}
	return nil
}

const (
	inToken = 1 << iota
	inTarget
	inValue
)

var kinds = func() (all [256]byte) {
	for c := range all {
		switch {
		case c > ' ' && c < 0x7f:
			all[c] = inTarget | inValue
		case c == ' ', c == '\t', c > 0x7f:
			all[c] = inValue
		}
	}
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		all[c] |= inToken
	}
	return all
}()

// consistsOf reports whether a nonempty text has only bytes of one kind.
func consistsOf(text []byte, kind byte) bool {
	for _, c := range text {
		if kinds[c]&kind == 0 {
			return false
		}
	}
	return len(text) > 0
}

// is compares case-insensitively with a lower-case word.
func is(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// lists looks for a word in a comma-separated list, case-insensitively.
func lists(text []byte, word string) bool {
	for len(text) > 0 {
		var item []byte
		item, text, _ = bytes.Cut(text, comma)
		if is(bytes.Trim(item, " \t"), word) {
			return true
		}
	}
	return false
}

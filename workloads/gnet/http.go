package main

import "bytes"

// headMax is how many bytes a request head may have.
const headMax = 8192

const (
	answerHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
	body       = "helloworld"
	refusal    = "Content-Length: 0\r\nConnection: close\r\n\r\n"
)

// The answers. All but the first two are the last of their connection.
var (
	answer      = []byte(answerHead + "\r\n" + body)
	answerKeep  = []byte(answerHead + "Connection: keep-alive\r\n\r\n" + body)
	answerClose = []byte(answerHead + "Connection: close\r\n\r\n" + body)
	badRequest  = []byte("HTTP/1.1 400 Bad Request\r\n" + refusal)
	badMethod   = []byte("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\n" + refusal)
	badBody     = []byte("HTTP/1.1 413 Content Too Large\r\n" + refusal)
	badHead     = []byte("HTTP/1.1 431 Request Header Fields Too Large\r\n" + refusal)
	overloaded  = []byte("HTTP/1.1 503 Service Unavailable\r\n" + refusal)
)

var (
	crlf, blank = []byte("\r\n"), []byte("\r\n\r\n")
	version     = []byte(" HTTP/1.")
	colon       = []byte(":")
)

// ending says how a connection goes on after an answer.
type ending int

const (
	goesOn  ending = iota
	asked          // It ends, because the client wants it to.
	refused        // It ends, and the client may not know.
)

// respond appends the answers to the complete requests that input begins with. It returns how many bytes those are, and how the
// connection goes on.
func respond(out, input []byte) (all []byte, used int, end ending) {
	for {
		rest := input[used:]
		size := bytes.Index(rest[:min(len(rest), headMax)], blank)
		if size < 0 {
			if len(rest) >= headMax {
				return append(out, badHead...), used, refused
			}
			return out, used, goesOn
		}
		used += size + len(blank)
		reply, end := judge(rest[:size+len(crlf)])
		out = append(out, reply...)
		if end != goesOn {
			return out, used, end
		}
	}
}

// judge returns the answer to a request head, which comes without its blank line. An HTTP/1.0 client is told that its connection is
// kept alive, and must have asked for it; others take it for granted.
func judge(head []byte) ([]byte, ending) {
	line, head, _ := bytes.Cut(head, crlf)
	at := bytes.LastIndex(line, version)
	if at < len("GET /") || at+len(version)+1 != len(line) || line[len(line)-1] != '0' && line[len(line)-1] != '1' {
		return badRequest, refused
	}
	if !bytes.HasPrefix(line, []byte("GET ")) {
		return badMethod, refused
	}
	old := line[len(line)-1] == '0'
	keep, closes := !old, false
	for len(head) > 0 {
		line, head, _ = bytes.Cut(head, crlf)
		switch name, value, _ := bytes.Cut(line, colon); {
		case is(name, "connection"):
			closes = closes || has(value, "close")
			keep = keep || has(value, "keep-alive")
		case is(name, "transfer-encoding"), is(name, "content-length") && len(bytes.Trim(value, "0 \t")) > 0:
			return badBody, refused
		}
	}
	switch {
	case closes || !keep:
		return answerClose, asked
	case old:
		return answerKeep, goesOn
	}
	return answer, goesOn
}

// is compares without regard to case. The word is in lower case.
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

// has looks for a word, without regard to case.
func has(text []byte, word string) bool {
	for ; len(text) >= len(word); text = text[1:] {
		if is(text[:len(word)], word) {
			return true
		}
	}
	return false
}

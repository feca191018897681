package util

import "strings"

// Clip makes a message printable (see Printable) and shortens it to at most n bytes. Texts of servers, agents, registries and forges pass
// through it before they reach a condition or an event.
func Clip(s string, n int) string {
	s = Printable(strings.ToValidUTF8(s, "?"))
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "..."
}

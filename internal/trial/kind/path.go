package kind

import (
	"fmt"
	"net/url"
	"strings"
)

// CheckPath refuses a path of a request, in a field of the spec, that some clients would rewrite before they send it: wrk and ab send it as it
// is, and what k6 and the checks send would be another one.
func CheckPath(field, path string) *Violation {
	if path == "" || sentAsWritten(path) {
		return nil
	}
	escaped := escape(path)
	if !sentAsWritten(escaped) {
		return Invalid("%s is %s, which clients would send in different forms: choose another path", field, path)
	}
	return Invalid("%s is %s, which clients would send in different forms: write %s", field, path, escaped)
}

func sentAsWritten(path string) bool {
	u, err := url.Parse("http://host" + path)
	return err == nil && u.Fragment == "" && u.RequestURI() == path
}

// plain are the characters that a path and its query hold as they are.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"

// escape percent-encodes what a path cannot hold, and leaves what is percent-encoded already.
func escape(path string) string {
	var out strings.Builder
	for i := range len(path) {
		c := path[i]
		_, broken := url.PathUnescape(path[i:min(i+3, len(path))])
		if strings.IndexByte(plain, c) >= 0 || c == '%' && broken == nil {
			out.WriteByte(c)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", c)
	}
	return out.String()
}

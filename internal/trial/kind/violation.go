package kind

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Violation says why a run is impossible: a machine-readable reason, and a sentence with the field and the solution.
type Violation struct {
	Reason  string
	Message string
	// others were found with it.
	others []*Violation
}

// Error returns the sentence.
func (v *Violation) Error() string { return v.Message }

// All returns the violation and those found with it.
func (v *Violation) All() []*Violation { return slices.Concat([]*Violation{v}, v.others) }

// Invalid is a violation of a spec that contradicts itself or the rules.
func Invalid(format string, args ...any) *Violation {
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(format, args...)}
}

// Join returns the first violation with the others attached; nil if there is none.
func Join(found ...*Violation) *Violation {
	var all []*Violation
	for _, v := range found {
		if v != nil {
			all = append(all, v.All()...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &Violation{Reason: all[0].Reason, Message: all[0].Message, others: all[1:]}
}

// Each joins the violations of each item.
func Each[T any](items []T, check func(i int, item T) *Violation) *Violation {
	var found []*Violation
	for i, item := range items {
		found = append(found, check(i, item))
	}
	return Join(found...)
}

// CheckPath refuses a path that some clients would rewrite: wrk and ab send it unchanged, k6 and the checks would
// not.
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

// plain characters need no encoding in a path and its query.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"

// escape percent-encodes what a path cannot hold, and keeps existing encodings.
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

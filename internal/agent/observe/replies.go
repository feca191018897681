package observe

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
)

func askAll(ctx context.Context, server httpcheck.Server, list []record.Reply) []record.Reply {
	type answer struct {
		page httpcheck.Page
		err  error
	}
	answers := map[string]*answer{}
	var group sync.WaitGroup
	for _, r := range list {
		if answers[r.Path] == nil {
			a := &answer{}
			answers[r.Path] = a
			group.Go(func() { a.page, a.err = httpcheck.Fetch(ctx, server, r.Path) })
		}
	}
	group.Wait()
	var out []record.Reply
	for _, r := range list {
		a := answers[r.Path]
		r.There = lookUp(r.Path, a.page, a.err, r.Text)
		out = append(out, r)
	}
	return out
}

const excerpt = 60

// lookUp reports whether an answer has a text. An unsuccessful answer is inconclusive.
func lookUp(path string, page httpcheck.Page, err error, text string) record.Fact {
	fact := func(is record.Truth, format string, args ...any) record.Fact {
		return record.Fact{Is: is, By: fmt.Sprintf("GET %s ", path) + fmt.Sprintf(format, args...)}
	}
	at := strings.Index(page.Body, text)
	switch {
	case err != nil:
		return record.Fact{Is: record.Unknown, By: err.Error()}
	case page.Status/100 != 2:
		return fact(record.Unknown, "got status %d", page.Status)
	case at >= 0:
		return fact(record.Yes, "got %s", quote(page.Body, at, at+len(text)))
	case page.Bytes > int64(len(page.Body)):
		return fact(record.Unknown, "got %d bytes; the first %d do not contain it", page.Bytes, len(page.Body))
	}
	return fact(record.No, "got %d bytes that do not contain it: %s", page.Bytes, quote(page.Body, 0, 0))
}

func quote(body string, from, to int) string {
	from, to = max(from-excerpt, 0), min(to+excerpt, len(body))
	begin, end := "", ""
	if from > 0 {
		begin = "..."
	}
	if to < len(body) {
		end = "..."
	}
	return fmt.Sprintf("%s%+q%s", begin, body[from:to], end)
}

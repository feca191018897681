package notify

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/table"
)

const (
	// roomInComment is the most bytes of a comment: GitHub accepts 65,536 characters, GitLab a million.
	roomInComment = 62_000
	// longestValue is the most bytes of a parameter's value in a comment.
	longestValue = 200
)

// Marker returns the invisible first line of a notification's comment in a pull request. Readers can copy it, so only
// a comment by the token's own account counts as the suite's.
func Marker(s *v1alpha1.BenchmarkSuite, sink string, p Place) string {
	sum := sha256.Sum256([]byte(string(s.UID) + "\n" + sink + "\n" + strings.ToLower(p.Repository) + "\n" + p.Pull))
	return fmt.Sprintf("<!-- loadstone %x -->", sum[:16])
}

// Printed is a run's report as Markdown, or why there is none.
type Printed struct{ Text, Why string }

// CommentOf returns a round's comment on a pull request, without its marker, or the same page without a commit. It
// holds each run's report, in event order, as space allows.
func CommentOf(e Event, p Place, gate v1alpha1.Gate, link string, reports []Printed) string {
	state, why := e.Data.means(gate)
	var out strings.Builder
	fmt.Fprintf(&out, "## Loadstone: %s\n\n%s %s\n\n", table.Escape(e.Subject), table.Bold(format.Capital(state)+"."), table.Escape(format.Capital(why)))
	about := []string{fmt.Sprintf("round %d", e.Data.Round)}
	if p.Commit != "" {
		about = append(about, "commit "+p.Commit)
	}
	for _, v := range e.Data.Parameters {
		if v.Value != p.Commit && v.Value != p.Pull {
			about = append(about, v.Name+"="+util.Clip(v.Value, longestValue))
		}
	}
	if e.Data.StartTime != nil && e.Data.EndTime != nil {
		about = append(about, "from "+format.Instant(e.Data.StartTime.Time)+" to "+format.Instant(e.Data.EndTime.Time))
	}
	out.WriteString(table.Escape(strings.Join(about, " · ")))
	if link != "" {
		fmt.Fprintf(&out, " · [more](<%s>)", link)
	}
	out.WriteString("\n")
	for i, r := range e.Data.Runs {
		part := section(e, r, reports[i])
		if out.Len()+len(part) > roomInComment {
			part = section(e, r, Printed{Why: "Its report is too long for this comment."})
		}
		if out.Len()+len(part) > roomInComment {
			fmt.Fprintf(&out, "\n%d more runs do not fit here.\n", len(e.Data.Runs)-i)
			break
		}
		out.WriteString(part)
	}
	return out.String()
}

func section(e Event, r Run, report Printed) string {
	text := strings.TrimSpace(report.Text)
	if text == "" {
		text = table.Bold(cmp.Or(r.Verdict, "no verdict")) + " " + table.Escape(report.Why)
	}
	whole := ""
	if r.Report != "" {
		whole = fmt.Sprintf("\n`loadstone report %s --namespace %s` gets the report with all its files.\n", r.BenchmarkRun, e.Data.Namespace)
	}
	return fmt.Sprintf("\n## %s\n\n%s\n%s", table.Escape(r.Name), strings.ToValidUTF8(text, "?"), whole)
}

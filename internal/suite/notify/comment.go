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
	// roomInComment is how many bytes a comment has: GitHub takes 65,536 characters, and GitLab a million, which nobody reads.
	roomInComment = 62_000
	// longestValue is how many bytes of a parameter's value a comment shows.
	longestValue = 200
)

// Marker begins the comment that a notification of a suite keeps in a pull request, and nobody sees it there. Who reads the comment's source can copy it:
// only a comment of the token's own account is the suite's.
func Marker(s *v1alpha1.BenchmarkSuite, sink string, p Place) string {
	sum := sha256.Sum256([]byte(string(s.UID) + "\n" + sink + "\n" + strings.ToLower(p.Repository) + "\n" + p.Pull))
	return fmt.Sprintf("<!-- loadstone %x -->", sum[:16])
}

// Printed is the report of a run as Markdown, or why there is none.
type Printed struct{ Text, Why string }

// CommentOf is the comment on a pull request that a round leaves, after its marker, or the same for a page that belongs to no commit. It has the report
// of each run, in the order of the event, as far as there is room.
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
			part = section(e, r, Printed{Why: "Its report is too long to stand here."})
		}
		if out.Len()+len(part) > roomInComment {
			fmt.Fprintf(&out, "\n%d more runs have no room here.\n", len(e.Data.Runs)-i)
			break
		}
		out.WriteString(part)
	}
	return out.String()
}

// section is what a comment says of a run.
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

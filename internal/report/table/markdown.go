package table

import (
	"strings"
	"unicode"

	"loadstone.dev/loadstone/internal/base/util"
)

// longest is the most bytes of a cell's text.
const longest = 300

// escapes disables markup within a line. A pipe becomes an entity, since not every reader honors a backslash there.
// The zero-width space prevents mentions, which would notify someone.
var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "&", `\&`, "~", `\~`, "$", `\$`, "#", `\#`,
	"|", "&#124;", "@", "@\u200b", "://", `:\//`, "www.", `www\.`,
)

// Escape prints a text on one line, without markup, links or mentions.
func Escape(text string) string {
	return escapes.Replace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}

// Bold prints a text with emphasis.
func Bold(text string) string { return "**" + strings.TrimSpace(Escape(text)) + "**" }

// Markdown prints at most this many rows, without notes, and returns how many it left out.
func Markdown(t Table, most int) (text string, left int) {
	var out strings.Builder
	line := func(cells []string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head, rule := make([]string, len(t.Head)), make([]string, len(t.Head))
	for k, c := range t.Head {
		head[k], rule[k] = cell(c), "---"
		if c.Number {
			rule[k] = "---:"
		}
	}
	line(head)
	line(rule)
	for _, b := range t.Bodies {
		shown := b.Rows[:min(len(b.Rows), most)]
		most, left = most-len(shown), left+len(b.Rows)-len(shown)
		if b.Title != "" && len(shown) > 0 {
			title := make([]string, len(t.Head))
			title[0] = Bold(b.Title)
			line(title)
		}
		for _, r := range shown {
			cells := make([]string, len(r.Cells))
			for k, c := range r.Cells {
				cells[k] = cell(c)
			}
			line(cells)
		}
	}
	return out.String(), left
}

func cell(c Cell) string {
	text, sub := Escape(util.Clip(c.Text, longest)), Escape(util.Clip(c.Sub, longest))
	switch {
	case sub == "":
		return text
	case text == "":
		return sub
	}
	return text + " (" + sub + ")"
}

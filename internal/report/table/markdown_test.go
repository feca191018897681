package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatOthersWroteIsTextAndNoMarkup(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"words stay as they are":              {"go-slow uses 21.3 % more (+17.1 % to +25.0 %)", "go-slow uses 21.3 % more (+17.1 % to +25.0 %)"},
		"an element":                          {"<img src=x>", `\<img src=x\>`},
		"an entity":                           {"&amp;", `\&amp;`},
		"emphasis and code":                   {"*a* _b_ ~~c~~ `d`", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\`"},
		"a link and a picture":                {"![x](y) [x]: y", `!\[x\](y) \[x\]: y`},
		"a formula":                           {"$x$", `\$x\$`},
		"a backslash takes nothing away":      {`\*`, `\\\*`},
		"a pipe begins no column":             {`a|b \| c`, `a&#124;b \\&#124; c`},
		"a line does not end":                 {"a\n# b\r\nc\u2028d\x00e", `a \# b  c d e`},
		"nobody is mentioned":                 {"@everyone", "@\u200beveryone"},
		"an address is no link":               {"https://example.org", `https:\//example.org`},
		"an address without a scheme neither": {"www.example.org", `www\.example.org`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Escape(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	head := []Cell{Word("at"), Num("value")}
	row := func(at, value string) Row {
		return Row{Cells: []Cell{Word(at), Num(value)}}
	}
	for name, tc := range map[string]struct {
		of   Table
		most int
		want []string
		left int
	}{
		"a body without a title": {
			Table{Head: head, Bodies: []Body{{Rows: []Row{row("a", "1")}}}},
			9,
			[]string{"| at | value |", "| --- | ---: |", "| a | 1 |"},
			0,
		},
		"bodies with titles": {
			Table{Head: head, Bodies: []Body{{Title: "one|two", Rows: []Row{row("a", "1")}}, {Title: "none"}}},
			9,
			[]string{"| at | value |", "| --- | ---: |", "| **one&#124;two** |  |", "| a | 1 |"},
			0,
		},
		"what stands below a text": {
			Table{Head: head, Bodies: []Body{{Rows: []Row{{Cells: []Cell{Wrapped("a", "b"), NumSub("", "c")}}}}}},
			9,
			[]string{"| at | value |", "| --- | ---: |", "| a (b) | c |"},
			0,
		},
		"more rows than there is room for": {
			Table{Head: head, Bodies: []Body{{Rows: []Row{row("a", "1"), row("b", "2"), row("c", "3")}}, {Title: "more", Rows: []Row{row("d", "4")}}}},
			2,
			[]string{"| at | value |", "| --- | ---: |", "| a | 1 |", "| b | 2 |"},
			2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, left := Markdown(tc.of, tc.most)
			if diff := cmp.Diff(strings.Join(tc.want, "\n")+"\n", got); diff != "" || left != tc.left {
				t.Errorf("%d rows are left out, want %d; the table (-want +got):\n%s", left, tc.left, diff)
			}
		})
	}
}

func TestALongTextIsCut(t *testing.T) {
	got, _ := Markdown(Table{Head: []Cell{Word("message")}, Bodies: []Body{{Rows: []Row{{Cells: []Cell{Word(strings.Repeat("x", 5000))}}}}}}, 1)
	if len(got) > 400 || !strings.Contains(got, "x... |") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

package words

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestAnOldWordIsFoundWhereUsersReadIt(t *testing.T) {
	tests := map[string]struct {
		file, source string
		want         string
	}{
		"a doc":                        {"docs/a.md", "# A\n\nOwn faults count.", `docs/a.md:3: "Own faults": say implementation failure`},
		"a comment of the chart":       {"chart/values.yaml", "# A spare block follows.\nx: 1", `chart/values.yaml:1: "spare block": say repeat block, repeated`},
		"a message":                    {"cmd/a.go", "package a\n\nvar s = \"the cell is spoiled\"", `cmd/a.go:3: "spoiled": say disturb, disturbed`},
		"a comment that becomes a CRD": {"api/a.go", "package a\n\n// A is the share that\n// strangers use.\ntype A int", `api/a.go:3: "strangers": say noisy neighbours`},
		"a rule over two lines":        {"api/a.go", "package a\n\n// A is not of role\n// Limit.\ntype A int", `api/a.go:3: "role Limit": say role Reference`},
		"a class of a page":            {"cmd/page.css", ".a {}\n.climit {}", `cmd/page.css:2: "climit": say reference`},
		"a comment for developers":     {"cmd/a.go", "package a\n\n// A is a spare block.\nvar s = 1", ""},
		"a test":                       {"cmd/a_test.go", "package a\n\nvar s = \"spoiled\"", ""},
		"recorded data":                {"cmd/testdata/a.txt", "spoiled", ""},
		"a part of a word":             {"docs/a.md", "unspoilt, estranged, the latest", ""},
		"the name of a test":           {"docs/a.md", "`TestATrialAfterAFaultFromOutside`", `docs/a.md:1: "Fault From Outside": say infrastructure failure, external disturbance`},
		"another name of a test":       {"docs/a.md", "`TestAStrangersPodIsLeftAlone`", `docs/a.md:1: "Strangers": say noisy neighbours`},
		"a load with an arrival rate":  {"docs/a.md", "A load keeps an arrival rate.", `docs/a.md:1: "keeps an arrival rate": say sustain a rate, meet a bound`},
		"rates that go along":          {"cmd/a.go", "package a\n\nvar s = \"use k6, which also keeps rates\"", `cmd/a.go:3: "keeps rates": say sustain a rate, meet a bound`},
		"a rate that was":              {"cmd/a.go", "package a\n\nvar s = \"a rate that was kept\"", `cmd/a.go:3: "rate that was kept": say sustain a rate, meet a bound`},
		"a rate that is not named":     {"cmd/a.go", "package a\n\nvar s = \"%s keeps nothing else\"", `cmd/a.go:3: "keeps nothing else": say sustain a rate, meet a bound`},
		"a repeated analysis":          {"docs/a.md", "Each round is a look at the history.", `docs/a.md:1: "a look at the history": say analysis`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{tc.file: {Data: []byte(tc.source)}}
			got, err := scanAll(tree, []string{strings.Split(tc.file, "/")[0]})
			if err != nil || strings.Join(got, "\n") != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestWhatIsNotThereIsAnError(t *testing.T) {
	if _, err := scanAll(fstest.MapFS{}, []string{"docs"}); err == nil {
		t.Error("a folder that is not there is clean")
	}
}

func TestUsersReadNoOldWords(t *testing.T) {
	findings, err := scanAll(os.DirFS("../.."), places)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

func TestEveryPlaceIsThere(t *testing.T) {
	for _, place := range places {
		if _, err := os.Stat("../../" + place); err != nil {
			t.Errorf("%s is checked and is not there", place)
		}
	}
}

func TestEveryFolderWhoseWordsUsersReadIsAPlace(t *testing.T) {
	if !slices.Contains(places, "internal") || !slices.Contains(places, "hack") || !read("hack/figures/figures.go") {
		t.Error("internal or hack is not checked")
	}
}

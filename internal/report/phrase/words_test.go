package phrase

import (
	"os"
	"regexp"
	"testing"
)

func TestSayAndCount(t *testing.T) {
	l := Language{words: map[string]string{"bare": "100 %", "of": "%s of %s", "cells.1": "%s cell", "cells.n": "%s cells in %s"}}
	for name, tc := range map[string]struct{ got, want string }{
		"words without arguments are no format": {l.Say("bare"), "100 %"},
		"arguments are put in":                  {l.Say("of", "1", "2"), "1 of 2"},
		"an unknown key shows itself":           {l.Say("nowhere", 1), "!(nowhere)"},
		"one":                                   {l.Count("cells", 1), "1 cell"},
		"several":                               {l.Count("cells", 1200, "all"), "1,200 cells in all"},
		"none are several":                      {l.Count("cells", 0, "all"), "0 cells in all"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
	l = Language{words: map[string]string{"on": "on the server", "on.programs": "on the program", "by.1": "%s cell", "by.1.programs": "%s process"}}.OfPrograms()
	if l.Say("on") != "on the program" || l.Count("by", 1) != "1 process" {
		t.Errorf("of programs it says %q and %q", l.Say("on"), l.Count("by", 1))
	}
	if l = (Language{words: map[string]string{"bare": "100 %"}}).OfPrograms(); l.Say("bare") != "100 %" {
		t.Errorf("what it has no other words for is %q", l.Say("bare"))
	}
	if !l.Has("bare") || l.Has("nowhere") {
		t.Error("a key is not known that is there, or the other way round")
	}
}

func TestNoKeyHasTwoWords(t *testing.T) {
	keys := regexp.MustCompile(`"([\w.-]+)": `).FindAllSubmatch(english, -1)
	if len(keys) != len(EnglishWords.words) {
		t.Errorf("%d keys make %d words", len(keys), len(EnglishWords.words))
	}
}

func TestWhatIsCountedHasASingularAndAPlural(t *testing.T) {
	ending := regexp.MustCompile(`^(.*)\.(1|n)(\.programs)?$`)
	for key := range EnglishWords.words {
		found := ending.FindStringSubmatch(key)
		if found == nil {
			continue
		}
		for _, other := range []string{found[1] + ".1" + found[3], found[1] + ".n" + found[3]} {
			if found[1] != "method" && found[1] != "th" && !EnglishWords.Has(other) {
				t.Errorf("%s is there without %s", key, other)
			}
		}
	}
}

func TestTheLineOfAStatusIsASCII(t *testing.T) {
	for key, words := range EnglishWords.words {
		if regexp.MustCompile(`^line\.`).MatchString(key) && regexp.MustCompile(`[^ -~]`).MatchString(words) {
			t.Errorf("%s: %q", key, words)
		}
	}
}

func TestEveryReasonAndObservationHasWords(t *testing.T) {
	for name, tc := range map[string]struct{ file, prefix, of string }{
		"reasons":      {"../../analysis/validity/reasons.go", "finding.", "Code"},
		"observations": {"../../analysis/measured/observations.go", "seen.", "ObservationName"},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(tc.file)
			if err != nil {
				t.Fatal(err)
			}
			constants := regexp.MustCompile(tc.of+` += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
			if len(constants) < 10 {
				t.Errorf("only %d words are looked for: %v", len(constants), constants)
			}
			for _, found := range constants {
				if !EnglishWords.Has(tc.prefix + found[1]) {
					t.Errorf("there are no words for %s", tc.prefix+found[1])
				}
			}
		})
	}
}

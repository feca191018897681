package phrase

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/report/format"
)

// Language holds every word of the report in one language, as formats of package fmt.
type Language struct {
	words map[string]string
	// of ends the keys of words that are said in the place of others; empty for none.
	of string
}

// OfPrograms is the language as it speaks of programs that measure themselves: what it says of them in other words than of servers has a key
// that ends in ".programs".
func (l Language) OfPrograms() Language {
	l.of = ".programs"
	return l
}

// OfStreams is the language as it speaks of connections with several requests in flight: its keys end in ".streams".
func (l Language) OfStreams() Language {
	l.of = ".streams"
	return l
}

// english holds the words, in groups: those of every report, of pictures, objectives, searches, programs that measure themselves, builds, claims, profiles,
// settings, and of the other forms of a report. Keys that begin with "line." make the one-line verdict, and are ASCII.
//
//go:embed english.json
var english []byte

// EnglishWords is the only language so far. Another one is another such file with the same keys.
var EnglishWords = language(english)

// language reads the words of a language. Its file is part of the program.
func language(file []byte) (l Language) {
	if err := json.Unmarshal(file, &l.words); err != nil {
		panic("reading the words of a language: " + err.Error())
	}
	return l
}

// Has reports whether a key has words, for codes that the table brings along.
func (l Language) Has(key string) bool {
	_, ok := l.words[key]
	return ok
}

// Say prints a sentence. An unknown key is a mistake of the program, and shows itself in tests as well as on the page.
func (l Language) Say(key string, args ...any) string {
	words, ok := l.words[key+l.of]
	if !ok {
		words, ok = l.words[key]
	}
	if !ok {
		return "!(" + key + ")"
	}
	if len(args) == 0 {
		return words
	}
	return fmt.Sprintf(words, args...)
}

// Count picks between one and several: keys end in ".1" and ".n".
func (l Language) Count(key string, n int, args ...any) string {
	if n == 1 {
		return l.Say(key+".1", append([]any{format.Integer(n)}, args...)...)
	}
	return l.Say(key+".n", append([]any{format.Integer(n)}, args...)...)
}

// Lexicon makes phrases of a language's words. The report and the line of a status take theirs from the same one.
type Lexicon struct{ Language }

// English is the lexicon of the only language so far.
var English = Lexicon{EnglishWords}

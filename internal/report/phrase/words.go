package phrase

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"loadstone.dev/loadstone/internal/report/format"
)

// Language holds every word of the report in one language, as fmt formats.
type Language struct {
	words map[string]string
	of    string
}

// OfPrograms returns the language for programs that measure themselves, which prefers keys ending in ".programs".
func (l Language) OfPrograms() Language {
	l.of = ".programs"
	return l
}

// OfStreams returns the language for several requests in flight per connection, which prefers keys ending in
// ".streams".
func (l Language) OfStreams() Language {
	l.of = ".streams"
	return l
}

// english holds the words in groups. Keys that begin with "line." make the one-line verdict, and are ASCII.
//
//go:embed english.json
var english []byte

// EnglishWords is the only language so far. Another one needs a file with the same keys.
var EnglishWords = language(english)

func language(file []byte) (l Language) {
	if err := json.Unmarshal(file, &l.words); err != nil {
		panic("reading the words of a language: " + err.Error())
	}
	return l
}

// Has reports whether a key has words, for codes from the table.
func (l Language) Has(key string) bool {
	_, ok := l.words[key]
	return ok
}

// Say prints a sentence. An unknown key is a bug, visible in tests and on the page.
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

// Count chooses between keys ending in ".1" and ".n".
func (l Language) Count(key string, n int, args ...any) string {
	if n == 1 {
		return l.Say(key+".1", append([]any{format.Integer(n)}, args...)...)
	}
	return l.Say(key+".n", append([]any{format.Integer(n)}, args...)...)
}

// Lexicon makes phrases of a language's words, for report and status line alike.
type Lexicon struct{ Language }

// English is the lexicon of the only language so far.
var English = Lexicon{EnglishWords}

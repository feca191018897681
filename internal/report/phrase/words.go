package phrase

import (
	"fmt"
	"maps"

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

// English is the only language so far. Another one is another list of such maps with the same keys.
var EnglishWords = compose(englishGeneral, englishDrawn, englishGates, englishCapacity, englishCases, englishBuilds, englishClaims, englishProfiles, englishSettings, englishForms)

// compose makes a language of parts, of which no two have a key in common.
func compose(parts ...map[string]string) Language {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return Language{words: all}
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

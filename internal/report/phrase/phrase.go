package phrase

// Lexicon makes phrases of a language's words. The report and the line of a status take theirs from the same one.
type Lexicon struct{ Language }

// English is the lexicon of the only language so far.
var English = Lexicon{EnglishWords}

package phrase

import "loadstone.dev/loadstone/internal/report/words"

// Lexicon makes phrases of a language's words. The report and the line of a status take theirs from the same one.
type Lexicon struct{ words.Language }

// English is the lexicon of the only language so far.
var English = Lexicon{words.English}

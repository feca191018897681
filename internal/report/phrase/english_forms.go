package phrase

// englishForms are the words that the Markdown and the JUnit of a report have and its page has not.
var englishForms = map[string]string{
	"comment.page":        "Every block, latency, artifact and check is on the page %s beside this file.",
	"comment.rows.1":      "%s more row is on the page %s.",
	"comment.rows.n":      "%s more rows are on the page %s.",
	"comment.sentences.1": "%s more sentence is on the page %s.",
	"comment.sentences.n": "%s more sentences are on the page %s.",
	"comment.long":        "What is too long for a comment is left out here.",

	"junit.result":    "result",
	"junit.objective": "%s: %s, the bound is %s",
	"junit.value":     "%s (%s)",
	"junit.unknown":   "no value",
	"junit.blocks":    "blocks: %s",
	"junit.shut":      "an undecided objective does not pass",
	"junit.case":      "%s: %s (%s)",
}

package phrase

// englishClaims are the words of what a spec states of implementations.
var englishClaims = map[string]string{
	"claims.title":     "Claims",
	"claims.lead":      "What the spec states of each implementation, checked against the executable, the libraries of its process, and what it answered before any load. Below each answer stands what it follows from; what was read and shows neither leaves a claim unchecked.",
	"claims.present":   "%s %s",
	"claims.absent":    "no %s %s",
	"claims.answered":  "“%s” in the answer to GET %s",
	"claims.unsaid":    "no “%s” in the answer to GET %s",
	"claims.Confirmed": "confirmed",
	"claims.Refuted":   "refuted",
	"claims.Unchecked": "unchecked",
	"claim.Allocator":  "allocator", "claim.Compiler": "compiler", "claim.Flag": "flag", "claim.GoSetting": "Go build setting", "claim.GoVersion": "Go version",
	"claim.Library": "library", "claim.Property": "property", "claim.Symbol": "symbol",
	"th.claim": "claim", "th.answer": "answer",
	"care.claims": "Claims that are refuted",
}

package record

// Claim is a statement about how an implementation was built, or about what it answers.
type Claim struct {
	Subject ClaimSubject `json:"subject"`
	Value   string       `json:"value"`
	// Path is what a claim about a Response asks for; empty of any other.
	Path string `json:"path,omitempty"`
	// Absent claims that it is not there.
	Absent bool `json:"absent,omitempty"`
}

// Reply is whether a server's answer to a GET, before any load, has a text in its body, as a claim says.
type Reply struct {
	Path  string `json:"path"`
	Text  string `json:"text"`
	There Fact   `json:"there"`
}

package record

// MixedRequest is one of the requests of a cell.
type MixedRequest struct {
	Request
	// Weight is the request's part of all requests of the cell, related to the sum of the weights.
	Weight int32 `json:"weight"`
}

// Requests are what a cell asks for: the requests of its mix, or its one request.
func (c Cell) Requests() []MixedRequest {
	if len(c.Mix) > 0 {
		return c.Mix
	}
	return []MixedRequest{{Request: c.Request, Weight: 1}}
}

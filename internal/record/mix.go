package record

import "slices"

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

// Protocol is the version of HTTP that all requests of the cell are sent in. Of a script's requests the cell's one request says it.
func (c Cell) Protocol() Protocol { return c.Requests()[0].Protocol }

// Speaking returns the cell with all its requests in a version of HTTP.
func (c Cell) Speaking(p Protocol) Cell {
	c.Request.Protocol, c.Mix = p, slices.Clone(c.Mix)
	for i := range c.Mix {
		c.Mix[i].Protocol = p
	}
	return c
}

// InFlight is how many requests can be in flight at once.
func (c Cell) InFlight() int64 { return int64(c.Connections) * int64(max(c.StreamsPerConnection, 1)) }

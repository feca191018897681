// Package agents is how the operator speaks to the agents of a trial: their state, their clocks and its signed commands, over HTTP.
package agents

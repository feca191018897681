// Package agents calls the agents of a trial over HTTP: it reads their state and clocks, and sends signed commands.
package agents

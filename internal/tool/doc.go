// Package tool is an agent's interface to a load generator: its arguments and a parser for its output. A new tool implements Tool in its own
// folder.
//
// The ParseText of ab, k6 and wrk also reads the tool's output for people, from runs without Loadstone, for internal/cli/lint. Parse is
// stricter, since trials' output is not edited, and also reads the extra output that Loadstone requests.
//
// The package and its implementations are pure: they start no process, open no file and read no clock.
package tool

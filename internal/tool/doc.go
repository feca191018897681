// Package tool is what every load generator program looks like to an agent: an argument vector to start it with, and a parser
// for what it printed. A new tool is a new implementation of Tool in a folder of its own.
//
// A tool's folder also reads what the tool prints for people, wherever it was run: ParseText, for internal/cli/lint to put together. Parse is
// stricter, since nobody edits what a trial printed, and reads what Loadstone makes the tool print beside that.
//
// The package and its implementations are pure: they start no process, open no file and read no clock.
package tool

// Package program measures programs that the agent starts.
package program

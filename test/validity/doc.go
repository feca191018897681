// Package validity tests which load generator notices which fault of a server: real tools put load on the server of
// workloads/faulty on loopback, and the parsers of internal/tool read what they say. What a tool does not notice, something else
// must. The expected outcome is the table in this package, and docs/explanation/load-generators.md holds it for readers.
package validity

// Package validity tests which load generators notice which server faults: real tools load the server of workloads/faulty on loopback, and
// internal/tool parses their output. Other checks must find the rest. The table in this package has the expected results, and
// docs/explanation/load-generators.md is made from it.
package validity

// Package doctor checks that this machine or a cluster is ready to benchmark. ReadMachine and ReadCluster collect the facts;
// OfMachine and OfCluster judge them and say how to fix the problems.
package doctor

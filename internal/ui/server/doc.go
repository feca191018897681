// Package server serves the pages of package ui on this machine, with the rights of its user: it keeps what the cluster shows of runs and suites,
// fetches what is stored of a run as loadstone report does, and tells browsers when something has changed. It listens on the loopback interface
// alone, answers to its own name alone, and changes nothing.
package server

// Package server serves the pages of package ui: it keeps what the cluster shows of runs and suites, fetches what is stored of a run, and tells browsers
// when something has changed. It answers to its own names alone, and changes nothing. On a user's machine it has the rights of its user, reads reports
// as loadstone report does and listens on the loopback interface alone (command.go); in a cluster it has an account of its own and no key of the store,
// and shows to whoever reaches it what that account may read (shared.go).
package server

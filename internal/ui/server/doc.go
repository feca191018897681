// Package server serves the pages of package ui. It mirrors runs and suites, fetches stored files, and tells browsers about changes. It
// answers only under its own host names. On a user's machine it has the user's rights and listens on loopback only (command.go). In a cluster
// it has its own service account and no store credentials, and shows everyone what that account may read (shared.go).
package server

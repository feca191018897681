// Package download serves a run's stored files to users who may get that run, through the API server and without store credentials. It has the
// operator's side and the client's.
package download

// Package download serves a run's stored files to users who may get that run, through the API server and without store credentials.
package download

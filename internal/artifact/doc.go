// Package artifact keeps what a run leaves behind in an S3 object store: write-once objects whose SHA-256 the store itself
// verifies, and manifests that name them. It decides nothing about measurements.
package artifact

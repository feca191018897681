// Package artifact keeps what a run leaves behind: write-once objects, and manifests that name them with their SHA-256. A Store is an S3
// bucket, which verifies digests itself; a Folder of this machine serves runs that need no cluster. It decides nothing about measurements.
package artifact

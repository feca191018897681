// Package artifact stores what a run leaves: write-once objects, and manifests that name them with their SHA-256. A Store is an S3 bucket,
// which verifies digests itself. A Folder is on this machine, for local runs. It does not judge measurements.
package artifact

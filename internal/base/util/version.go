package util

// The linker sets these: -ldflags "-X loadstone.dev/loadstone/internal/base/util.Version=...".
var (
	Version = "dev"
	// Commit and CommitDate are empty if the build did not set them.
	Commit, CommitDate string
)

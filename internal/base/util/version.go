package util

// Version is set by the linker: -ldflags "-X loadstone.dev/loadstone/internal/version.Version=...".
var Version = "dev"

package util

// Version is set by the linker: -ldflags "-X loadstone.dev/loadstone/internal/base/util.Version=...".
var Version = "dev"

// Package version says which build of Loadstone this is. It does nothing else.
package version

// Version is set by the linker: -ldflags "-X loadstone.dev/loadstone/internal/version.Version=...".
var Version = "dev"

// Package image reads container images from archives, OCI layouts, container tools and registries. It unpacks them into cache folders, and
// starts processes in their root file system. The sandbox is that of docs/explanation/sandbox.md.
//
// Images are untrusted. Each name in a layer is resolved below the root folder, like the kernel does: a link or ".." cannot lead outside.
// Layers are checked against the digests in the image's configuration, and their size is limited.
package image

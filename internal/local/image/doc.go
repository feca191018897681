// Package image reads container images from archives, OCI layouts, container tools and registries. It unpacks them into folders of
// a cache, and starts a process inside the root file system of an unpacked image.
//
// Images are untrusted. Each name in a layer is resolved below the root folder, as the kernel does it: a link or a ".." cannot lead
// outside. Layers are checked against the digests in the image's configuration, and their size is bounded.
package image

// Package image reads container images from archives, OCI layout folders, the stores of container tools and registries, and unpacks them into
// folders of a cache. It starts nothing of what it unpacks: that is the work of package rootfs.
//
// What an image holds is judged by nobody before it is unpacked, so each name in its layers is resolved as the kernel resolves it below a root
// folder: a link or a ".." leads nowhere else. Layers are checked against the digests of the image's configuration, and bounded.
package image

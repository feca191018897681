// Package settings reads the ConfigMaps that implementations name: whether they are there when a run starts, and whether they stay what they were. It
// reads no Secret.
package settings

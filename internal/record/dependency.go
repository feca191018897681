package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Dependency is a container that an implementation needs beside it, such as a database.
type Dependency struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Command is the argument vector that starts it; empty means the image's own.
	Command []string `json:"command,omitempty"`
	// Container is what it gets beside its image and its command.
	Container Container `json:"container,omitzero"`
	// Port is open once it is ready; 0 if nobody asks.
	Port        int32 `json:"port,omitempty"`
	MilliCPU    int64 `json:"milliCPU"`
	MemoryBytes int64 `json:"memoryBytes"`
}

// settings are what is printed of a dependency, each under its name.
func (d Dependency) settings() []Setting {
	own := []Setting{
		{"image", d.Image},
		{"command", cmp.Or(strings.Trim(fmt.Sprintf("%q", d.Command), "[]"), "the image's own")},
		{"cpu", fmt.Sprintf("%dm", d.MilliCPU)},
		{"memory", fmt.Sprintf("%d MiB", d.MemoryBytes>>20)},
	}
	if d.Port > 0 {
		own = append(own, Setting{"port", fmt.Sprint(d.Port)})
	}
	own = append(own, d.Container.Settings()...)
	for i := range own {
		own[i].Name = "dependencies " + d.Name + " " + own[i].Name
	}
	return own
}

// DependencyUse is what a dependency cost in a cell.
type DependencyUse struct {
	Name string `json:"name"`
	// CPUNanos is its CPU time in the window.
	CPUNanos int64 `json:"cpuNanos"`
}

// alike reports whether two dependencies make the same process.
func (d Dependency) alike(o Dependency) bool {
	return d.Name == o.Name && d.Image == o.Image && slices.Equal(d.Command, o.Command) && d.Container.Alike(o.Container) && d.Port == o.Port &&
		d.MilliCPU == o.MilliCPU && d.MemoryBytes == o.MemoryBytes
}

// Settings are what is printed of an implementation beside its image and its command, in a fixed order. Each has a name of its own.
func (i Implementation) Settings() []Setting {
	out := i.Container.Settings()
	if t := i.TLS; t != nil {
		out = append(out, Setting{"tls", "HTTPS; " + t.Verification()})
	}
	if s := i.StopSignal; s != "" {
		out = append(out, Setting{"stopSignal", s})
	}
	for _, d := range i.Dependencies {
		out = append(out, d.settings()...)
	}
	return out
}

// SetAlike reports whether two implementations get the same beside image and command, dependencies included, and are asked alike. How they are told to
// end makes no other process, and neither does how their certificates are verified.
func (i Implementation) SetAlike(o Implementation) bool {
	return (i.TLS == nil) == (o.TLS == nil) && i.Container.Alike(o.Container) && slices.EqualFunc(i.Dependencies, o.Dependencies, Dependency.alike)
}

// DependencySeconds is how long the dependencies of an implementation may take to get ready, one after the other, as far as that is bounded.
func (i Implementation) DependencySeconds() int32 {
	var sum int32
	for _, d := range i.Dependencies {
		sum += d.Container.Readiness.Seconds
	}
	return sum
}

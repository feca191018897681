package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Container is what an implementation gets beside its image and its command. Objects are named, and their contents are not recorded: of ConfigMaps a run
// knows the digests.
type Container struct {
	// Args follow the command, or the entrypoint of the image.
	Args    []string         `json:"args,omitempty"`
	Env     []Variable       `json:"env,omitempty"`
	EnvFrom []VariableSource `json:"envFrom,omitempty"`
	Files   []FileMount      `json:"files,omitempty"`
	Scratch []Scratch        `json:"scratch,omitempty"`
	// Resources are what it gets of its node beside CPUs, memory and disk.
	Resources []Resource `json:"resources,omitempty"`
	// User and Group are those of its process; nil is OwnUser on a cluster, and on one machine who started the run, or what its image names.
	User  *int64 `json:"user,omitempty"`
	Group *int64 `json:"group,omitempty"`
	// PullSecrets are the names of the Secrets with which its image is pulled.
	PullSecrets []string  `json:"pullSecrets,omitempty"`
	Readiness   Readiness `json:"readiness,omitzero"`
}

// OwnUser is the UID and GID of every measured process whose spec names none: the observer must share the server's to read its /proc. Loadstone's own
// images run as it, too.
const OwnUser = 65532

// Setting is one thing that a container gets, as it is printed.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Alike reports whether two containers make the same process: how an image is pulled, and how long a start may take, make none.
func (c Container) Alike(o Container) bool {
	c.PullSecrets, o.PullSecrets, c.Readiness.Seconds, o.Readiness.Seconds = nil, nil, 0, 0
	return reflect.DeepEqual(c, o)
}

// Settings are what is printed of a container, in a fixed order. Each has a name of its own.
func (c Container) Settings() []Setting {
	var out []Setting
	if len(c.Args) > 0 {
		out = append(out, Setting{"args", strings.Trim(fmt.Sprintf("%q", c.Args), "[]")})
	}
	for _, v := range c.Env {
		value := v.Value
		if v.From != (Object{}) {
			value = "key " + v.Key + " of " + v.From.String()
		}
		out = append(out, Setting{"env " + v.Name, value})
	}
	for _, e := range c.EnvFrom {
		out = append(out, Setting{"envFrom " + e.Kind + " " + e.Name + " as " + e.Prefix + "*", "all keys"})
	}
	for _, f := range c.Files {
		out = append(out, Setting{"files " + f.Path, f.From.String()})
	}
	for _, s := range c.Scratch {
		out = append(out, Setting{"scratch " + s.Path, fmt.Sprintf("%d MiB", s.Bytes>>20)})
	}
	for _, r := range c.Resources {
		out = append(out, Setting{"resources " + r.Name, r.Printed()})
	}
	if c.User != nil {
		out = append(out, Setting{"user", fmt.Sprint(*c.User)})
	}
	if c.Group != nil {
		out = append(out, Setting{"group", fmt.Sprint(*c.Group)})
	}
	if path := c.Readiness.Path; path != "" {
		out = append(out, Setting{"readiness.path", path})
	}
	if s := c.Readiness.Seconds; s > 0 {
		out = append(out, Setting{"readiness.timeoutSeconds", fmt.Sprint(s)})
	}
	return out
}

// Variable is an environment variable: a value, or a key of an object.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	From  Object `json:"from,omitzero"`
	// Key is what the object has the value under.
	Key string `json:"key,omitempty"`
}

// VariableSource is an object of which each key is a variable.
type VariableSource struct {
	// Kind is ConfigMap or Secret.
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Prefix string `json:"prefix,omitempty"`
}

// FileMount is an object of which each key is a file of a folder.
type FileMount struct {
	Path string `json:"path"`
	From Object `json:"from"`
}

// Object is a ConfigMap or a Secret of the run's namespace: it has the name of one of them.
type Object struct {
	ConfigMap string `json:"configMap,omitempty"`
	Secret    string `json:"secret,omitempty"`
}

// String names the object.
func (o Object) String() string {
	kind, name := o.Named()
	return kind + " " + name
}

// Scratch is an empty folder to write to.
type Scratch struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Resource is how much of a resource of its node a container gets.
type Resource struct {
	// Name is that of Kubernetes.
	Name string `json:"name"`
	// Amount is a number, or bytes of huge pages.
	Amount int64 `json:"amount"`
}

// HugePages begins the names of huge pages, whose size follows.
const HugePages = "hugepages-"

// Huge reports whether the resource is huge pages.
func (r Resource) Huge() bool { return strings.HasPrefix(r.Name, HugePages) }

// Printed is the amount with its unit.
func (r Resource) Printed() string {
	switch {
	case r.Huge() && r.Amount%(1<<20) != 0:
		return fmt.Sprintf("%d KiB", r.Amount>>10)
	case r.Huge():
		return fmt.Sprintf("%d MiB", r.Amount>>20)
	}
	return fmt.Sprint(r.Amount)
}

// Readiness is when a server counts as started.
type Readiness struct {
	// Path is asked until the answer has a status of 2xx; empty if it is enough that the server listens.
	Path string `json:"path,omitempty"`
	// Seconds is how long it may take from its start; 0 of a program, which is no server, and in records of before plans said it. Limit knows of these.
	Seconds int32 `json:"seconds,omitempty"`
}

// ReadySeconds is how long a server may take from its start until it is ready, unless its spec says otherwise.
const ReadySeconds = 30

// Limit is how long a server may take from its start until it is ready.
func (r Readiness) Limit() time.Duration {
	return time.Duration(cmp.Or(r.Seconds, ReadySeconds)) * time.Second
}

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

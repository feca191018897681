package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Container is what an implementation gets besides image and command. Objects are named, not recorded; a run knows
// the digests of ConfigMaps.
type Container struct {
	// Args follow the command or the image's entrypoint.
	Args    []string         `json:"args,omitempty"`
	Env     []Variable       `json:"env,omitempty"`
	EnvFrom []VariableSource `json:"envFrom,omitempty"`
	Files   []FileMount      `json:"files,omitempty"`
	Scratch []Scratch        `json:"scratch,omitempty"`
	// Resources are node resources other than CPUs, memory and disk.
	Resources []Resource `json:"resources,omitempty"`
	// User and Group are the process's. Nil means OwnUser on a cluster; on one machine, the user who started the run,
	// or the image's.
	User        *int64    `json:"user,omitempty"`
	Group       *int64    `json:"group,omitempty"`
	PullSecrets []string  `json:"pullSecrets,omitempty"`
	Readiness   Readiness `json:"readiness,omitzero"`
}

// OwnUser is the default UID and GID of measured processes and of Loadstone's images: the observer must share the
// server's to read its /proc.
const OwnUser = 65532

// Setting is one printed setting of a container.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Alike reports whether two containers make the same process. Pull secrets and start time limits do not matter.
func (c Container) Alike(o Container) bool {
	c.PullSecrets, o.PullSecrets, c.Readiness.Seconds, o.Readiness.Seconds = nil, nil, 0, 0
	return reflect.DeepEqual(c, o)
}

// Settings returns the printed settings in a fixed order, with unique names.
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
	Key   string `json:"key,omitempty"`
}

// VariableSource is an object whose keys become variables.
type VariableSource struct {
	// Kind is ConfigMap or Secret.
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Prefix string `json:"prefix,omitempty"`
}

// FileMount is an object whose keys become files of a folder.
type FileMount struct {
	Path string `json:"path"`
	From Object `json:"from"`
}

// Object is a ConfigMap or a Secret in the run's namespace; exactly one name is set.
type Object struct {
	ConfigMap string `json:"configMap,omitempty"`
	Secret    string `json:"secret,omitempty"`
}

// String returns kind and name.
func (o Object) String() string {
	kind, name := o.Named()
	return kind + " " + name
}

// Scratch is an empty writable folder.
type Scratch struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Resource is an amount of a node's resource.
type Resource struct {
	// Name is the Kubernetes name.
	Name string `json:"name"`
	// Amount is a number, or bytes of huge pages.
	Amount int64 `json:"amount"`
}

// HugePages is the name prefix of huge pages, followed by their size.
const HugePages = "hugepages-"

// Huge reports whether the resource is huge pages.
func (r Resource) Huge() bool { return strings.HasPrefix(r.Name, HugePages) }

// Printed returns the amount with its unit.
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
	// Path is requested until the status is 2xx; empty if an open port is enough.
	Path string `json:"path,omitempty"`
	// Seconds is the longest start; 0 for programs and in older records. Use Limit.
	Seconds int32 `json:"seconds,omitempty"`
}

// ReadySeconds is the default time limit of a start.
const ReadySeconds = 30

// Limit returns the longest time from start to ready.
func (r Readiness) Limit() time.Duration {
	return time.Duration(cmp.Or(r.Seconds, ReadySeconds)) * time.Second
}

type Dependency struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Command is the argument vector; empty means the image's own.
	Command   []string  `json:"command,omitempty"`
	Container Container `json:"container,omitzero"`
	// Port is open once it is ready; 0 if not checked.
	Port        int32 `json:"port,omitempty"`
	MilliCPU    int64 `json:"milliCPU"`
	MemoryBytes int64 `json:"memoryBytes"`
}

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

// DependencyUse is a dependency's cost in a cell.
type DependencyUse struct {
	Name     string `json:"name"`
	CPUNanos int64  `json:"cpuNanos"`
}

func (d Dependency) alike(o Dependency) bool {
	return d.Name == o.Name && d.Image == o.Image && slices.Equal(d.Command, o.Command) && d.Container.Alike(o.Container) && d.Port == o.Port &&
		d.MilliCPU == o.MilliCPU && d.MemoryBytes == o.MemoryBytes
}

// Settings returns the printed settings in a fixed order.
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

// SetAlike reports whether two implementations get the same settings, dependencies and protocol.
func (i Implementation) SetAlike(o Implementation) bool {
	return (i.TLS == nil) == (o.TLS == nil) && i.Container.Alike(o.Container) && slices.EqualFunc(i.Dependencies, o.Dependencies, Dependency.alike)
}

// DependencySeconds sums the start limits of the dependencies, which start one after another.
func (i Implementation) DependencySeconds() int32 {
	var sum int32
	for _, d := range i.Dependencies {
		sum += d.Container.Readiness.Seconds
	}
	return sum
}

package kind

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// ReadImplementation converts an implementation of a spec, without defaults.
func ReadImplementation(i v1alpha1.Implementation) record.Implementation {
	return record.Implementation{
		Name: i.Name, Image: i.Image, Command: slices.Clone(i.Command), Port: i.Port, CPUs: i.CPUs, MemoryBytes: memoryOf(i), Role: i.Role,
		Build: i.Build, Claims: Claims(i.Claims), Container: readContainer(i.ContainerSettings, i.Readiness), StopSignal: string(i.StopSignal),
		Dependencies: readDependencies(i.Dependencies), TLS: readTLS(i.TLS),
	}
}

func memoryOf(i v1alpha1.Implementation) int64 {
	if i.Memory == nil {
		return 0
	}
	return i.Memory.Value()
}

// Servers returns the implementations of a line.
func Servers(p record.Plan, line record.PlannedTrial) []record.Implementation {
	servers := make([]record.Implementation, len(line.Servers))
	for i, name := range line.Servers {
		servers[i] = p.Implementation(name)
	}
	return servers
}

// ReadPlacement converts a placement, without defaults.
func ReadPlacement(p v1alpha1.Placement) record.Placement {
	return record.Placement{Pinning: p.Pinning, GeneratorPinning: p.GeneratorPinning, SeparateNodes: p.SeparateNodes}
}

func readContainer(i v1alpha1.ContainerSettings, ready v1alpha1.Readiness) record.Container {
	c := record.Container{
		Args: slices.Clone(i.Args), User: i.User, Group: i.Group, Readiness: record.Readiness{Path: ready.Path, Seconds: ready.TimeoutSeconds},
	}
	for _, v := range i.Env {
		config, secret := v.ValueFrom.ConfigMapKeyRef, v.ValueFrom.SecretKeyRef
		own := record.Variable{Name: v.Name, From: record.Object{ConfigMap: config.Name, Secret: secret.Name}, Key: cmp.Or(config.Key, secret.Key)}
		if v.Value != nil {
			own.Value = *v.Value
		}
		c.Env = append(c.Env, own)
	}
	for _, e := range i.EnvFrom {
		c.EnvFrom = append(c.EnvFrom, record.VariableSource{Kind: string(e.Kind), Name: e.Name, Prefix: e.Prefix})
	}
	for _, f := range i.Files {
		c.Files = append(c.Files, record.FileMount{Path: f.Path, From: record.Object{ConfigMap: f.ConfigMap.Name, Secret: f.Secret.Name}})
	}
	for _, s := range i.Scratch {
		own := record.Scratch{Path: s.Path}
		if s.Size != nil {
			own.Bytes = s.Size.Value()
		}
		c.Scratch = append(c.Scratch, own)
	}
	for _, r := range i.Resources {
		own := record.Resource{Name: r.Name}
		if r.Amount != nil {
			own.Amount = r.Amount.Value()
		}
		c.Resources = append(c.Resources, own)
	}
	for _, s := range i.ImagePullSecrets {
		c.PullSecrets = append(c.PullSecrets, s.Name)
	}
	return c
}

// dependencyPrefix keeps names of dependencies apart from other processes.
const dependencyPrefix = "dep-"

func readDependencies(list []v1alpha1.Dependency) []record.Dependency {
	var out []record.Dependency
	for _, d := range list {
		own := record.Dependency{
			Name: d.Name, Image: d.Image, Command: slices.Clone(d.Command), Container: readContainer(d.ContainerSettings, d.Readiness), Port: d.Port,
		}
		if d.CPU != nil {
			own.MilliCPU = d.CPU.MilliValue()
		}
		if d.Memory != nil {
			own.MemoryBytes = d.Memory.Value()
		}
		out = append(out, own)
	}
	return out
}

// Dependencies returns a server's dependencies as processes, in starting order.
func Dependencies(own record.Implementation) []Process {
	var out []Process
	for _, d := range own.Dependencies {
		out = append(out, Process{
			Name: dependencyPrefix + d.Name, Image: d.Image, Command: d.Command, Container: d.Container, Port: d.Port,
			Dependency: d.Name, MilliCPU: d.MilliCPU, MemoryBytes: d.MemoryBytes,
		})
	}
	return out
}

// ReadRequest converts a request of a spec.
func ReadRequest(r v1alpha1.Request) record.Request {
	out := record.Request{
		Method: r.Method, Path: r.Path, Body: r.Body,
		Expect: record.Expect{Status: r.Expect.Status, Body: r.Expect.Body, AnyBody: r.Expect.Bodies == v1alpha1.BodiesAny},
	}
	if from := r.BodyFrom; from != (v1alpha1.BodySource{}) {
		out.From = &record.BodySource{ConfigMap: from.ConfigMap, Key: from.Key}
	}
	if r.Method == record.MethodGet {
		out.Method = ""
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, record.Header{Name: h.Name, Value: h.Value})
	}
	return out
}

// readTLS returns nil for a server without TLS.
func readTLS(t v1alpha1.TLS) *record.TLS {
	if t == (v1alpha1.TLS{}) {
		return nil
	}
	return &record.TLS{CA: t.CA, ServerName: t.ServerName}
}

// TLS returns each server's TLS settings, nil for one without; empty if none has any.
func TLS(servers []record.Implementation) []*record.TLS {
	out, some := make([]*record.TLS, len(servers)), false
	for i, own := range servers {
		out[i], some = own.TLS, some || own.TLS != nil
	}
	if !some {
		return nil
	}
	return out
}

// TLSArgs returns the arguments that tell a server's agent of TLS. It verifies nothing; the generators' check does.
func TLSArgs(own record.Implementation) []string {
	if own.TLS == nil {
		return nil
	}
	return []string{"--tls"}
}

// Claims converts claims for a plan.
func Claims(list []v1alpha1.Claim) []record.Claim {
	var out []record.Claim
	for _, c := range list {
		own := record.Claim{Subject: c.Subject, Value: c.Value, Path: c.Path, Absent: c.Presence == v1alpha1.PresenceAbsent}
		if own.Subject == record.ClaimResponse {
			own.Path = cmp.Or(own.Path, "/")
		}
		out = append(out, own)
	}
	return out
}

// SymbolArgs returns the arguments that tell an agent which symbols claims name.
func SymbolArgs(list []record.Claim) []string {
	var args []string
	for _, c := range list {
		if c.Subject == record.ClaimSymbol {
			args = append(args, "--symbol="+c.Value)
		}
	}
	return args
}

// ReplyArgs returns the arguments that tell an observer which answers claims concern.
func ReplyArgs(list []record.Claim) []string {
	var args []string
	for _, c := range list {
		if c.Subject == record.ClaimResponse {
			args = append(args, "--reply="+c.Path+" "+c.Value)
		}
	}
	return args
}

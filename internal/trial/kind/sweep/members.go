package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// ObserverMilliCPU is a fraction of a CPU, so the observer runs on the node's shared CPUs and never on the
	// server's.
	ObserverMilliCPU = 200
	// DuetMilliCPU is the request of each server of a duet: a fraction without a limit, so neither gets its own CPU
	// or a quota. Two such servers with observers request as much as one server that owns its CPU.
	DuetMilliCPU = 400
	// sharedMilliCPU is a generator's request per CPU that it need not own: little, so several fit, and without a
	// limit, so none is throttled.
	sharedMilliCPU = 100

	observerMemory = 64 << 20
	// agentMemory is a generator's memory besides its tool.
	agentMemory = 192 << 20
)

const (
	// ProcessServer runs an implementation, ProcessObserver watches it, ProcessGenerator makes load.
	ProcessServer    = "server"
	ProcessObserver  = "observer"
	ProcessGenerator = "generator"
)

// Members implements kind.Work: generators, then servers.
func (s Sweep) Members() []kind.Member {
	var members []kind.Member
	for i := range s.Generators.Pods {
		members = append(members, s.generator(int(i)))
	}
	for i := range s.Implementations {
		members = append(members, s.server(i))
	}
	return members
}

// server returns a server with its observer. It owns whole CPUs; a duet's servers share one, set by their observers,
// and the second runs on the first one's node.
func (s Sweep) server(index int) kind.Member {
	own := s.Implementations[index]
	m := kind.Member{Name: record.MemberServer(index), Role: v1alpha1.RoleServer, Processes: []kind.Process{
		{
			Name: ProcessServer, Image: own.Image, Command: own.Command, Container: own.Container, Port: own.Port, MilliCPU: int64(own.CPUs) * 1000, MemoryBytes: own.MemoryBytes,
		},
		{
			Name: ProcessObserver, Args: slices.Concat(s.observerArgs(own), kind.SymbolArgs(own.Claims), kind.ReplyArgs(own.Claims)),
			MilliCPU: ObserverMilliCPU, MemoryBytes: observerMemory,
		},
	}}
	m.Processes = append(m.Processes, kind.Dependencies(own)...)
	if s.Duet() {
		m.Processes[0].MilliCPU, m.Processes[0].CPU = DuetMilliCPU, kind.Unlimited
		m.Words = kind.Words{CPUs: "spec.order is SlicedDuet: its two servers need", Way: "choose spec.order Blocks"}
	}
	if index > 0 {
		m.With = record.MemberServer(0)
	}
	return m
}

// observerArgs uses HTTP/2 if all loads do, since the server may speak nothing else.
func (s Sweep) observerArgs(own record.Implementation) []string {
	args := append([]string{"observe", "--port=" + strconv.Itoa(int(own.Port))}, kind.TLSArgs(own)...)
	if len(s.Cells) > 0 && !slices.ContainsFunc(s.Cells, func(c record.Cell) bool { return c.Protocol() != record.HTTP2 }) {
		args = append(args, "--http2")
	}
	if path := own.Container.Readiness.Path; path != "" {
		args = append(args, "--ready-path="+path)
	}
	for _, d := range own.Dependencies {
		args = append(args, "--dependency="+d.Name)
	}
	return args
}

// generator returns a load generator, whose agent runs the tool. It owns its CPUs unless the placement allows
// otherwise.
func (s Sweep) generator(index int) kind.Member {
	own := s.Generators
	m := kind.Member{
		Name: record.MemberGenerator(index), Role: v1alpha1.RoleGenerator, Apart: s.Placement.SeparateNodes,
		Processes: []kind.Process{{
			Name: ProcessGenerator, Args: []string{"generate"}, MilliCPU: int64(own.CPUs) * 1000, MemoryBytes: s.generatorMemory(),
		}},
		Words: kind.Words{
			CPUs:   fmt.Sprintf("spec.loads[].generators.cpus is %d: its pod needs", own.CPUs),
			Number: fmt.Sprintf("spec.loads[].generators.pods is %d", own.Pods),
			Way:    "let them share CPUs with spec.placement.generatorPinning: Preferred",
		},
	}
	if s.Placement.GeneratorPinning == record.Preferred {
		m.Processes[0].MilliCPU, m.Processes[0].CPU, m.Words.Way = int64(own.CPUs)*sharedMilliCPU, kind.Unlimited, ""
	}
	return m
}

// generatorMemory returns the need of the largest cell, for all servers that the generator loads at once.
func (s Sweep) generatorMemory() int64 {
	var most int64
	for _, c := range s.Cells {
		most = max(most, int64(timetable.Servers(c))*tools.Needs(timetable.Share(c, 0)).MemoryBytes)
	}
	return agentMemory + most
}

// Decode implements kind.Kind. Missing members leave empty records.
func (Kind) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if n := len(into.Manifest.Servers); n < 1 || n > record.MaxServers {
		return fmt.Errorf("its trial has %d servers: want 1 to %d", n, record.MaxServers)
	}
	into.Servers = make([]record.ObserverResult, len(into.Manifest.Servers))
	for _, member := range slices.Sorted(maps.Keys(results)) {
		read := decodeGenerator
		if record.IsServer(member) {
			read = decodeServer
		}
		if err := read(member, results[member], into); err != nil {
			return fmt.Errorf("reading the result of %s: %w", member, err)
		}
	}
	return nil
}

func decodeServer(member string, result json.RawMessage, into *record.TrialData) error {
	i, err := record.ServerIndex(member)
	if err != nil {
		return err
	}
	if i >= len(into.Servers) {
		return fmt.Errorf("the trial has %d servers", len(into.Servers))
	}
	return json.Unmarshal(result, &into.Servers[i])
}

func decodeGenerator(member string, result json.RawMessage, into *record.TrialData) error {
	i, err := record.GeneratorIndex(member)
	if err != nil {
		return err
	}
	into.Generators = append(into.Generators, make([]record.GeneratorResult, max(i+1-len(into.Generators), 0))...)
	return json.Unmarshal(result, &into.Generators[i])
}

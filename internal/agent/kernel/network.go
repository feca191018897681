package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"loadstone.dev/loadstone/internal/record"
)

// Network reads a network namespace's counters. Containers of a pod share one, so other containers' traffic is included.
type Network struct {
	// netstat is nil if it cannot be read.
	snmp, sockstat, netstat *File
}

// OpenNetwork opens the counters in a folder such as /proc/self/net.
func OpenNetwork(dir string) (*Network, error) {
	snmp, err := Open(filepath.Join(dir, "snmp"))
	if err != nil {
		return nil, fmt.Errorf("opening the counters of the network: %w", err)
	}
	sockstat, err := Open(filepath.Join(dir, "sockstat"))
	if err != nil {
		snmp.Close()
		return nil, fmt.Errorf("opening the counters of the network: %w", err)
	}
	netstat, _ := Open(filepath.Join(dir, "netstat")) // Unreadable handshakes are reported where they are needed.
	return &Network{snmp: snmp, sockstat: sockstat, netstat: netstat}, nil
}

// Close closes all files; nil is allowed.
func (n *Network) Close() {
	if n != nil {
		n.snmp.Close()
		n.sockstat.Close()
		n.netstat.Close()
	}
}

const (
	activeOpens  = "ActiveOpens"
	passiveOpens = "PassiveOpens"
	segmentsOut  = "OutSegs"
	retransmits  = "RetransSegs"
)

const (
	listenOverflows = "ListenOverflows"
	listenDrops     = "ListenDrops"
	synRetransmits  = "TCPSynRetrans"
)

const (
	linesTCP    = "Tcp: "
	linesTCPExt = "TcpExt: "
)

// Read returns the current counters.
func (n *Network) Read() (record.Network, error) {
	var all record.Network
	text, err := n.snmp.Read()
	if err != nil {
		return all, err
	}
	for name, into := range map[string]*int64{
		activeOpens: &all.ActiveOpens, passiveOpens: &all.PassiveOpens, segmentsOut: &all.SegmentsOut, retransmits: &all.Retransmits,
	} {
		value, ok := counterIn(text, linesTCP, name)
		if !ok {
			return all, fmt.Errorf("reading %s of the network: %w", name, ErrNoNumber)
		}
		*into = value
	}
	all.Handshakes = n.handshakes()
	if text, err = n.sockstat.Read(); err != nil {
		return all, err
	}
	var ok bool
	if all.TimeWait, ok = timeWait(text); !ok {
		return all, fmt.Errorf("reading the sockets in TIME_WAIT: %w", ErrNoNumber)
	}
	return all, nil
}

// handshakes returns the handshake counters; nil if any cannot be read.
func (n *Network) handshakes() *record.Handshakes {
	if n.netstat == nil {
		return nil
	}
	text, err := n.netstat.Read()
	if err != nil {
		return nil
	}
	var h record.Handshakes
	for name, into := range map[string]*int64{
		listenOverflows: &h.ListenOverflows, listenDrops: &h.ListenDrops, synRetransmits: &h.SynRetransmits,
	} {
		value, ok := counterIn(text, linesTCPExt, name)
		if !ok {
			return nil
		}
		*into = value
	}
	return &h
}

// ActiveOpens returns the number of connections opened so far.
func (n *Network) ActiveOpens() (int64, error) { return n.counter(activeOpens) }

// SegmentsOut returns the number of TCP segments sent so far.
func (n *Network) SegmentsOut() (int64, error) { return n.counter(segmentsOut) }

func (n *Network) counter(name string) (int64, error) {
	if n == nil {
		return 0, ErrNoNumber
	}
	text, err := n.snmp.Read()
	if err != nil {
		return 0, err
	}
	value, ok := counterIn(text, linesTCP, name)
	if !ok {
		return 0, ErrNoNumber
	}
	return value, nil
}

// Traffic returns the difference of two readings, with the TIME_WAIT sockets of the second.
func Traffic(before, after record.Network) record.Network {
	n := record.Network{
		ActiveOpens:  after.ActiveOpens - before.ActiveOpens,
		PassiveOpens: after.PassiveOpens - before.PassiveOpens,
		SegmentsOut:  after.SegmentsOut - before.SegmentsOut,
		Retransmits:  after.Retransmits - before.Retransmits,
		TimeWait:     after.TimeWait,
	}
	if a, b := before.Handshakes, after.Handshakes; a != nil && b != nil {
		n.Handshakes = &record.Handshakes{
			ListenOverflows: b.ListenOverflows - a.ListenOverflows,
			ListenDrops:     b.ListenDrops - a.ListenDrops,
			SynRetransmits:  b.SynRetransmits - a.SynRetransmits,
		}
	}
	return n
}

// ErrNoHandshakes: the kernel does not report failures while connections are opened.
var ErrNoHandshakes = errors.New("/proc/net/netstat does not list them")

// counterIn finds a counter in /proc/net/snmp or netstat: a line of names after the protocol, then a line of values.
func counterIn(text []byte, protocol, name string) (int64, bool) {
	begin := []byte(protocol)
	var names []byte
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		l, ok := bytes.CutPrefix(l, begin)
		switch {
		case !ok:
		case names == nil:
			names = l
		default:
			return columnNamed(names, l, name)
		}
	}
	return 0, false
}

func columnNamed(names, values []byte, name string) (int64, bool) {
	for len(names) > 0 && len(values) > 0 {
		n, restNames, _ := bytes.Cut(names, []byte{' '})
		v, restValues, _ := bytes.Cut(values, []byte{' '})
		if string(n) == name {
			return number(v)
		}
		names, values = restNames, restValues
	}
	return 0, false
}

// timeWait finds the TIME_WAIT sockets in /proc/net/sockstat: "TCP: inuse 2 orphan 0 tw 7 alloc 4 mem 1".
func timeWait(text []byte) (int64, bool) {
	for len(text) > 0 {
		l, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		l, ok := bytes.CutPrefix(l, []byte("TCP:"))
		if !ok {
			continue
		}
		_, value, found := bytes.Cut(l, []byte(" tw "))
		if !found {
			return 0, false
		}
		return number(value)
	}
	return 0, false
}

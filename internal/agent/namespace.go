package agent

import (
	"bytes"
	"fmt"
	"path/filepath"

	"loadstone.dev/loadstone/internal/record"
)

// namespace reads what a network namespace counts. A pod's containers share one; what another process of the pod sends is in
// the counters too.
type namespace struct {
	// snmp and sockstat are the files of these names.
	snmp, sockstat *counterFile
}

// openNamespace opens the counters in a folder such as /proc/self/net.
func openNamespace(dir string) (*namespace, error) {
	snmp, err := openCounter(filepath.Join(dir, "snmp"))
	if err != nil {
		return nil, fmt.Errorf("opening the counters of the network: %w", err)
	}
	sockstat, err := openCounter(filepath.Join(dir, "sockstat"))
	if err != nil {
		snmp.close()
		return nil, fmt.Errorf("opening the counters of the network: %w", err)
	}
	return &namespace{snmp: snmp, sockstat: sockstat}, nil
}

func (n *namespace) close() {
	if n != nil {
		n.snmp.close()
		n.sockstat.close()
	}
}

// Names of counters in /proc/net/snmp.
const (
	activeOpens  = "ActiveOpens"
	passiveOpens = "PassiveOpens"
	segmentsOut  = "OutSegs"
	retransmits  = "RetransSegs"
)

// read is every counter as it stands.
func (n *namespace) read() (record.Network, error) {
	var all record.Network
	text, err := n.snmp.read()
	if err != nil {
		return all, err
	}
	for name, into := range map[string]*int64{
		activeOpens: &all.ActiveOpens, passiveOpens: &all.PassiveOpens, segmentsOut: &all.SegmentsOut, retransmits: &all.Retransmits,
	} {
		value, ok := tcpCounter(text, name)
		if !ok {
			return all, fmt.Errorf("reading %s of the network: %w", name, errNoNumber)
		}
		*into = value
	}
	if text, err = n.sockstat.read(); err != nil {
		return all, err
	}
	var ok bool
	if all.TimeWait, ok = timeWait(text); !ok {
		return all, fmt.Errorf("reading the sockets in TIME_WAIT: %w", errNoNumber)
	}
	return all, nil
}

// counter is one counter of TCP as it stands.
func (n *namespace) counter(name string) (int64, error) {
	if n == nil {
		return 0, errNoNumber
	}
	text, err := n.snmp.read()
	if err != nil {
		return 0, err
	}
	value, ok := tcpCounter(text, name)
	if !ok {
		return 0, errNoNumber
	}
	return value, nil
}

// between is what was counted between two readings, with the sockets in TIME_WAIT of the second.
func between(before, after record.Network) record.Network {
	return record.Network{
		ActiveOpens:  after.ActiveOpens - before.ActiveOpens,
		PassiveOpens: after.PassiveOpens - before.PassiveOpens,
		SegmentsOut:  after.SegmentsOut - before.SegmentsOut,
		Retransmits:  after.Retransmits - before.Retransmits,
		TimeWait:     after.TimeWait,
	}
}

// tcpCounter finds a counter in the text of /proc/net/snmp: a line of names that begins with "Tcp:", then one of values.
func tcpCounter(text []byte, name string) (int64, bool) {
	begin := []byte("Tcp: ")
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

// columnNamed is the number that stands in the values where the name stands in the names.
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

// timeWait finds the number of sockets in TIME_WAIT in the text of /proc/net/sockstat: "TCP: inuse 2 orphan 0 tw 7 alloc 4 mem 1".
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

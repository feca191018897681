package record

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxGenerators bounds the index of a generator, as the API bounds generators.pods.
const MaxGenerators = 16

// MaxServers bounds the index of a server: a trial has one, and a duet two.
const MaxServers = 2

const (
	serverPrefix    = "server-"
	generatorPrefix = "generator-"
)

// MemberServer is the name of a trial's server as one of its members, such as "server-0".
func MemberServer(index int) string { return serverPrefix + strconv.Itoa(index) }

// MemberGenerator is the name of a trial's generator as one of its members, such as "generator-3".
func MemberGenerator(index int) string { return generatorPrefix + strconv.Itoa(index) }

// ServerIndex is the place of a server among those of its trial, from 0.
func ServerIndex(member string) (int, error) {
	return indexOf(member, serverPrefix, MaxServers)
}

// GeneratorIndex is the place of a generator among those of its trial, from 0.
func GeneratorIndex(member string) (int, error) {
	return indexOf(member, generatorPrefix, MaxGenerators)
}

// IsServer reports whether a member of a trial is a server.
func IsServer(member string) bool { return strings.HasPrefix(member, serverPrefix) }

func indexOf(member, prefix string, bound int) (int, error) {
	text, ok := strings.CutPrefix(member, prefix)
	i, err := strconv.Atoi(text)
	if !ok || err != nil || i < 0 || i >= bound || member != prefix+strconv.Itoa(i) {
		return 0, fmt.Errorf("%q is no member of a trial: want %s0 to %s%d", member, prefix, prefix, bound-1)
	}
	return i, nil
}

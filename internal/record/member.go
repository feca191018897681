package record

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxGenerators bounds a generator's index, as the API bounds generators.pods.
const MaxGenerators = 16

// MaxServers is the most servers of a trial (a duet).
const MaxServers = 2

const (
	serverPrefix    = "server-"
	generatorPrefix = "generator-"
)

// MemberServer returns a server's member name, such as "server-0".
func MemberServer(index int) string { return serverPrefix + strconv.Itoa(index) }

// MemberGenerator returns a generator's member name, such as "generator-3".
func MemberGenerator(index int) string { return generatorPrefix + strconv.Itoa(index) }

// ServerIndex returns a server's index in its trial.
func ServerIndex(member string) (int, error) {
	return indexOf(member, serverPrefix, MaxServers)
}

// GeneratorIndex returns a generator's index in its trial.
func GeneratorIndex(member string) (int, error) {
	return indexOf(member, generatorPrefix, MaxGenerators)
}

// IsServer reports whether a member is a server.
func IsServer(member string) bool { return strings.HasPrefix(member, serverPrefix) }

func indexOf(member, prefix string, bound int) (int, error) {
	text, ok := strings.CutPrefix(member, prefix)
	i, err := strconv.Atoi(text)
	if !ok || err != nil || i < 0 || i >= bound || member != prefix+strconv.Itoa(i) {
		return 0, fmt.Errorf("%q is no member of a trial: want %s0 to %s%d", member, prefix, prefix, bound-1)
	}
	return i, nil
}

package record_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestServerIndexIsThePlaceAmongTheServers(t *testing.T) {
	for name, tc := range map[string]struct {
		member string
		want   int
		ok     bool
	}{
		"the only server":          {"server-0", 0, true},
		"the second of a duet":     {"server-1", 1, true},
		"a third":                  {"server-2", 0, false},
		"one below 0":              {"server--1", 0, false},
		"no number":                {"server-", 0, false},
		"a number and more":        {"server-1x", 0, false},
		"a fraction":               {"server-0.5", 0, false},
		"a generator":              {"generator-0", 0, false},
		"the role alone":           {"server", 0, false},
		"nothing":                  {"", 0, false},
		"more than a number holds": {"server-99999999999999999999", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := record.ServerIndex(tc.member); got != tc.want || (err == nil) != tc.ok {
				t.Errorf("%q is server %d, %v; want %d, ok %v", tc.member, got, err, tc.want, tc.ok)
			}
		})
	}
}

func TestEveryMemberHasTheIndexThatItsNameWasMadeOf(t *testing.T) {
	for i := range record.MaxServers {
		member := record.MemberServer(i)
		if got, err := record.ServerIndex(member); err != nil || got != i || !record.IsServer(member) {
			t.Errorf("%s is server %d, %v", member, got, err)
		}
		if _, err := record.GeneratorIndex(member); err == nil {
			t.Errorf("%s is taken for a generator", member)
		}
	}
	for i := range record.MaxGenerators {
		member := record.MemberGenerator(i)
		if got, err := record.GeneratorIndex(member); err != nil || got != i || record.IsServer(member) {
			t.Errorf("%s is generator %d, %v", member, got, err)
		}
		if _, err := record.ServerIndex(member); err == nil {
			t.Errorf("%s is taken for a server", member)
		}
	}
}

// Two names of one member would give one file two keys.
func TestAMemberHasOneNameOnly(t *testing.T) {
	for _, member := range []string{"server-+1", "server-01", "server-00", "server-1 "} {
		if i, err := record.ServerIndex(member); err == nil {
			t.Errorf("%q is taken for server %d", member, i)
		}
	}
	for _, member := range []string{"generator-+3", "generator-03", "generator--0"} {
		if i, err := record.GeneratorIndex(member); err == nil {
			t.Errorf("%q is taken for generator %d", member, i)
		}
	}
}

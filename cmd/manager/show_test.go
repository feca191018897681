package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/ui/server"
)

func TestSettingsOfThePages(t *testing.T) {
	usual := server.Shared{System: "system", Addr: ":8080", Probes: ":8081"}
	for name, tc := range map[string]struct {
		args     []string
		change   func(*server.Shared)
		wantFail string
	}{
		"defaults": {args: nil, change: func(*server.Shared) {}},
		"all that can be set": {
			args: []string{"--listen=:1", "--probes=:2", "--namespaces=team-b,team-a", "--hosts=pages.example.com,pages", "--log-level=warn"},
			change: func(s *server.Shared) {
				s.Addr, s.Probes, s.Led, s.Hosts = ":1", ":2", namespaces.Led{"system", "team-a", "team-b"}, []string{"pages.example.com", "pages"}
			},
		},
		"a namespace that is none":    {args: []string{"--namespaces=Team"}, wantFail: `reading -namespaces (chart value runs.namespaces): "Team" is not the name of a namespace`},
		"a host with a scheme":        {args: []string{"--hosts=https://pages.example.com"}, wantFail: `reading -hosts (chart value ui.hosts): "https://pages.example.com" is not the name of a host`},
		"a host with a port":          {args: []string{"--hosts=pages.example.com:80"}, wantFail: "without scheme and port"},
		"no namespace":                {args: []string{"--namespace="}, wantFail: "-namespace is empty: set it"},
		"an argument that is no flag": {args: []string{"now"}, wantFail: "usage: manager show"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseShow(append([]string{"--namespace=system"}, slices.Clone(tc.args)...))
			if tc.wantFail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantFail) {
					t.Errorf("got %v, want %q", err, tc.wantFail)
				}
				return
			}
			want := usual
			tc.change(&want)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

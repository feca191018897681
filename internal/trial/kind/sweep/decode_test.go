package sweep_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// decoded has results of members, each with its own node name.
func decoded(servers int, members ...string) (record.TrialData, error) {
	d := record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Servers: make([]string, servers)}}}
	results := map[string]json.RawMessage{}
	for _, member := range members {
		results[member] = json.RawMessage(`{"environment": {"node": "of ` + member + `"}}`)
	}
	err := sweep.Kind{}.Decode(results, &d)
	return d, err
}

func TestResultsLieInThePlacesOfTheirMembers(t *testing.T) {
	for name, tc := range map[string]struct {
		servers    int
		members    []string
		wantServer []string
		wantMakers []string
	}{
		"one of each":              {1, []string{"server-0", "generator-0"}, []string{"of server-0"}, []string{"of generator-0"}},
		"a duet, the last first":   {2, []string{"server-1", "server-0", "generator-0"}, []string{"of server-0", "of server-1"}, []string{"of generator-0"}},
		"a server without results": {2, []string{"server-1"}, []string{"", "of server-1"}, nil},
		"a generator without":      {1, []string{"server-0", "generator-2", "generator-0"}, []string{"of server-0"}, []string{"of generator-0", "", "of generator-2"}},
		"more than ten generators": {1, []string{"generator-2", "generator-10"}, []string{""}, []string{"", "", "of generator-2", "", "", "", "", "", "", "", "of generator-10"}},
		"no results at all":        {1, nil, []string{""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decoded(tc.servers, tc.members...)
			if err != nil {
				t.Fatal(err)
			}
			var servers, makers []string
			for _, s := range got.Servers {
				servers = append(servers, s.Environment.Node)
			}
			for _, g := range got.Generators {
				makers = append(makers, g.Environment.Node)
			}
			if diff := cmp.Diff(tc.wantServer, servers) + cmp.Diff(tc.wantMakers, makers); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultsThatContradictTheirTrialAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		servers int
		member  string
	}{
		"a trial of no server":          {0, "generator-0"},
		"a trial of three":              {3, "server-0"},
		"a second server of one":        {1, "server-1"},
		"a third server":                {2, "server-2"},
		"a generator beyond the API's":  {1, "generator-16"},
		"a member of no role":           {1, "observer-0"},
		"a member without a name":       {1, ""},
		"a member by a second name":     {1, "server-00"},
		"a member whose number is less": {1, "server--1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decoded(tc.servers, tc.member); err == nil || tc.servers == 1 && !strings.Contains(err.Error(), tc.member) {
				t.Errorf("got %v, want an error that names %q", err, tc.member)
			}
		})
	}
	for _, text := range []string{"", "[]", "{", `{"cells": 5}`} {
		for _, member := range []string{"server-0", "generator-0"} {
			d := record.TrialData{Manifest: record.TrialManifest{PlannedTrial: record.PlannedTrial{Servers: []string{"go"}}}}
			err := sweep.Kind{}.Decode(map[string]json.RawMessage{member: json.RawMessage(text)}, &d)
			if err == nil || !strings.Contains(err.Error(), member) {
				t.Errorf("%s has the result %q: %v, want an error that names it", member, text, err)
			}
		}
	}
}

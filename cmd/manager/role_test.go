package main

import (
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestAStoreIsOpenedByAKeyOrByARole(t *testing.T) {
	for name, tc := range map[string]struct {
		args     []string
		key      bool
		token    string
		wantFail string
	}{
		"a role":                  {args: []string{"-s3-by-role"}},
		"a role, and a key":       {args: []string{"-s3-by-role"}, key: true, wantFail: "set one of them (chart values s3.byRole and s3.existingSecret)"},
		"a role, and a drawn key": {args: []string{"-s3-by-role", "-s3-generate-secret=own"}, wantFail: "set one of them"},
		"neither":                 {wantFail: "is empty: set it"},
		"an STS for a token":      {args: []string{"-s3-by-role", "-s3-sts-endpoint=https://sts.example"}, token: "/var/run/token"},
		"an STS without a token":  {args: []string{"-s3-by-role", "-s3-sts-endpoint=https://sts.example"}, wantFail: "mount a token of the service account"},
		"an STS beside a key":     {args: []string{"-s3-sts-endpoint=https://sts.example"}, key: true, wantFail: "-s3-sts-endpoint is set without -s3-by-role"},
		"a key that is drawn":     {args: []string{"-s3-generate-secret=own"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.key {
				environment(t)
			} else {
				environment(t, artifact.AccessKeyVariable, artifact.SecretKeyVariable)
			}
			t.Setenv(artifact.TokenFileVariable, tc.token)
			o, err := parse(append(slices.Clone(needed), tc.args...))
			if tc.wantFail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantFail) {
					t.Errorf("got %v, want %q", err, tc.wantFail)
				}
				return
			}
			if err != nil || o.store.ByRole != slices.Contains(tc.args, "-s3-by-role") {
				t.Errorf("got %+v, %v", o.store, err)
			}
		})
	}
}

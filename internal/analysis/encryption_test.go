package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestWhatServersHaveAgreedOnIsListedByClient(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(3))
	name, changed := d.Manifest.Plan.Implementations[0].Name, false
	for i, trial := range d.Trials {
		if trial.Manifest.Servers[0] != name {
			continue
		}
		cipher := "TLS_AES_256_GCM_SHA384"
		if !changed {
			cipher, changed = "TLS_CHACHA20_POLY1305_SHA256", true
		}
		d.Trials[i].Generators[0].Encryption = []record.Encryption{
			{Client: record.ClientCheck, Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", Key: "RSA 2048", Verified: true},
			{Client: "wrk", Version: "TLS 1.3", Cipher: cipher},
			{Client: "wrk", Server: 7, Version: "of nobody"},
		}
	}
	table := analyse(t, d)
	want := []environment.Agreed{
		{Implementation: name, Client: "check", Values: []environment.Value{{Value: "TLS 1.3 TLS_AES_128_GCM_SHA256", Trials: 3}}},
		{Implementation: name, Client: "wrk", Values: []environment.Value{{Value: "TLS 1.3 TLS_AES_256_GCM_SHA384", Trials: 2}, {Value: "TLS 1.3 TLS_CHACHA20_POLY1305_SHA256", Trials: 1}}},
	}
	if diff := cmp.Diff(want, table.Encryption); diff != "" {
		t.Errorf("encryption (-want +got):\n%s", diff)
	}
	facts := map[environment.Key]environment.Fact{}
	for _, f := range table.Environment {
		if f.Implementation == name {
			facts[f.Key] = f
		}
	}
	if f := facts[environment.TLS]; !f.Differs || len(f.Values) != 2 || f.Values[0].Value != "check: TLS 1.3 TLS_AES_128_GCM_SHA256, wrk: TLS 1.3 TLS_AES_256_GCM_SHA384" {
		t.Errorf("the trials of one implementation that do not agree are told as %+v", f)
	}
	if f := facts[environment.Certificate]; f.Differs || f.Values[0].Value != "RSA 2048, verified by ca" {
		t.Errorf("the certificate is told as %+v", f)
	}
}

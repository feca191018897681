package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/page"
)

func TestOnlySettingsThatDifferAreListed(t *testing.T) {
	user := int64(1000)
	both := record.Variable{Name: "MODE", Value: "fast"}
	first := record.Container{Args: []string{"--workers", "4"}, Env: []record.Variable{both}, User: &user}
	second := record.Container{Env: []record.Variable{both, {Name: "KEY", From: record.Object{Secret: "db"}, Key: "password"}}, User: &user}
	got := shown(analysis.Table{Implementations: []planned.Implementation{{Name: "a", Settings: first.Settings()}, {Name: "b", Settings: second.Settings()}}}).settings()
	want := [][]string{{"args", `"--workers" "4"`, "not set"}, {"env KEY", "not set", "key password of Secret db"}}
	if diff := cmp.Diff(want, texts(got.Data.(page.Extra).Table)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	same := shown(analysis.Table{Implementations: []planned.Implementation{{Name: "a", Settings: first.Settings()}, {Name: "b", Settings: first.Settings()}}}).settings()
	if same.Data != nil {
		t.Errorf("what is the same for all is listed: %v", same.Data)
	}
}

func TestWhatWasAgreedOnIsListedWhereItDiffers(t *testing.T) {
	old, modern := environment.Value{Value: "TLS 1.2 A", Trials: 2}, environment.Value{Value: "TLS 1.3 B", Trials: 1}
	list := []environment.Agreed{
		{Implementation: "a", Client: "check", Values: []environment.Value{modern}},
		{Implementation: "a", Client: "wrk", Values: []environment.Value{old, modern}},
		{Implementation: "b", Client: "check", Values: []environment.Value{modern}},
		{Implementation: "b", Client: "wrk", Values: []environment.Value{modern}},
	}
	both := []planned.Implementation{{Name: "a"}, {Name: "b"}}
	got := shown(analysis.Table{Implementations: both, Encryption: list}).settings()
	if diff := cmp.Diff([][]string{{"TLS with wrk", "TLS 1.2 A, TLS 1.3 B", "TLS 1.3 B"}}, texts(got.Data.(page.Extra).Table)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	got = shown(analysis.Table{Implementations: both, Encryption: list[2:]}).settings()
	want := [][]string{{"TLS with check", "none", "TLS 1.3 B"}, {"TLS with wrk", "none", "TLS 1.3 B"}}
	if diff := cmp.Diff(want, texts(got.Data.(page.Extra).Table)); diff != "" {
		t.Errorf("rows beside plain HTTP (-want +got):\n%s", diff)
	}
	if same := shown(analysis.Table{Implementations: both[1:], Encryption: list[2:]}).settings(); same.Data != nil {
		t.Errorf("what is the same for all is listed: %v", same.Data)
	}
}

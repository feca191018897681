package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/planned"
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

package ui

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestSharedPagesStateTheirAudience(t *testing.T) {
	ended := run("quick", 60, succeeds)
	for name, tc := range map[string]struct {
		led  []string
		want string
	}{
		"all namespaces":   {nil, "You see what is measured in all namespaces, as everybody does"},
		"one namespace":    {[]string{"a"}, "You see what is measured in namespace a, as everybody does"},
		"three namespaces": {[]string{"a", "b", "c"}, "You see what is measured in the namespaces a, b and c, as everybody does"},
	} {
		f := frame()
		f.Shared, f.Led = true, tc.led
		for _, p := range []Page{Queue(f, nil, nil), Runs(f, []v1alpha1.BenchmarkRun{ended}, ""), Suites(f, nil)} {
			if text := string(html(t, p)); !strings.Contains(text, tc.want) || !strings.Contains(text, "they have no login") {
				t.Errorf("%s: the page %s does not say so:\n%s", name, p.Title, text)
			}
		}
	}
	f := frame()
	f.Shared = true
	if text := string(html(t, Run(f, &ended, Trials{}, "reports/0123/report.html"))); strings.Contains(text, "to those who may") || !strings.Contains(text, "Open the report by itself</a>.") {
		t.Errorf("whoever may not get the run reads that the report is not for them:\n%s", text)
	}
}

func TestPartialQueueHasNoPlaces(t *testing.T) {
	now, next := run("now", 20, measures("3m20s")), run("next", 10, queued("7m0s"))
	f := frame()
	f.Shared, f.Led = true, []string{"bench", "gone"}
	places := func(f Frame) string {
		return string(html(t, Queue(f, []v1alpha1.BenchmarkRun{now, next}, map[types.UID]Trials{})))
	}
	if text := places(f); !strings.Contains(text, `<td data-label="Place">1</td>`) {
		t.Errorf("a queue that is known has no places:\n%s", text)
	}
	f.Partial = true
	if text := places(f); !strings.Contains(text, `<td data-label="Place">–</td>`) || !strings.Contains(text, "nobody who does not see all of them knows a place") {
		t.Errorf("a queue of which a part is known has places:\n%s", text)
	}
	if text := string(html(t, Queue(f, []v1alpha1.BenchmarkRun{run("quick", 60, succeeds)}, nil))); !strings.Contains(text, "No run of the namespaces that can be read measures") {
		t.Errorf("a queue of which a part is known is called empty:\n%s", text)
	}
}

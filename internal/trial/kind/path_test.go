package kind_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestAPathThatClientsRewriteIsRefusedWithTheWayToWriteIt(t *testing.T) {
	const rewritten = ", which clients would send in different forms: "
	for path, want := range map[string]string{
		"":                     "",
		"/":                    "",
		"/a?b=c&d=/e?":         "",
		"/a?":                  "",
		"//a":                  "",
		"/a%20b/%C3%BC?q=%2F":  "",
		"/a;b=c,d:e@f!$'()*+":  "",
		"//a[x]/../%c3?r=~[]'": "",
		"/a#b":                 "write /a%23b",
		"/items/{id}":          "write /items/%7Bid%7D",
		"/a|b":                 "write /a%7Cb",
		"/a%zz":                "write /a%25zz",
		"/a%":                  "write /a%25",
		"/a%20{":               "write /a%20%7B",
		`/a"<>\^` + "`":        "write /a%22%3C%3E%5C%5E%60",
	} {
		t.Run(path, func(t *testing.T) {
			v := kind.CheckPath("spec.loads[0].request.path", path)
			if want == "" && v != nil || want != "" && (v == nil || v.Message != "spec.loads[0].request.path is "+path+rewritten+want) {
				t.Errorf("got %v, want %q", v, want)
			}
		})
	}
}

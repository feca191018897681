package protocol

import (
	"strings"
	"testing"
)

func TestAStateThatNoAgentWouldGiveIsRefused(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for name, tc := range map[string]struct {
		files []File
		want  string
	}{
		"files of an agent":            {[]File{{Name: "result.json", SHA256: digest}, {Name: "sweep-10.wrk.txt", SHA256: digest}}, ""},
		"a folder":                     {[]File{{Name: "cell-00/wrk.txt", SHA256: digest}}, "as no agent would"},
		"a manifest":                   {[]File{{Name: "manifest.json", SHA256: digest}}, "only the operator may store"},
		"a report":                     {[]File{{Name: "REPORT.html", SHA256: digest}}, "only the operator may store"},
		"no digest":                    {[]File{{Name: "a"}}, "the digest"},
		"a way out of the folder":      {[]File{{Name: "../other/result.json", SHA256: digest}}, "as no agent would"},
		"a way out in the middle":      {[]File{{Name: "a/../../b", SHA256: digest}}, "as no agent would"},
		"an absolute path":             {[]File{{Name: "/etc/passwd", SHA256: digest}}, "as no agent would"},
		"a line break":                 {[]File{{Name: "a\nb", SHA256: digest}}, "as no agent would"},
		"a name twice":                 {[]File{{Name: "a", SHA256: digest}, {Name: "a", SHA256: digest}}, "twice"},
		"a digest that is none":        {[]File{{Name: "a", SHA256: "x"}}, "the digest"},
		"a size below zero":            {[]File{{Name: "a", SHA256: digest, Bytes: -1}}, "by -1 bytes"},
		"more files than an agent has": {make([]File, maxFiles+1), "no agent holds more than"},
	} {
		t.Run(name, func(t *testing.T) {
			err := State{Files: tc.files}.Check()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

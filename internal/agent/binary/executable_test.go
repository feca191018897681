package binary

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

func TestAnInterpreterNamesItsScript(t *testing.T) {
	for name, tc := range map[string]struct {
		executable, args, want string
	}{
		"a server":                  {"/usr/bin/server", "server\x00file\x00", ""},
		"a shell":                   {"/bin/dash", "sh\x00/serve.sh\x00--port\x008080\x00", "/serve.sh"},
		"a version":                 {"/usr/bin/python3.11", "python3\x00-u\x00app.py\x00", "app.py"},
		"a program on the command":  {"/bin/bash", "bash\x00-c\x00while true; do :; done\x00", "an inline program"},
		"nothing but flags":         {"/usr/bin/node", "node\x00--inspect\x00", "unknown"},
		"no arguments at all":       {"/usr/bin/perl", "", "unknown"},
		"a longer name than a path": {"/bin/sh", "sh\x00" + strings.Repeat("x", 500) + "\x00", strings.Repeat("x", maxScript)},
	} {
		t.Run(name, func(t *testing.T) {
			proc := kernel.Proc(kerneltest.Proc(t, map[string]string{"7/cmdline": tc.args}))
			if got := script(proc, 7, tc.executable); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := script(kernel.Proc(t.TempDir()), 7, "/bin/sh"); got != record.Unknown {
		t.Errorf("a shell without a command line runs %q", got)
	}
}

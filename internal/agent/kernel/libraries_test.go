package kernel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
)

func TestTheLibrariesOfAProcessAreItsMappedFiles(t *testing.T) {
	const maps = `55d0-55d1 r--p 00000000 fe:01 12    /srv/my.so.server/program
7f00-7f01 r--p 00000000 fe:01 13    /lib/x86_64-linux-gnu/libc.so.6
7f01-7f02 r-xp 00001000 fe:01 13    /lib/x86_64-linux-gnu/libc.so.6
7f02-7f03 rw-p 00000000 00:00 0
7f03-7f04 r--p 00000000 fe:01 14    /opt/my libraries/plugin.so (deleted)
7ffe-7fff r-xp 00000000 00:00 0     [vdso]
`
	got, err := kernel.Proc(kerneltest.Proc(t, map[string]string{"7/maps": maps})).Libraries(7)
	if diff := cmp.Diff([]string{"/lib/x86_64-linux-gnu/libc.so.6", "/opt/my libraries/plugin.so"}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestAProcessThatIsGoneHasNoLibraries(t *testing.T) {
	if got, err := kernel.Proc(t.TempDir()).Libraries(7); err == nil {
		t.Errorf("got %q", got)
	}
}

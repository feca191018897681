package program

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/memcheck"
)

// leaky is a server that handles one request at a time, loses 64 bytes per answer and calls getppid once.
const leaky = `
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void end(int s) { (void)s; exit(0); }
static int answer(int c)
{
	char in[4096];
	if (read(c, in, sizeof in) <= 0)
		return 0;
	char *lost = malloc(64);
	memset(lost, getppid() > 0, 64);
	static const char out[] = "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nhello from /path";
	return lost[0] && write(c, out, sizeof out - 1) > 0;
}
int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	signal(SIGTERM, end);
	signal(SIGPIPE, SIG_IGN);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	a.sin_port = htons((unsigned short)atoi(argv[argc - 1]));
	a.sin_addr.s_addr = inet_addr(argv[argc - 2]);
	if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 16))
		return 1;
	for (;;) {
		int c = accept(s, NULL, NULL);
		while (c >= 0 && answer(c))
			;
		close(c);
	}
}
`

// built makes the toolbox in a monitor's folder and the leaky server; it skips the test if that is impossible.
func built(t *testing.T, toolbox string) (server string) {
	t.Helper()
	for _, tool := range []string{"gcc", "valgrind", "strace", "readelf", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the toolbox cannot be made: %v", err)
		}
	}
	server = filepath.Join(t.TempDir(), "leaky")
	source := server + ".c"
	if err := os.WriteFile(source, []byte(leaky), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(toolbox); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"../../../hack/profile/toolbox.sh", toolbox}, {"gcc", "-O1", "-g", "-fno-builtin", "-march=x86-64", "-o", server, source}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", argv[0], err, out)
		}
	}
	return server
}

// A server answers under a real profiler, is stopped, and leaves the profiler's files.
func TestAServerIsProfiledByTheRealTools(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	for tool, check := range map[profiler.Tool]func(*testing.T, profiler.Result, profiler.Result){
		profiler.Strace: func(t *testing.T, fewer, more profiler.Result) {
			t.Helper()
			// A request costs a read, a write and a getppid. The end of a launch may interrupt a call or two.
			if each, err := profiler.PerRequest(fewer, more); err != nil || math.Abs(each-3) > 0.5 {
				t.Errorf("a request costs %v system calls, %v; want about 3", each, err)
			}
		},
		profiler.PerfStat: func(t *testing.T, fewer, more profiler.Result) {
			t.Helper()
			// Available counters differ by machine; the kernel's accounting is always there. So few requests may cost less than the difference
			// of two starts.
			if _, known := profiler.EachOf("task-clock", fewer, more); !known || len(more.Counters) < 9 {
				t.Errorf("what a request has of the CPU is not known by the counters %+v", more.Counters)
			}
		},
		profiler.Callgrind: func(t *testing.T, fewer, more profiler.Result) {
			t.Helper()
			if each, err := profiler.PerRequest(fewer, more); err != nil || each < 50 || each > 50_000 || len(more.Costs.Self) == 0 {
				t.Errorf("a request costs %v instructions, %v", each, err)
			}
		},
		profiler.Memcheck: func(t *testing.T, only, _ profiler.Result) {
			t.Helper()
			// The last lost block may still be referenced from a register.
			v, lost := only.Memcheck.Verdicts, only.Memcheck.LeaksByKind()[memcheck.DefinitelyLost].Blocks
			if v.Errors.Answer != profiler.Clean || v.Leaks.Answer != profiler.Found || lost < only.Requests-2 || lost > only.Requests {
				t.Errorf("of %d requests, memcheck says %+v and finds %+v", only.Requests, v, only.Memcheck.Leaks)
			}
		},
	} {
		t.Run(string(tool), func(t *testing.T) {
			t.Parallel()
			m := monitoring(t, tool, "")
			server := built(t, m.x.Path(profiler.ToolboxFolder))
			address := somewhere(t)
			host, port, _ := strings.Cut(address, ":")
			got, files := m.profile(t, aMinute*10, address, server, host, port)
			if want := len(m.task.Counts()); len(got.Launches) != want || got.Cut != "" || got.Tool != tool {
				t.Fatalf("%d launches under %s, cut %q", len(got.Launches), got.Tool, got.Cut)
			}
			for i, l := range got.Launches {
				if l.Wrong != 0 || l.Killed || l.Exit.Code != 0 || len(l.Unread) != 0 || l.Requests != m.task.Counts()[i]+1 {
					t.Errorf("launch %d: %+v, unread %+v, said %q, example %q", i, tellings(got.Launches[i:i+1]), l.Unread, l.Said, l.Example)
				}
			}
			if len(files) == 0 {
				t.Error("no file is kept")
			}
			check(t, got.Launches[0].Result, got.Launches[len(got.Launches)-1].Result)
		})
	}
}

package profile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profile"
)

func folders() profile.Folders { return profile.Folders{Toolbox: "/opt/tools", Output: "/opt/out"} }

func TestTheCommandStaysAsItIsBehindItsProfiler(t *testing.T) {
	argv := []string{"/srv/server", "--port", "80", "a b"}
	for tool, want := range map[profile.Tool]string{
		profile.Memcheck: "/opt/tools/valgrind/launcher --tool=memcheck --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --leak-check=full --show-leak-kinds=all " +
			"--track-origins=yes --child-silent-after-fork=yes --xml=yes --xml-file=/opt/out/memcheck.%p.xml --xtree-memory=full " +
			"--xtree-memory-file=/opt/out/heap.%p.xtree",
		profile.Massif: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --stacks=yes --massif-out-file=/opt/out/massif.%p.out",
		profile.MassifHeap: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --massif-out-file=/opt/out/massif.%p.out",
		profile.MassifPages: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --pages-as-heap=yes --massif-out-file=/opt/out/massif.%p.out",
		profile.Callgrind: "/opt/tools/valgrind/launcher --tool=callgrind --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --callgrind-out-file=/opt/out/callgrind.%p.out",
		profile.Cachegrind: "/opt/tools/valgrind/launcher --tool=cachegrind --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --cache-sim=no --cachegrind-out-file=/opt/out/cachegrind.%p.out",
		profile.Strace: "/opt/tools/lib/loader --library-path /opt/tools/lib /opt/tools/bin/strace -c -f -S name -o /opt/out/strace.txt --",
		profile.PerfStat: "/opt/tools/lib/loader --library-path /opt/tools/lib /opt/tools/bin/perf stat -x, -o /opt/out/perf-stat.csv " +
			"-e task-clock,context-switches,cpu-migrations,page-faults,instructions,cycles,branches,branch-misses,cache-misses --",
	} {
		t.Run(string(tool), func(t *testing.T) {
			w, err := profile.Command(tool, folders(), argv)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.Argv[:len(w.Argv)-len(argv)], " "); got != want {
				t.Errorf("before the command stands\n%s\nwant\n%s", got, want)
			}
			if !slices.Equal(w.Argv[len(w.Argv)-len(argv):], argv) || len(w.Outputs) == 0 {
				t.Errorf("argv %q, outputs %q", w.Argv, w.Outputs)
			}
		})
	}
}

func TestWhatCannotBeWrappedIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		tool    profile.Tool
		folders profile.Folders
		argv    []string
		want    error
	}{
		"no command":                   {profile.Memcheck, folders(), nil, profile.ErrNoCommand},
		"a command of nothing":         {profile.Strace, folders(), []string{""}, profile.ErrNoCommand},
		"a relative folder":            {profile.Memcheck, profile.Folders{Toolbox: "tools", Output: "/out"}, []string{"x"}, profile.ErrFolder},
		"a folder with a percent sign": {profile.Memcheck, profile.Folders{Toolbox: "/tools", Output: "/%p"}, []string{"x"}, profile.ErrFolder},
		"an unknown tool":              {"gdb", folders(), []string{"x"}, profile.ErrTool},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := profile.Command(tc.tool, tc.folders, tc.argv); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestEveryToolNeedsMemoryOfItsOwn(t *testing.T) {
	const own = 64 << 20
	for _, tool := range profile.Tools {
		if got := profile.MemoryBytes(tool, own); got < own+32<<20 || got > 1<<30 {
			t.Errorf("under %s, a program of %d bytes needs %d", tool, own, got)
		}
	}
	if profile.MemoryBytes("", own) != own {
		t.Error("without a tool, a program needs something else")
	}
}

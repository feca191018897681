package profiler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
)

func folders() profiler.Folders { return profiler.Folders{Toolbox: "/opt/tools", Output: "/opt/out"} }

func TestTheCommandStaysAsItIsBehindItsProfiler(t *testing.T) {
	argv := []string{"/srv/server", "--port", "80", "a b"}
	for tool, want := range map[profiler.Tool]string{
		profiler.Memcheck: "/opt/tools/valgrind/launcher --tool=memcheck --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --leak-check=full --show-leak-kinds=all " +
			"--track-origins=yes --child-silent-after-fork=yes --xml=yes --xml-file=/opt/out/memcheck.%p.xml --xtree-memory=full " +
			"--xtree-memory-file=/opt/out/heap.%p.xtree",
		profiler.Massif: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --stacks=yes --massif-out-file=/opt/out/massif.%p.out",
		profiler.MassifHeap: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --massif-out-file=/opt/out/massif.%p.out",
		profiler.MassifPages: "/opt/tools/valgrind/launcher --tool=massif --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --pages-as-heap=yes --massif-out-file=/opt/out/massif.%p.out",
		profiler.Callgrind: "/opt/tools/valgrind/launcher --tool=callgrind --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --callgrind-out-file=/opt/out/callgrind.%p.out",
		profiler.Cachegrind: "/opt/tools/valgrind/launcher --tool=cachegrind --vgdb=no --trace-children=yes --num-callers=30 " +
			"--extra-debuginfo-path=/opt/tools/debug --log-file=/opt/out/valgrind.%p.log --cache-sim=no --cachegrind-out-file=/opt/out/cachegrind.%p.out",
		profiler.Strace:   "/opt/tools/lib/loader --library-path /opt/tools/lib /opt/tools/bin/strace -c -f -S name -o /opt/out/strace.txt --",
		profiler.PerfStat: "",
	} {
		t.Run(string(tool), func(t *testing.T) {
			w, err := profiler.Command(tool, folders(), argv)
			if err != nil {
				t.Fatal(err)
			}
			if (w.Counters != "") != (tool == profiler.PerfStat) {
				t.Errorf("its parent writes counters into %q", w.Counters)
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

func TestWithoutAToolboxWhatIsInstalledIsTaken(t *testing.T) {
	for tool, want := range map[profiler.Tool]string{
		profiler.Callgrind: "valgrind --tool=callgrind --vgdb=no --trace-children=yes --num-callers=30 --log-file=/opt/out/valgrind.%p.log --callgrind-out-file=/opt/out/callgrind.%p.out /srv/server",
		profiler.Strace:    "strace -c -f -S name -o /opt/out/strace.txt -- /srv/server",
		profiler.PerfStat:  "/srv/server",
	} {
		w, err := profiler.Command(tool, profiler.Folders{Output: "/opt/out"}, []string{"/srv/server"})
		if got := strings.Join(w.Argv, " "); err != nil || got != want {
			t.Errorf("%s is started as %q, %v, want %q", tool, got, err, want)
		}
		if name := tool.Program(); name != "" && name != w.Argv[0] {
			t.Errorf("%s is the program %q, and %q is started", tool, name, w.Argv[0])
		}
	}
}

func TestWhatCannotBeWrappedIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		tool    profiler.Tool
		folders profiler.Folders
		argv    []string
		want    error
	}{
		"no command":                   {profiler.Memcheck, folders(), nil, profiler.ErrNoCommand},
		"a command of nothing":         {profiler.Strace, folders(), []string{""}, profiler.ErrNoCommand},
		"a relative folder":            {profiler.Memcheck, profiler.Folders{Toolbox: "tools", Output: "/out"}, []string{"x"}, profiler.ErrFolder},
		"a folder with a percent sign": {profiler.Memcheck, profiler.Folders{Toolbox: "/tools", Output: "/%p"}, []string{"x"}, profiler.ErrFolder},
		"an unknown tool":              {"gdb", folders(), []string{"x"}, profiler.ErrTool},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := profiler.Command(tc.tool, tc.folders, tc.argv); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestEveryToolNeedsMemoryOfItsOwn(t *testing.T) {
	const own = 64 << 20
	for _, tool := range profiler.Tools {
		if got := profiler.MemoryBytes(tool, own); got < own+32<<20 || got > 1<<30 {
			t.Errorf("under %s, a program of %d bytes needs %d", tool, own, got)
		}
	}
	if profiler.MemoryBytes("", own) != own {
		t.Error("without a tool, a program needs something else")
	}
}

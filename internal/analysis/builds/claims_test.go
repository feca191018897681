package builds_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
)

func TestClaimsAreCheckedByWhatWasRead(t *testing.T) {
	for name, tc := range map[string]struct {
		subject record.ClaimSubject
		value   string
		binary  record.Binary
		want    record.Truth
		by      string
	}{
		"the allocator of the file":               {record.ClaimAllocator, "GLIBC", record.Binary{Allocator: "glibc", AllocatorBy: "it imports malloc"}, record.Yes, "it imports malloc"},
		"another allocator":                       {record.ClaimAllocator, "mimalloc", record.Binary{Allocator: "glibc"}, record.No, "glibc"},
		"an allocator put before all others":      {record.ClaimAllocator, "mimalloc", record.Binary{Allocator: "glibc", Loaded: []string{"/usr/lib/libmimalloc.so.2"}}, record.Yes, "/usr/lib/libmimalloc.so.2"},
		"an allocator that hides":                 {record.ClaimAllocator, "glibc", record.Binary{Allocator: record.Unknown, AllocatorBy: "it is stripped"}, record.Unknown, "it is stripped"},
		"a compiler":                              {record.ClaimCompiler, "GNU C17 12", record.Binary{Compilers: []string{"GNU AS 2.40", "GNU C17 12.2.0"}}, record.Yes, "GNU C17 12.2.0"},
		"another compiler":                        {record.ClaimCompiler, "clang", record.Binary{Compilers: []string{"GNU C17 12.2.0"}}, record.No, "GNU C17 12.2.0"},
		"gcc, whose start files clang links":      {record.ClaimCompiler, "GCC", record.Binary{Compilers: []string{"GCC: (Debian 12.2.0) 12.2.0", "Debian clang version 14.0.6"}}, record.Unknown, "start files"},
		"gcc alone":                               {record.ClaimCompiler, "GCC", record.Binary{Compilers: []string{"GCC: (Debian 12.2.0) 12.2.0"}}, record.Yes, "GCC: (Debian"},
		"no compiler":                             {record.ClaimCompiler, "clang", record.Binary{}, record.Unknown, "no compiler"},
		"more compilers than are recorded":        {record.ClaimCompiler, "clang", record.Binary{Compilers: make([]string, 16)}, record.Unknown, "16"},
		"a flag":                                  {record.ClaimFlag, "-O2", record.Binary{Flags: []string{"-O0 -O2 -g", "-O2"}}, record.Yes, "-O0 -O2 -g"},
		"a flag that a later one undoes":          {record.ClaimFlag, "-O2", record.Binary{Flags: []string{"-O2 -O3"}}, record.No, "-O2 -O3"},
		"a flag that is taken back":               {record.ClaimFlag, "-fpie", record.Binary{Flags: []string{"-fpie -fno-pie"}}, record.No, ""},
		"a flag with another value":               {record.ClaimFlag, "-march=x86-64", record.Binary{Flags: []string{"-march=x86-64 -march=haswell"}}, record.No, ""},
		"sanitizers, which add up":                {record.ClaimFlag, "-fsanitize=address", record.Binary{Flags: []string{"-fsanitize=address -fsanitize=undefined"}}, record.Yes, ""},
		"a flag of some parts":                    {record.ClaimFlag, "-O2", record.Binary{Flags: []string{"-O2", "-O0"}}, record.Unknown, "1 of 2"},
		"no flags":                                {record.ClaimFlag, "-O2", record.Binary{}, record.Unknown, "-frecord-gcc-switches"},
		"a flag that nobody records":              {record.ClaimFlag, "-DNDEBUG", record.Binary{Flags: []string{"-O2"}}, record.Unknown, "do not record"},
		"the processor that it was built on":      {record.ClaimFlag, "-march=native", record.Binary{Flags: []string{"-march=haswell"}}, record.Unknown, "do not record"},
		"a patch release of Go":                   {record.ClaimGoVersion, "1.26", record.Binary{Go: &record.GoBuild{Version: "go1.26.1"}}, record.Yes, "go1.26.1"},
		"an exact release of Go":                  {record.ClaimGoVersion, "go1.26.1", record.Binary{Go: &record.GoBuild{Version: "go1.26.1"}}, record.Yes, ""},
		"a release with the same beginning":       {record.ClaimGoVersion, "1.2", record.Binary{Go: &record.GoBuild{Version: "go1.26.1"}}, record.No, "go1.26.1"},
		"Go, of a program in C":                   {record.ClaimGoVersion, "1.26", record.Binary{}, record.No, "no build information"},
		"a setting of Go":                         {record.ClaimGoSetting, "CGO_ENABLED=0", record.Binary{Go: &record.GoBuild{Settings: []string{"CGO_ENABLED=0"}}}, record.Yes, ""},
		"a setting of Go that is otherwise":       {record.ClaimGoSetting, "CGO_ENABLED=0", record.Binary{Go: &record.GoBuild{Settings: []string{"CGO_ENABLED=1"}}}, record.No, "CGO_ENABLED=1"},
		"a setting that is not there":             {record.ClaimGoSetting, "-race=true", record.Binary{Go: &record.GoBuild{Settings: []string{"CGO_ENABLED=1"}}}, record.No, "no -race"},
		"no settings":                             {record.ClaimGoSetting, "-race=true", record.Binary{Go: &record.GoBuild{}}, record.Unknown, ""},
		"a setting of a program in C":             {record.ClaimGoSetting, "-race=true", record.Binary{}, record.No, ""},
		"a library that the file needs":           {record.ClaimLibrary, "libuv", record.Binary{Libraries: []string{"libuv.so.1"}}, record.Yes, "needs libuv.so.1"},
		"a library of another library":            {record.ClaimLibrary, "libcrypto.so.3", record.Binary{Loaded: []string{"/lib/libcrypto.so.3"}}, record.Yes, "had loaded /lib/libcrypto.so.3"},
		"a library with the same beginning":       {record.ClaimLibrary, "libc", record.Binary{Loaded: []string{"/lib/libcrypto.so.3"}}, record.No, "not among the 1 libraries"},
		"a library that may be loaded":            {record.ClaimLibrary, "libuv", record.Binary{Libraries: []string{"libc.so.6"}}, record.Unknown, "not all libraries"},
		"a library of a static file":              {record.ClaimLibrary, "libuv", record.Binary{Build: record.Build{Static: record.Fact{Is: record.Yes}}}, record.No, "static"},
		"a property":                              {record.ClaimProperty, "static", record.Binary{Build: record.Build{Static: record.Fact{Is: record.Yes, By: "it names neither"}}}, record.Yes, "it names neither"},
		"a property that nobody knows":            {record.ClaimProperty, "fast", record.Binary{}, record.Unknown, "not a known property"},
		"a symbol":                                {record.ClaimSymbol, "main", record.Binary{Symbols: []record.Symbol{{Name: "main", There: record.Fact{Is: record.Yes, By: "its table"}}}}, record.Yes, "its table"},
		"a symbol that nobody has looked for":     {record.ClaimSymbol, "main", record.Binary{}, record.Unknown, "was not looked up"},
		"a subject that nobody knows":             {"Colour", "red", record.Binary{}, record.Unknown, "Colour"},
		"a file that was not read":                {record.ClaimSymbol, "main", record.Binary{Unknown: "permission denied"}, record.Unknown, "permission denied"},
		"the interpreter in place of the program": {record.ClaimAllocator, "glibc", record.Binary{Script: "server.py", Allocator: "glibc"}, record.Unknown, "interpreter"},
	} {
		t.Run(name, func(t *testing.T) {
			got := builds.CheckClaim(record.Claim{Subject: tc.subject, Value: tc.value}, &tc.binary, nil)
			if got.Is != tc.want || got.By == "" && tc.by != "" || !strings.Contains(got.By, tc.by) {
				t.Errorf("got %+v, want %s by %q", got, tc.want, tc.by)
			}
		})
	}
}

func TestAClaimAboutAFileThatNobodyHasReadIsOpen(t *testing.T) {
	if got := builds.CheckClaim(record.Claim{Subject: record.ClaimSymbol, Value: "main"}, nil, nil); got.Is != record.Unknown {
		t.Errorf("got %+v", got)
	}
}

func TestEveryPropertyIsKnown(t *testing.T) {
	fact := record.Fact{Is: record.Yes, By: "it was read"}
	b := record.Binary{
		Build:   record.Build{Optimized: fact, DebugInfo: fact, Coverage: fact, Sanitizers: fact, Assertions: fact, Stripped: fact, PIE: fact, Static: fact},
		BindNow: fact, StackProtector: fact, StackClash: fact, Fortify: fact, BranchTargets: fact, ShadowStack: fact,
	}
	const all = "assertions bindNow branchTargets coverage debugInfo fortify optimized pie sanitizers shadowStack stackClash stackProtector static stripped"
	for value := range strings.FieldsSeq(all) {
		if got := builds.CheckClaim(record.Claim{Subject: record.ClaimProperty, Value: value}, &b, nil); got != fact {
			t.Errorf("%s: got %+v", value, got)
		}
	}
}

func TestAClaimAboutAnAnswerGoesByAllTrials(t *testing.T) {
	reply := func(is record.Truth) record.Reply {
		return record.Reply{Path: "/version", Text: "1.2", There: record.Fact{Is: is, By: "GET /version was answered"}}
	}
	late := reply(record.No)
	late.There.By = "GET /version was answered later"
	other := reply(record.No)
	other.Path = "/health"
	for name, tc := range map[string]struct {
		replies []record.Reply
		want    record.Fact
	}{
		"nobody has asked":        {[]record.Reply{other}, record.Fact{Is: record.Unknown, By: "no server was asked for /version"}},
		"one trial has asked":     {[]record.Reply{reply(record.Yes), other}, record.Fact{Is: record.Yes, By: "in one trial GET /version was answered"}},
		"all trials see it":       {[]record.Reply{reply(record.Yes), reply(record.Yes)}, record.Fact{Is: record.Yes, By: "in 2 trials: GET /version was answered"}},
		"no trial sees it":        {[]record.Reply{reply(record.No), reply(record.No)}, record.Fact{Is: record.No, By: "in 2 trials: GET /version was answered"}},
		"no trial can tell":       {[]record.Reply{reply(record.Unknown)}, record.Fact{Is: record.Unknown, By: "in one trial GET /version was answered"}},
		"the trials do not agree": {[]record.Reply{reply(record.Yes), reply(record.No)}, record.Fact{Is: record.Unknown, By: "the trials do not agree: in one trial GET /version was answered; in one trial GET /version was answered"}},
		"one trial cannot tell":   {[]record.Reply{reply(record.Yes), reply(record.Unknown), reply(record.Yes)}, record.Fact{Is: record.Yes, By: "in 2 trials: GET /version was answered; in one trial GET /version was answered"}},
		"the answers differ":      {[]record.Reply{reply(record.No), late}, record.Fact{Is: record.No, By: "in 2 trials; in the first: GET /version was answered"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := builds.CheckClaim(record.Claim{Subject: record.ClaimResponse, Value: "1.2", Path: "/version"}, nil, tc.replies); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

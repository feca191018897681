package report_test

import (
	unescape "html"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// A failed profile is a sentence in the report, next to the measurements.
func TestAProfileThatGoesWrongIsASentence(t *testing.T) {
	good := recorded(profiler.Callgrind, 200, map[string]string{"callgrind.7.out": "callgrind/testdata/planted.out"})
	stubborn, late, garbled := good, good, recorded(profiler.Callgrind, 200, map[string]string{"callgrind.7.out": "testdata/strace/clean.txt", "callgrind.8.out": "callgrind/testdata/planted.out"})
	stubborn.Killed = true
	late.TimedOut = true
	unknown := recorded(profiler.Callgrind, 200, map[string]string{"callgrind.7.out": "callgrind/testdata/planted.out", "valgrind.7.log": "testdata/messages/illegal.log"})
	for name, tc := range map[string]struct {
		launches []record.Launch
		cut      string
		want     string
		kept     string
	}{
		"an unknown instruction":                {[]record.Launch{unknown}, "", "valgrind does not know the instruction at 0x109129 (0x62 0xF1", "checksum"},
		"another architecture":                  {nil, "it was not launched: /srv is a program for arm64, and the node's CPUs are x86-64", "is a program for arm64", "0 launches"},
		"a server that ignores its stop signal": {[]record.Launch{stubborn}, "", "1 launch did not end when it was told to, and was killed", "checksum"},
		"a profile that outlasts its limit": {
			[]record.Launch{late},
			"limitSeconds 300 was over after 40 of 200 requests of launch 2 of 6: raise it, or lower requests",
			"limitSeconds 300 was over after 40 of 200 requests of launch 2 of 6", "checksum",
		},
		"garbage": {[]record.Launch{garbled}, "", "callgrind.7.out: reading ", "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			d := recordtest.Run(recordtest.Duel(3))
			profile(&d, "costs", profiler.Callgrind, nil, &record.Profiled{Tool: profiler.Callgrind, Launches: tc.launches, Cut: tc.cut}, nil)
			section := unescape.UnescapeString(profilesSection(t, d))
			for what, words := range map[string]string{"the sentence": tc.want, "what was measured": tc.kept} {
				if !strings.Contains(section, words) {
					t.Errorf("%s, %q, is not told", what, words)
				}
			}
		})
	}
}

package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func withBuilds(change func(implementation string, block int32, seen *record.ObserverResult)) record.RunData {
	o := recordtest.Duel(3)
	o.Levels = []int32{10}
	d := recordtest.Run(o)
	for i := range d.Trials {
		t := &d.Trials[i]
		t.Servers[0].Binary = &record.Binary{Bytes: 100, SHA256: "same"}
		change(t.Manifest.Servers[0], t.Manifest.Block, &t.Servers[0])
	}
	return d
}

func analysed(t *testing.T, d record.RunData) analysis.Table {
	t.Helper()
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func buildFact(b *builds.Builds, key builds.Key) *builds.Fact {
	i := slices.IndexFunc(b.Facts, func(f builds.Fact) bool { return f.Key == key })
	if i < 0 {
		return nil
	}
	return &b.Facts[i]
}

func TestARunWhoseServersNobodyReadHasNoBuilds(t *testing.T) {
	if got := analysed(t, recordtest.Run(recordtest.Duel(1))).Builds; got != nil {
		t.Errorf("got %+v", got)
	}
}

func TestServersAreDescribedBeforeAnyLoad(t *testing.T) {
	d := withBuilds(func(name string, block int32, seen *record.ObserverResult) {
		if name != "go" {
			return
		}
		seen.StartUp = &record.StartUp{Millis: int64(block) * 100, ResolutionMillis: 40, AtMost: block == 2, AnswerMillis: int64(block-1) * 150, AnswerAtMost: block == 2}
		seen.IdleBytes = int64(block) << 20
		if block == 3 {
			seen.Binary.SHA256, seen.Binary.Bytes = "other", 999
		}
	})
	b := analysed(t, d).Builds
	want := builds.AtRest{
		Implementation: "go", StartUpMillis: &builds.Spread{N: 3, Median: 200, Min: 100, Max: 300}, ResolutionMillis: 40, AtMost: 1,
		AnswerMillis: &builds.Spread{N: 2, Median: 225, Min: 150, Max: 300}, AnswersAtMost: 1,
		IdleBytes: &builds.Spread{N: 3, Median: 2 << 20, Min: 1 << 20, Max: 3 << 20}, Binaries: 2,
	}
	if diff := cmp.Diff(want, b.AtRest[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := buildFact(b, builds.Bytes).Values[0].Value; got != "100" {
		t.Errorf("the binary of most trials has 100 bytes, and %s are shown", got)
	}
	if b.AtRest[1].StartUpMillis != nil || b.AtRest[1].IdleBytes != nil || b.AtRest[1].Binaries != 1 {
		t.Errorf("of the other one is known %+v", b.AtRest[1])
	}
}

func TestFactsDifferOnlyIfBothAreKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		own, other record.Truth
		want       bool
		note       string
	}{
		"both have it":        {record.Yes, record.Yes, false, ""},
		"one has it":          {record.Yes, record.No, true, "coverage is no in go-slow (by) and yes in go (by)"},
		"one does not say":    {record.Yes, record.Unknown, false, ""},
		"neither says":        {record.Unknown, record.Unknown, false, ""},
		"an older agent's is": {record.Yes, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := analysed(t, withBuilds(func(server string, _ int32, seen *record.ObserverResult) {
				seen.Binary.Build.Coverage = record.Fact{Is: tc.other, By: "by"}
				if server == "go" {
					seen.Binary.Build.Coverage.Is = tc.own
				}
				seen.Binary.Path = "/" + server
			}))
			if got := buildFact(table.Builds, builds.Coverage); got.Differs != tc.want {
				t.Errorf("got %+v", got)
			}
			if got := buildFact(table.Builds, builds.Path); got.Differs {
				t.Error("that two files have two names is no difference")
			}
			if notes := strings.Join(table.Run.Notes, "\n"); strings.Contains(notes, "built differently") != (tc.note != "") || !strings.Contains(notes, tc.note) {
				t.Errorf("the notes are:\n%s", notes)
			}
		})
	}
}

func TestAnExpectationThatNoFileAnswersIsNoted(t *testing.T) {
	d := withBuilds(func(_ string, _ int32, seen *record.ObserverResult) {
		seen.Binary.Build.Optimized = record.Fact{Is: record.Unknown, By: "it is stripped"}
		seen.Binary.Build.PIE = record.Fact{Is: record.Yes}
	})
	d.Manifest.Plan.Implementations[0].Build = record.Expectations{Optimized: record.ExpectRequired, PIE: record.ExpectRequired}
	const want = "implementations[go].build.optimized: Required could not be checked: it is stripped"
	notes := analysed(t, d).Run.Notes
	if !slices.Contains(notes, want) || strings.Contains(strings.Join(notes, "\n"), "build.pie") {
		t.Errorf("the notes are:\n%s", strings.Join(notes, "\n"))
	}
}

func TestWhatWeighsInABuildIsNoted(t *testing.T) {
	for name, set := range map[string]func(*record.Build, record.Fact){
		"optimisation": func(b *record.Build, f record.Fact) { b.Optimized = f },
		"assertions":   func(b *record.Build, f record.Fact) { b.Assertions = f },
		"sanitizers":   func(b *record.Build, f record.Fact) { b.Sanitizers = f },
		"coverage":     func(b *record.Build, f record.Fact) { b.Coverage = f },
	} {
		t.Run(name, func(t *testing.T) {
			d := withBuilds(func(server string, _ int32, seen *record.ObserverResult) {
				own := record.Fact{Is: record.No, By: "a flag"}
				if server == "go" {
					own = record.Fact{Is: record.Yes, By: "a symbol"}
				}
				set(&seen.Binary.Build, own)
				seen.Binary.Build.Stripped = own // It weighs nothing.
			})
			notes := strings.Join(analysed(t, d).Run.Notes, "\n")
			want := "go-slow and go were built differently: " + name + " is no in go-slow (a flag) and yes in go (a symbol)"
			if !strings.Contains(notes, want) || strings.Count(notes, "built differently") != 2 { // The limit differs as well.
				t.Errorf("the notes are:\n%s\nwant %s", notes, want)
			}
		})
	}
}

func TestNobodyDiffersFromABaselineThatWasNotRead(t *testing.T) {
	table := analysed(t, withBuilds(func(server string, _ int32, seen *record.ObserverResult) {
		seen.Binary.Build.Optimized = record.Fact{Is: record.Yes}
		switch server {
		case "go":
			seen.Binary = nil
		case "go-slow":
			seen.Binary.Build.Optimized.Is = record.No
		}
	}))
	if got := table.Builds.Implementations; !slices.Equal(got, []string{"go-slow", "epoll"}) {
		t.Errorf("the builds are of %q", got)
	}
	if notes := strings.Join(table.Run.Notes, "\n"); strings.Contains(notes, "built differently") {
		t.Errorf("the notes are:\n%s", notes)
	}
	if got := buildFact(table.Builds, builds.Optimized); !got.Differs || len(got.Values) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestAFactThatNoBinaryHasIsLeftOut(t *testing.T) {
	b := analysed(t, withBuilds(func(server string, _ int32, seen *record.ObserverResult) {
		if server == "go-slow" {
			seen.Binary.Go = &record.GoBuild{Version: "go1.25.1", Path: "example.com/slow", Settings: []string{"-trimpath=true", "CGO_ENABLED=0"}}
		}
	})).Builds
	if got := buildFact(b, builds.RELRO); got != nil {
		t.Errorf("nobody knows %+v", got)
	}
	want := &builds.Fact{Key: builds.Go, Values: []builds.Value{{}, {Value: "go1.25.1", By: "example.com/slow"}, {}}}
	if diff := cmp.Diff(want, buildFact(b, builds.Go)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := buildFact(b, builds.GoSettings).Values[1].Value; got != "-trimpath=true, CGO_ENABLED=0" {
		t.Errorf("the settings are %q", got)
	}
}

func TestAFileThatCannotBeReadStandsForNoneThatCan(t *testing.T) {
	b := analysed(t, withBuilds(func(server string, block int32, seen *record.ObserverResult) {
		if server == "go" && block < 3 {
			seen.Binary = &record.Binary{Unknown: "the process is gone"}
		}
	})).Builds
	if got := buildFact(b, builds.SHA256).Values[0].Value; got != "same" || b.AtRest[0].Binaries != 1 {
		t.Errorf("SHA-256 %q of %d binaries", got, b.AtRest[0].Binaries)
	}
}

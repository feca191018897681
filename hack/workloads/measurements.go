package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/analysis/validity"
)

// Each run starts within an hour after the last one.
type measurement struct {
	runs  []*results
	ended time.Time
}

// pause is the longest gap between two runs of a measurement.
const pause = time.Hour

func measurements(all map[string]*results) (out []measurement) {
	there := slices.DeleteFunc(slices.Collect(maps.Values(all)), func(r *results) bool { return r.missing != "" })
	slices.SortFunc(there, func(a, b *results) int {
		return cmp.Or(a.head.Started.Compare(b.head.Started), cmp.Compare(a.head.Run, b.head.Run))
	})
	for _, r := range there {
		if len(out) == 0 || !out[len(out)-1].goesOn(r.head) {
			out = append(out, measurement{})
		}
		m := &out[len(out)-1]
		m.runs = append(m.runs, r)
		if r.head.Ended.After(m.ended) {
			m.ended = r.head.Ended
		}
	}
	return out
}

func (m measurement) goesOn(h head) bool {
	first := m.runs[0].head
	return first.Machine == h.Machine && first.Loadstone == h.Loadstone && h.Started.Sub(m.ended) <= pause
}

func (m measurement) of(run string) bool {
	return slices.ContainsFunc(m.runs, func(r *results) bool { return r.head.Run == run })
}

// String tells when and where it was.
func (m measurement) String() string {
	h := m.runs[0].head
	const day, minute = "2006-01-02 15:04", "15:04"
	began, ended := h.Started.UTC(), m.ended.UTC()
	end := ended.Format(minute)
	if ended.YearDay() != began.YearDay() {
		end = ended.Format(day)
	}
	return fmt.Sprintf("from %s to %s UTC, %s, with Loadstone %s on CPUs %s of %s, %.0f GiB of memory, Linux %s, %s",
		began.Format(day), end, count(len(m.runs), "run"), h.Loadstone, h.Machine.CPUs, h.Machine.CPUModel, float64(h.Machine.MemoryBytes)/(1<<30), h.Machine.Kernel, h.Machine.OS)
}

func (m measurement) names() string {
	var list []string
	for _, r := range m.runs {
		list = append(list, "`"+r.head.Run+"`")
	}
	return strings.Join(list, ", ")
}

func tell(list []measurement) string {
	switch len(list) {
	case 0:
		return "There is no record of any run."
	case 1:
		return "The table comes from one measurement: " + list[0].String() + ".\n\n" + disturbances(list)
	}
	out := fmt.Sprintf("The table comes from %d measurements. Its last column has the number of the measurement:\n\n", len(list))
	for i, m := range list {
		out += fmt.Sprintf("%d. %s: %s.\n", i+1, m, m.names())
	}
	return out + "\n" + disturbances(list)
}

func disturbances(list []measurement) string {
	var runs, repeated, sights, void, suspect int
	voidFor, suspectFor := map[validity.Code]int{}, map[validity.Code]int{}
	for _, m := range list {
		for _, r := range m.runs {
			runs++
			repeated += min(int(r.head.RepeatBlocks), 1)
			for _, s := range r.sights {
				sights++
				void += min(len(s.Void), 1)
				tally(voidFor, s.Void)
				if len(s.Void) == 0 {
					suspect += min(len(s.Suspect), 1)
					tally(suspectFor, s.Suspect)
				}
			}
		}
	}
	return fmt.Sprintf("Runs with repeated blocks: %d of %d. Void cells and processes, which count only in `unanswered`: %d of %d%s. Suspect, and counted: %d%s.",
		repeated, runs, void, sights, reasons(voidFor), suspect, reasons(suspectFor))
}

func tally(into map[validity.Code]int, codes []validity.Code) {
	for _, c := range codes {
		into[c]++
	}
}

func reasons(found map[validity.Code]int) string {
	if len(found) == 0 {
		return ""
	}
	codes := slices.SortedFunc(maps.Keys(found), func(a, b validity.Code) int { return cmp.Or(found[b]-found[a], cmp.Compare(a, b)) })
	var list []string
	for _, c := range codes {
		list = append(list, fmt.Sprintf("`%s` %d", c, found[c]))
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

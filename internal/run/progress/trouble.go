package progress

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// maxTroubles bounds how many disturbances are named where people follow a run: the report has all.
const maxTroubles = 3

// Troubles says what has disturbed the blocks of a table, and which trials were lost: the codes of the reasons by block, in order.
func Troubles(table analysis.Table, trials conduct.Trials) string {
	disturbed, found := table.DisturbedBlocks(), Codes(table)
	for _, t := range trials {
		if !t.Follows() && !t.Ended.IsZero() && t.Stored == nil && v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginInfrastructure {
			found[t.Block] = append(found[t.Block], t.Reason)
			disturbed = append(disturbed, t.Block)
		}
	}
	return Disturbed(disturbed, found)
}

// Codes are those of the reasons that have disturbed cells of a table, by block.
func Codes(table analysis.Table) map[int32][]string {
	found := map[int32][]string{}
	add := func(c validity.Cell) {
		if !c.Disturbed() {
			return
		}
		for _, r := range c.Reasons {
			if r.External() {
				found[c.Block] = append(found[c.Block], string(r.Code))
			}
		}
	}
	for _, g := range table.Groups {
		if g.Role != record.RoleReference {
			for _, c := range g.Cells {
				add(c)
			}
		}
	}
	for _, p := range table.Programs {
		add(p.Cell)
	}
	return found
}

// Repeated says that a repeat block begins, and for which blocks.
func Repeated(troubles string, repeat int32) string {
	return fmt.Sprintf("disturbed: %s: repeat block %d is measured", troubles, repeat)
}

// Disturbed names blocks, in order and each once, with the codes of what has disturbed them; empty if none was.
func Disturbed(blocks []int32, found map[int32][]string) string {
	blocks = slices.Compact(slices.Sorted(slices.Values(blocks)))
	var texts []string
	for i, block := range blocks {
		if i == maxTroubles {
			texts = append(texts, fmt.Sprintf("and %d more", len(blocks)-i))
			break
		}
		codes := slices.Compact(slices.Sorted(slices.Values(found[block])))
		text := fmt.Sprintf("block %d", block)
		if len(codes) > 0 {
			text += " (" + strings.Join(codes, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

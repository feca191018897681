package kind

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Order returns names in the order of a block. It follows from the plan's seed, and each order is equally likely. In a
// mirrored plan, the second block of each pair reverses the order of the first. So over a pair, each name has the same
// mean position, and a steady drift cancels.
func Order(p record.Plan, block int32, names []string) []string {
	reversed := p.Mirrored && block%2 == 0
	if reversed {
		block--
	}
	drawn := slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return bytes.Compare(draw(p.Seed, block, a), draw(p.Seed, block, b))
	})
	if reversed {
		slices.Reverse(drawn)
	}
	return drawn
}

// draw is a name's sort key in a block.
func draw(seed uint64, block int32, name string) []byte {
	b := binary.BigEndian.AppendUint64(nil, seed)
	b = binary.BigEndian.AppendUint32(b, uint32(block))
	sum := sha256.Sum256(append(b, name...))
	return sum[:]
}

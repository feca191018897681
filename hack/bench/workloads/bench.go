package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
)

const (
	// quietLimit is how many CPUs others may use, or the hypervisor take, while a set is measured.
	quietLimit = 0.15
	// attempts is how often a set is measured in a block at most, and spareShare how many sets of all may be measured anew.
	attempts, spareShare = 3, 0.2
)

// bench measures comparisons.
type bench struct {
	log    io.Writer
	raw    *json.Encoder
	random *rand.Rand
	blocks int
	// left are the comparisons of which no cell has failed.
	left []comparison
	// spare is how many sets may still be measured anew, and errors how often a cell's tool counted errors since it last did not.
	spare  int
	errors map[place]int
	// perform measures the cells of a set, and its errors are of a side; watch begins to watch others, and what it returns tells how many CPUs they used and were stolen.
	perform func(context.Context, []cell) ([]measured, error)
	watch   func() func() (strangers, steal float64)
	// done is what was reckoned for what was measured since began: it tells the pace.
	done  time.Duration
	began time.Time
}

// plan is what there is to measure, a list of jobs for each group.
func (b *bench) plan() [][]job {
	var all [][]job
	for _, g := range groups(b.left) {
		all = append(all, jobs(b.left, g, b.blocks, b.random))
	}
	return all
}

// measure measures group by group. What is to be measured anew comes at the end of its group, when whoever disturbed may have gone.
func (b *bench) measure(ctx context.Context, plan [][]job) error {
	total := 0
	for _, group := range plan {
		total += len(group)
	}
	b.spare, b.errors, b.began = int(spareShare*float64(total))+attempts, map[place]int{}, time.Now()
	for i, queue := range plan {
		for at := 0; at < len(queue); at++ {
			j := queue[at]
			if at == 0 || j.block != queue[at-1].block {
				left := reckon(queue[at:])
				for _, later := range plan[i+1:] {
					left += reckon(later)
				}
				b.progress(left, "%s, block %d of %d", j.group, j.block, b.blocks)
			}
			again, err := b.job(ctx, j)
			if err != nil {
				return err
			}
			if b.done += reckon(queue[at : at+1]); again {
				b.spare--
				j.attempt++
				queue = append(queue, j)
			}
		}
	}
	return nil
}

// progress tells what goes on, and about how long the rest takes at the pace so far.
func (b *bench) progress(left time.Duration, format string, args ...any) {
	if b.done > 0 {
		left = time.Duration(float64(left) / float64(b.done) * float64(time.Since(b.began)))
	}
	b.say("%s (about %s left)", fmt.Sprintf(format, args...), left.Round(time.Second))
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, format+"\n", args...) // Progress is for people: nothing depends on it.
}

// job measures a set once, writes down what was seen, and says whether it is to be measured anew.
func (b *bench) job(ctx context.Context, j job) (again bool, err error) {
	cells := j.needed(b.left)
	if len(cells) == 0 {
		return false, nil
	}
	at, others := time.Now().UTC(), b.watch()
	all, err := b.perform(ctx, cells)
	if ctx.Err() != nil {
		return false, fmt.Errorf("measuring %s: %w", j.name, ctx.Err())
	}
	strangers, steal := others()
	if err != nil {
		return b.excuse(j, cells, err)
	}
	disturbed := ""
	if max(strangers, steal) > quietLimit {
		disturbed = fmt.Sprintf("others used %.2f CPUs, and steal was %.2f", strangers, steal)
		b.say("%s %s: %s", j.group, j.name, disturbed)
	}
	// What is not measured anew is used, and the figure's note says who disturbed it.
	if again = disturbed != "" && b.may(j); !again {
		disturbed = ""
	}
	for i, c := range cells {
		p := place{j.group, c}
		b.errors[p] = 0
		e := entry{place: p, Block: j.block, Attempt: j.attempt, At: at, Measured: all[i], StrangersCPUs: strangers, StealCPUs: steal, Disturbed: disturbed}
		if err := b.write(line{Entry: &e}); err != nil {
			return false, err
		}
	}
	return again, nil
}

// may says whether a job may be done anew.
func (b *bench) may(j job) bool { return j.attempt < attempts && b.spare > 0 }

// excuse decides what becomes of a job that has no result. A cell fails that cannot be measured, or whose tool counts errors again and
// again; the others are measured without it.
func (b *bench) excuse(j job, cells []cell, err error) (again bool, _ error) {
	culprit := 0
	if of := (&local.SideError{}); errors.As(err, &of) {
		culprit = of.Side
	}
	p := place{j.group, cells[culprit]}
	if errors.Is(err, local.ErrSpoiled) {
		if b.errors[p]++; b.errors[p] < attempts {
			b.say("%s: %s", p.cell, err)
			return b.may(j), nil
		}
	}
	return len(cells) > 1 && b.may(j), b.fail(failure{p, err.Error()})
}

// fail says why a cell is not measured any more, and drops it.
func (b *bench) fail(f failure) error {
	b.say("%s: %s", f.cell, f.Why)
	return b.drop(f)
}

// drop notes why a cell is not measured, and drops what needs it.
func (b *bench) drop(f failure) error {
	b.left = without(b.left, f.place)
	return b.write(line{Failure: &f})
}

func (b *bench) write(l line) error {
	if err := b.raw.Encode(l); err != nil {
		return fmt.Errorf("writing the raw data: %w", err)
	}
	return nil
}

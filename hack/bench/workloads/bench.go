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
	// perform measures a cell; watch begins to watch others, and what it returns tells how many CPUs they used and were stolen.
	perform func(context.Context, cell) (measured, error)
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
	others := b.watch()
	entries, spoiled, err := b.cells(ctx, j)
	if err != nil {
		return false, err
	}
	strangers, steal := others()
	if spoiled == "" && max(strangers, steal) > quietLimit {
		spoiled = fmt.Sprintf("others used %.2f CPUs, and %.2f were stolen", strangers, steal)
	}
	again = spoiled != "" && j.attempt < attempts && b.spare > 0
	if spoiled != "" {
		b.say("%s %s: %s", j.group, j.name, spoiled)
	}
	for _, e := range entries {
		// What is not measured anew is used, unless it lacks a cell; if others disturbed it, the figure's note says so.
		e.StrangersCPUs, e.StealCPUs = strangers, steal
		if again {
			e.Spoiled = spoiled
		}
		if err := b.write(line{Entry: &e}); err != nil {
			return false, err
		}
	}
	return again, nil
}

// cells measures those of a job. A cell that cannot be measured fails; one whose tool counted errors spoils the job, and fails when that
// goes on.
func (b *bench) cells(ctx context.Context, j job) (entries []entry, spoiled string, err error) {
	for _, c := range j.needed(b.left) {
		e := entry{place: place{j.group, c}, Block: j.block, Attempt: j.attempt, At: time.Now().UTC()}
		e.Measured, err = b.perform(ctx, c)
		if ctx.Err() != nil {
			return nil, "", fmt.Errorf("measuring %s: %w", c, ctx.Err())
		}
		counted := errors.Is(err, local.ErrSpoiled)
		if counted {
			b.errors[e.place]++
		}
		switch {
		case counted && b.errors[e.place] < attempts:
			return entries, err.Error(), nil
		case err != nil:
			if err := b.fail(failure{e.place, err.Error()}); err != nil {
				return nil, "", err
			}
		default:
			b.errors[e.place] = 0
			entries = append(entries, e)
		}
	}
	return entries, "", nil
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

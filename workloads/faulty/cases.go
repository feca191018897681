package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"time"
)

const (
	// rounds is the number of repetitions of a case per process; roundTime is one's approximate duration.
	rounds    = 5
	roundTime = 20 * time.Millisecond
)

type line struct {
	Schema string  `json:"schema"`
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Better string  `json:"better"`
	Value  float64 `json:"value"`
}

// printCases measures and prints two cases: equal work, and work that costs more by the flag's share.
func printCases(stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("faulty cases", flag.ContinueOnError)
	more := flags.Float64("more", 0, "the share by which each operation of the case planted costs more")
	crash := flags.Bool("crash", false, "end with status 1 instead")
	hang := flags.Bool("hang", false, "sleep for an hour")
	garbage := flags.Bool("garbage", false, "print half a line")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	if *hang {
		time.Sleep(time.Hour)
	}
	if *crash {
		return errors.New("crashing, as was asked")
	}
	if *garbage {
		_, err := io.WriteString(stdout, `{"schema": "loadstone.case/v1", "case": `)
		return err
	}
	encoder := json.NewEncoder(stdout)
	for range rounds {
		for _, size := range []int{1000, 2000, 4000} {
			for name, steps := range map[string]int{"equal": size, "planted": int(math.Round(float64(size) * (1 + *more)))} {
				l := line{"loadstone.case/v1", fmt.Sprintf("%s/size:%d", name, size), "Time", "ns", "Less", nanosOf(steps)}
				if err := encoder.Encode(l); err != nil {
					return fmt.Errorf("writing a case: %w", err)
				}
			}
		}
	}
	return nil
}

var sink uint64

func nanosOf(steps int) float64 {
	started, operations := time.Now(), 0
	for time.Since(started) < roundTime {
		for range 100 {
			x := sink | 1
			for range steps {
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
			}
			sink = x
		}
		operations += 100
	}
	return float64(time.Since(started).Nanoseconds()) / float64(operations)
}

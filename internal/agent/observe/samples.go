package observe

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const samplesFile = "samples.csv"

const samplesHeader = "at_nanos,cell,cpu_nanos,memory_bytes,rss_bytes,busy_nanos,steal_nanos,core_nanos,segments_out\n"

// samples writes the time series as CSV: one line per sample, cumulative counters, an empty field for a missing value.
type samples struct {
	file *os.File
	out  *bufio.Writer
	line []byte
}

func createSamples(dir string) (*samples, error) {
	f, err := os.Create(filepath.Join(dir, samplesFile))
	if err != nil {
		return nil, fmt.Errorf("creating the samples: %w", err)
	}
	s := &samples{file: f, out: bufio.NewWriterSize(f, 64<<10), line: make([]byte, 0, 256)}
	if _, err := s.out.WriteString(samplesHeader); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the samples: %w", err), f.Close())
	}
	return s, nil
}

type sampled struct {
	// resident is memory in bytes; cpu (time) and segments (TCP sent) are cumulative.
	resident, cpu, segments int64
	// kHz is the mean frequency of the server's CPUs; 0 if unknown.
	kHz int64
	err error
}

// add reads one sample, or returns errGone.
func (s *samples) add(server *server, slot timetable.Slot, clock timing.Clock) (sampled, error) {
	resident, err := server.residentBytes()
	if err != nil {
		return sampled{}, err
	}
	cpu, errCPU := server.cpuNanos()
	var memory int64
	errMemory := kernel.ErrNoNumber
	if server.group != nil {
		memory, errMemory = server.group.MemoryBytes()
	}
	times, errTimes := server.times()
	segments, errSegments := server.network.SegmentsOut()
	at := time.Since(clock.At(0))
	shot := sampled{resident: resident, cpu: cpu, segments: segments, kHz: server.frequencies.Mean(), err: errors.Join(errCPU, errSegments)}

	s.line = strconv.AppendInt(s.line[:0], int64(at), 10)
	s.line = append(s.line, ',')
	s.line = append(s.line, timetable.CellName(slot.Cell)...)
	s.number(cpu, errCPU)
	s.number(memory, errMemory)
	s.number(resident, nil)
	s.number(times.Busy, errTimes)
	s.number(times.Steal, errTimes)
	s.number(times.Total, errTimes)
	s.number(segments, errSegments)
	s.line = append(s.line, '\n')
	if _, err := s.out.Write(s.line); err != nil {
		return shot, fmt.Errorf("writing the samples: %w", err)
	}
	return shot, nil
}

func (s *samples) number(n int64, err error) {
	s.line = append(s.line, ',')
	if err == nil {
		s.line = strconv.AppendInt(s.line, n, 10)
	}
}

func (s *samples) close() error {
	if err := errors.Join(s.out.Flush(), s.file.Close()); err != nil {
		return fmt.Errorf("writing the samples: %w", err)
	}
	return nil
}

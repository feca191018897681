package protocol

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Port is the TCP port on which every agent listens.
const Port = 7600

// Names of environment variables that an agent gets in its pod.
const (
	// EnvTrial is the UID of the agent's Trial.
	EnvTrial = "LOADSTONE_TRIAL"
	// EnvAttempt is the attempt that the agent belongs to, in decimal.
	EnvAttempt = "LOADSTONE_ATTEMPT"
	// EnvGenerator is a generator's place among those of its trial, in decimal, from 0.
	EnvGenerator = "LOADSTONE_GENERATOR"
	// EnvBeside is set for the observer of the second server of a duet.
	EnvBeside = "LOADSTONE_BESIDE"
	// EnvKey is the operator's public key, in base64.
	EnvKey = "LOADSTONE_KEY"
	// EnvNode is the name of the node that the agent runs on.
	EnvNode = "LOADSTONE_NODE"
)

// Phase says how far an agent is.
type Phase string

const (
	// Idle agents wait for their Start.
	Idle Phase = "Idle"
	// Running agents have a Start and are before the end of their last cell.
	Running Phase = "Running"
	// Measured agents have ended their last cell and hold their files until they are told where to store them.
	Measured Phase = "Measured"
	// Stored agents have stored all files.
	Stored Phase = "Stored"
	// Failed agents cannot do their work; Message says why.
	Failed Phase = "Failed"
)

// File is a file that an agent holds.
type File struct {
	// Name is relative to the agent's folder and holds no "..".
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// State is what an agent says of itself.
type State struct {
	// Role is RoleObserver, RoleBeside or RoleGenerator.
	Role    string `json:"role"`
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	Phase   Phase  `json:"phase"`
	Message string `json:"message,omitempty"`
	// Now is the agent's clock when it answered.
	Now time.Time `json:"now"`
	// CPUsAllowed is the agent's own Cpus_allowed_list, as it was before its Start.
	CPUsAllowed string `json:"cpusAllowed,omitempty"`
	// Listening is true when the server's port accepts connections (observers only).
	Listening bool `json:"listening,omitempty"`
	// Responses are the answers to a Check that succeeded (generators only).
	Responses []record.Response `json:"responses,omitempty"`
	// Checked is the result of the last Check: empty before, "ok", or a sentence that says what was wrong (generators only).
	Checked string `json:"checked,omitempty"`
	// Fault says whose fault it is that the last Check failed; empty if it did not.
	Fault Fault `json:"fault,omitempty"`
	// CellsDone is the number of cells that have ended.
	CellsDone int32 `json:"cellsDone"`
	// Files are what the agent holds; set from Measured on.
	Files []File `json:"files,omitempty"`
	// Uploading is true while a Store goes on; StoreError says why the last one failed.
	Uploading  bool   `json:"uploading,omitempty"`
	StoreError string `json:"storeError,omitempty"`
}

// Fault says whose fault a Check is that failed.
type Fault string

const (
	// FaultServer is that of a server which does not answer as it should.
	FaultServer Fault = "Server"
	// FaultLoad is that of a load which no server could be measured with: its script does not work, or it asks for more
	// connections than its generators can open.
	FaultLoad Fault = "Load"
)

// CheckedOK is the value of State.Checked after a correct response.
const CheckedOK = "ok"

// CheckedBeside begins a State.Checked that is about the second server of a duet.
const CheckedBeside = "beside: "

// Check asks a generator to send one request of each kind and to compare the answers with what is expected.
type Check struct {
	// Target is the server's address, as host:port.
	Target string `json:"target"`
	// Beside is the address of the second server of a duet, which must answer likewise; empty otherwise.
	Beside  string             `json:"beside,omitempty"`
	Request []v1alpha1.Request `json:"requests"`
	// Cells are those that the generator is to make. It looks whether it can: for descriptors and ports enough, and for scripts that
	// work, each of which is tried once.
	Cells []v1alpha1.Cell `json:"cells"`
	// Scripts are those of the users, as the run has frozen them; the generator writes them down before it looks.
	Scripts []Script `json:"scripts,omitempty"`
}

// MaxScripts is how many bytes the scripts of a run may have together: as much as a ConfigMap holds, and no more than fits into one
// order beside the cells.
const MaxScripts = 1 << 20

// Script is the text of the script of a load.
type Script struct {
	Load string `json:"load"`
	Text []byte `json:"text"`
}

// Slot is one cell in the timetable. The instants are offsets from Start.At.
type Slot struct {
	// Cell is the whole level; a generator makes its Share of it.
	Cell v1alpha1.Cell `json:"cell"`
	// Warmup is when warm-up load begins; Measure when the warm-up's tool is ended and the measured tool starts; End when the
	// measured tool must have ended.
	Warmup  time.Duration `json:"warmup"`
	Measure time.Duration `json:"measure"`
	End     time.Duration `json:"end"`
}

// Start gives an agent its timetable.
type Start struct {
	// At is the instant of the first slot in the agent's own clock.
	At     time.Time `json:"at"`
	Target string    `json:"target"`
	// Beside is the address of the second server of a duet, with which Target takes turns; empty otherwise.
	Beside string `json:"beside,omitempty"`
	// ServerCPU is the CPU on which an observer puts its server, where two servers must share one; nil otherwise.
	ServerCPU *int32 `json:"serverCPU,omitempty"`
	Slots     []Slot `json:"slots"`
}

// Destination is where one file goes.
type Destination struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Headers were signed with the URL and must be sent as they are.
	Headers map[string]string `json:"headers"`
}

// Store tells an agent where to upload its files. 412 means that the object is there already: success, since keys are the
// trial's and the attempt's own and the operator compares the stored checksums.
type Store struct {
	Files []Destination `json:"files"`
}

// Order is one command; exactly one of Check, Start and Store is set.
type Order struct {
	// Trial and Attempt must be the agent's own.
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	// Role must be the agent's own too, lest one agent's order be played to another.
	Role  string `json:"role"`
	Check *Check `json:"check,omitempty"`
	Start *Start `json:"start,omitempty"`
	Store *Store `json:"store,omitempty"`
}

// Timetable lays cells one after the other.
//
// Between a warm-up and its measured time lie WarmupGap, in which the warm-up's tool is killed and its connections close;
// after the measured time lies a gap in which the tool stops (wrk looks every 100 ms), writes its histogram and exits. In a duet
// both servers get the whole of each time, so that it takes twice as long.
func Timetable(cells []v1alpha1.Cell) []Slot {
	slots := make([]Slot, 0, len(cells))
	var at time.Duration
	for _, c := range cells {
		s := Slot{Cell: c, Warmup: at}
		s.Measure = at
		if w := c.WarmupSeconds; w != nil && *w > 0 {
			s.Measure += Players(c)*time.Duration(*w)*time.Second + WarmupGap
		}
		s.End = s.Measure + LoadTime(c) + gap(c)
		at = s.End
		slots = append(slots, s)
	}
	return slots
}

// LoadTime is how long the measured time of a cell is: in a duet both servers get the whole of it.
func LoadTime(c v1alpha1.Cell) time.Duration {
	return Players(c) * time.Duration(c.DurationSeconds) * time.Second
}

const (
	// SocketsLead is how much before the end of the measured time the connections are looked at, when no tool has closed its own yet.
	// Each takes about 1.5 µs to read; socketsEach is added for each of the cell.
	SocketsLead = 50 * time.Millisecond
	socketsEach = 3 * time.Microsecond
)

// SocketsAt is when the observer looks at the server's connections, as an offset like the slot's own. What is no part of the load has
// closed its connections by then.
func SocketsAt(s Slot) time.Duration {
	return s.Measure + LoadTime(s.Cell) - SocketsLead - time.Duration(s.Cell.Connections)*socketsEach
}

// gap is what a cell's tool needs beside the measured time: to start before it, and to end after it.
func gap(c v1alpha1.Cell) time.Duration {
	switch c.Tool {
	case v1alpha1.ToolK6:
		return K6Gap + time.Duration(Share(c, 0).Connections)*K6GapPerUser
	case v1alpha1.ToolAb:
		return CellGap + time.Duration(c.DurationSeconds)*AbGapPerSecond
	case v1alpha1.ToolWrk:
	}
	return Players(c) * CellGap
}

const (
	// WarmupGap separates a warm-up from the time that is measured.
	WarmupGap = 40 * time.Millisecond
	// CellGap separates the end of a measured time from the next cell.
	CellGap = 250 * time.Millisecond
	// AbGapPerSecond is what ab needs beyond that for each second of the measured time: it sorts its records four times, at about
	// 1.2 µs a request in all, and makes at most 250,000 requests a second.
	AbGapPerSecond = 300 * time.Millisecond
	// K6Gap is the same of k6, which compiles its script first and sorts its samples at the end.
	K6Gap = 1500 * time.Millisecond
	// K6GapPerUser is what each virtual user adds to it: a JavaScript engine to be made.
	K6GapPerUser = time.Millisecond
)

// Share is what one of the cell's generators makes of it: an equal part of its connections and of its rate. Whatever does not
// divide goes to the first ones, and nothing to a generator that the cell does not need.
func Share(c v1alpha1.Cell, generator int32) v1alpha1.Cell {
	part := func(whole int32) int32 {
		n := max(c.Generators, 1)
		switch {
		case generator >= n:
			return 0
		case generator < whole%n:
			return whole/n + 1
		}
		return whole / n
	}
	c.Connections, c.RequestsPerSecond, c.RampToRequestsPerSecond = part(c.Connections), part(c.RequestsPerSecond), part(c.RampToRequestsPerSecond)
	return c
}

// CellName names a cell in file names and artifacts, such as "sweep-100".
func CellName(c v1alpha1.Cell) string { return record.PointOf(c).Name() }

// RawFile is the name of the file with the tool's raw output of a cell, such as "sweep-100.wrk.txt".
func RawFile(c v1alpha1.Cell) string { return CellName(c) + "." + string(c.Tool) + ".txt" }

// PlainName is true for a name without folders, which may become a file's.
func PlainName(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\\x00")
}

// Roles of agents, as in artifacts.
const (
	// RoleObserver is the observer's role.
	RoleObserver = record.RoleServer
	// RoleBeside is the role of the observer of the second server of a duet.
	RoleBeside = record.RoleBeside
)

// RoleGenerator is the role of a trial's generator of an index, from 0.
func RoleGenerator(index int32) string { return fmt.Sprintf("%s-%d", record.RoleGenerator, index) }

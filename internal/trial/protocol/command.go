package protocol

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Port is the TCP port of every agent.
const Port = 7600

// Environment variables of an agent.
const (
	// EnvTrial is the UID of the agent's Trial.
	EnvTrial = "LOADSTONE_TRIAL"
	// EnvAttempt is the agent's attempt, in decimal.
	EnvAttempt = "LOADSTONE_ATTEMPT"
	// EnvMember is the agent's member, such as "server-0" (an observer) or "generator-1".
	EnvMember = "LOADSTONE_MEMBER"
	// EnvKey is the operator's public key, in base64.
	EnvKey = "LOADSTONE_KEY"
	// EnvNode is the agent's node.
	EnvNode = "LOADSTONE_NODE"
)

// Phase is an agent's progress.
type Phase string

const (
	// Idle agents wait for their Start.
	Idle Phase = "Idle"
	// Running agents have a Start and cells to measure.
	Running Phase = "Running"
	// Measured agents have ended their last cell and wait for where to store their files.
	Measured Phase = "Measured"
	// Stored agents have stored all files.
	Stored Phase = "Stored"
	// Failed agents cannot work; Message says why.
	Failed Phase = "Failed"
)

// File is a file that an agent holds.
type File struct {
	// Name is relative to the agent's folder, without "..".
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// State is an agent's report.
type State struct {
	Member  string `json:"member"`
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	Phase   Phase  `json:"phase"`
	Message string `json:"message,omitempty"`
	// Now is the agent's clock at its answer.
	Now time.Time `json:"now"`
	// CPUsAllowed is the agent's Cpus_allowed_list before its Start.
	CPUsAllowed string `json:"cpusAllowed,omitempty"`
	// Up: the server is ready; its observer may need seconds more to read it.
	Up bool `json:"up,omitempty"`
	// Listening: it was read, too, or a program's parent is ready (observers and collectors only).
	Listening bool `json:"listening,omitempty"`
	// Build is how the server or program was built, known once Listening (observers and collectors only).
	Build *record.Build `json:"build,omitempty"`
	// Checked is the last Check's result; nil before it (generators only).
	Checked *Checked `json:"checked,omitempty"`
	// Program is why a program failed; nil if it did not, or before (collectors only). The agent is then Failed, or
	// holds the files of its output.
	Program *ProgramFault `json:"program,omitempty"`
	// CellsDone is the number of ended cells.
	CellsDone int32 `json:"cellsDone"`
	// Files are set from Measured on.
	Files []File `json:"files,omitempty"`
	// Uploading is true during a Store; StoreError is why the last one failed.
	Uploading  bool   `json:"uploading,omitempty"`
	StoreError string `json:"storeError,omitempty"`
}

// Checked is the result of a Check.
type Checked struct {
	// Fault is the cause of a failed check; empty if it succeeded.
	Fault Fault `json:"fault,omitempty"`
	// Message is the problem; Server is the index of the responsible server, if any.
	Message string `json:"message,omitempty"`
	Server  int    `json:"server,omitempty"`
	// Responses are the answers of a successful check.
	Responses []record.Response `json:"responses,omitempty"`
}

// OK reports whether the check succeeded.
func (c Checked) OK() bool { return c.Fault == "" }

// ProgramFault is a failure of a program that measures itself.
type ProgramFault struct {
	Fault   Fault  `json:"fault"`
	Message string `json:"message"`
}

// Error returns the message.
func (f *ProgramFault) Error() string { return f.Message }

// Fault is the cause of a failed Check or program.
type Fault string

const (
	// FaultServer: a server answers incorrectly.
	FaultServer Fault = "Server"
	// FaultTLS: a server's TLS or certificate is not as required.
	FaultTLS Fault = "TLS"
	// FaultNetwork: a generator cannot reach a listening server.
	FaultNetwork Fault = "Network"
	// FaultLoad: no server can be measured with the load, because its script fails or its generators cannot open its
	// connections.
	FaultLoad Fault = "Load"
	// FaultExit: a program ended with a non-zero exit code or by a signal.
	FaultExit Fault = "Exit"
	// FaultLimit: a program exceeded its time limit.
	FaultLimit Fault = "Limit"
	// FaultOutput: a program's output is unreadable.
	FaultOutput Fault = "Output"
)

// Check makes a generator send each request once and compare the answers with the expected ones.
type Check struct {
	// Targets are the servers' addresses, host:port: one, or two in a duet. TLS holds their TLS settings, nil for a
	// server without; empty if none has any.
	Targets  []string         `json:"targets"`
	TLS      []*record.TLS    `json:"tls,omitempty"`
	Requests []record.Request `json:"requests"`
	// Cells are the generator's. It checks its descriptors and ports, and tries each script once.
	Cells []record.Cell `json:"cells"`
	// Scripts are the users' frozen scripts; the generator writes them to files first.
	Scripts []Script `json:"scripts,omitempty"`
}

// MaxScripts bounds all scripts of a run, in bytes: a ConfigMap's size, which fits into one command along with the
// cells.
const MaxScripts = 1 << 20

// Script is the text of a load's script.
type Script struct {
	Load string `json:"load"`
	Text []byte `json:"text"`
}

// Start gives an agent its timetable.
type Start struct {
	// At is the instant of the first slot by the agent's clock.
	At time.Time `json:"at"`
	// Targets and TLS are as in a Check; a duet's servers take turns.
	Targets []string      `json:"targets"`
	TLS     []*record.TLS `json:"tls,omitempty"`
	// ServerCPU is the CPU for the observer's server if two servers share one; otherwise nil.
	ServerCPU *int32           `json:"serverCPU,omitempty"`
	Slots     []timetable.Slot `json:"slots"`
}

// Destination is where one file goes.
type Destination struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Headers were signed with the URL and must be sent unchanged.
	Headers map[string]string `json:"headers"`
}

// Store makes an agent upload its files. Status 412 (object exists) counts as success: keys belong to one attempt,
// and the operator compares checksums.
type Store struct {
	Files []Destination `json:"files"`
	// CA holds additional PEM certificates for verifying the object store.
	CA string `json:"ca,omitempty"`
}

// Command is one command; exactly one of Check, Start and Store is set.
type Command struct {
	// Trial and Attempt must be the agent's own.
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	// Member must be the agent's own, so that commands cannot be replayed to other agents.
	Member string `json:"member"`
	Check  *Check `json:"check,omitempty"`
	Start  *Start `json:"start,omitempty"`
	Store  *Store `json:"store,omitempty"`
}

// PlainName reports whether a name has no folders and can be a file's.
func PlainName(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\\x00")
}

// Envelope is a signed Command.
type Envelope struct {
	// Command is the JSON, byte for byte as signed.
	Command []byte `json:"command"`
	// Signature is the Ed25519 signature of Command.
	Signature []byte `json:"signature"`
}

// ErrSignature is the error of an envelope that the operator did not sign.
var ErrSignature = errors.New("the command is not signed by this installation's operator")

// Seal signs a command.
func Seal(key ed25519.PrivateKey, o Command) (Envelope, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Envelope{}, fmt.Errorf("encoding command: %w", err)
	}
	return Envelope{Command: body, Signature: ed25519.Sign(key, body)}, nil
}

// Open checks the signature and that the command is for this agent.
func Open(key ed25519.PublicKey, e Envelope, trial string, attempt int32, member string) (Command, error) {
	var o Command
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, e.Command, e.Signature) {
		return o, ErrSignature
	}
	if err := json.Unmarshal(e.Command, &o); err != nil {
		return o, fmt.Errorf("decoding command: %w", err)
	}
	if o.Trial != trial || o.Attempt != attempt || o.Member != member {
		return o, fmt.Errorf("the command is for %s attempt %d as %s, this agent is %s attempt %d as %s", o.Trial, o.Attempt, o.Member, trial, attempt, member)
	}
	return o, nil
}

// maxFiles bounds an agent's files.
const maxFiles = 2000

// fileName allows no folders.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// reserved are the file names that only the operator writes.
var reserved = regexp.MustCompile(`(?i)^(manifest\.json|plan\.json|run\.json|begun\.txt|made\.txt|report\..*|junit\.xml)$`)

// Reserved reports whether only the operator may store a file of this name. An agent that could would forge a manifest.
func Reserved(name string) bool { return reserved.MatchString(name) }

// Check refuses states that no real agent would send. File names become store keys, and anything at the agent's
// address could choose them.
func (s State) Check() error {
	if n := len(s.Files); n > maxFiles {
		return fmt.Errorf("it holds %d files, and no agent holds more than %d", n, maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range s.Files {
		switch {
		case !fileName.MatchString(f.Name):
			return fmt.Errorf("it calls a file %.100q, as no agent would", f.Name)
		case Reserved(f.Name):
			return fmt.Errorf("it calls a file %s: only the operator may store a file of this name", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("it names the file %s twice", f.Name)
		case f.Bytes < 0 || !record.IsSHA256(f.SHA256):
			return fmt.Errorf("it describes the file %s by %d bytes and the digest %.100q", f.Name, f.Bytes, f.SHA256)
		}
		seen[f.Name] = true
	}
	return nil
}

// Announced returns the SHA-256 of the lists of files of a trial's members, in hexadecimal.
func Announced(states ...State) (string, error) {
	lists := make([][]File, 0, len(states))
	for _, s := range states {
		lists = append(lists, s.Files)
	}
	raw, err := json.Marshal(lists)
	if err != nil {
		return "", fmt.Errorf("encoding the files of a trial: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Is reports whether the state is from the member that a command is for.
func (s State) Is(o Command) bool {
	return s.Trial == o.Trial && s.Attempt == o.Attempt && s.Member == o.Member
}

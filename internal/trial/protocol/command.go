package protocol

import (
	"crypto/ed25519"
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

// Port is the TCP port on which every agent listens.
const Port = 7600

// Names of environment variables that an agent gets in its pod.
const (
	// EnvTrial is the UID of the agent's Trial.
	EnvTrial = "LOADSTONE_TRIAL"
	// EnvAttempt is the attempt that the agent belongs to, in decimal.
	EnvAttempt = "LOADSTONE_ATTEMPT"
	// EnvMember is the member of the trial that the agent is: a server's observer, such as "server-0", or a generator, such as "generator-1".
	EnvMember = "LOADSTONE_MEMBER"
	// EnvKey is the operator's public key, in base64.
	EnvKey = "LOADSTONE_KEY"
	// EnvNode is the name of the node that the agent runs on.
	EnvNode = "LOADSTONE_NODE"
)

// Phase is how far an agent is.
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
	// Member is the member of the trial that the agent is.
	Member  string `json:"member"`
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	Phase   Phase  `json:"phase"`
	Message string `json:"message,omitempty"`
	// Now is the agent's clock when it answered.
	Now time.Time `json:"now"`
	// CPUsAllowed is the agent's own Cpus_allowed_list, as it was before its Start.
	CPUsAllowed string `json:"cpusAllowed,omitempty"`
	// Up is true when the server's port accepts connections and it is ready: what its observer reads of it then may take some seconds.
	Up bool `json:"up,omitempty"`
	// Listening is true when that has been read, too, or when the parent of a program is ready (observers and collectors only).
	Listening bool `json:"listening,omitempty"`
	// Build is how the server or the program was built, known as soon as Listening is true (observers and collectors only).
	Build *record.Build `json:"build,omitempty"`
	// Checked is the result of the last Check; nil before it (generators only).
	Checked *Checked `json:"checked,omitempty"`
	// Program is why a program that measures itself has nothing to show; nil of one that has, and before (collectors only). The agent is Failed
	// then, or holds the files of what the program printed.
	Program *ProgramFault `json:"program,omitempty"`
	// CellsDone is the number of cells that have ended.
	CellsDone int32 `json:"cellsDone"`
	// Files are what the agent holds; set from Measured on.
	Files []File `json:"files,omitempty"`
	// Uploading is true while a Store goes on; StoreError says why the last one failed.
	Uploading  bool   `json:"uploading,omitempty"`
	StoreError string `json:"storeError,omitempty"`
}

// Checked is the result of a Check.
type Checked struct {
	// Fault says who is the cause of a check that failed; empty if it did not.
	Fault Fault `json:"fault,omitempty"`
	// Message says in a sentence what was wrong, and Server is the place of the server that did it, if one did.
	Message string `json:"message,omitempty"`
	Server  int    `json:"server,omitempty"`
	// Responses are the answers to a check that succeeded.
	Responses []record.Response `json:"responses,omitempty"`
}

// OK reports whether the check succeeded.
func (c Checked) OK() bool { return c.Fault == "" }

// ProgramFault is a failure of a program that measures itself.
type ProgramFault struct {
	Fault Fault `json:"fault"`
	// Message says in a sentence what was wrong.
	Message string `json:"message"`
}

// Error says what was wrong.
func (f *ProgramFault) Error() string { return f.Message }

// Fault is the cause of a Check or of a program that failed.
type Fault string

const (
	// FaultServer is that of a server which does not answer as it should.
	FaultServer Fault = "Server"
	// FaultTLS is that of a server whose TLS, or whose certificate, is not what is wanted.
	FaultTLS Fault = "TLS"
	// FaultNetwork is that of what lies between a generator and a server which listens: the one does not reach the other.
	FaultNetwork Fault = "Network"
	// FaultLoad is that of a load which no server could be measured with: its script does not work, or it asks for more
	// connections than its generators can open.
	FaultLoad Fault = "Load"
	// FaultExit is that of a program that ended with an exit code other than 0, or by a signal.
	FaultExit Fault = "Exit"
	// FaultLimit is that of a program that took longer than it may.
	FaultLimit Fault = "Limit"
	// FaultOutput is that of a program that printed what cannot be read.
	FaultOutput Fault = "Output"
)

// Check asks a generator to send one request of each kind and to compare the answers with what is expected.
type Check struct {
	// Targets are the addresses of the servers, as host:port: one, or the two of a duet. TLS is how each of them speaks TLS, nil of one that does not;
	// empty if none does.
	Targets  []string         `json:"targets"`
	TLS      []*record.TLS    `json:"tls,omitempty"`
	Requests []record.Request `json:"requests"`
	// Cells are those that the generator is to make. It checks whether it can: for descriptors and ports enough, and for scripts that
	// work, each of which is tried once.
	Cells []record.Cell `json:"cells"`
	// Scripts are those of the users, as the run has frozen them; the generator writes them down before it looks.
	Scripts []Script `json:"scripts,omitempty"`
}

// MaxScripts is how many bytes the scripts of a run may have together: as much as a ConfigMap holds, and no more than fits into one
// command beside the cells.
const MaxScripts = 1 << 20

// Script is the text of the script of a load.
type Script struct {
	Load string `json:"load"`
	Text []byte `json:"text"`
}

// Start gives an agent its timetable.
type Start struct {
	// At is the instant of the first slot in the agent's own clock.
	At time.Time `json:"at"`
	// Targets are the addresses of the servers, as host:port: one, or the two of a duet, which take turns. TLS is as in a Check.
	Targets []string      `json:"targets"`
	TLS     []*record.TLS `json:"tls,omitempty"`
	// ServerCPU is the CPU on which an observer puts its server, where two servers must share one; nil otherwise.
	ServerCPU *int32           `json:"serverCPU,omitempty"`
	Slots     []timetable.Slot `json:"slots"`
}

// Destination is where one file goes.
type Destination struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Headers were signed with the URL and must be sent as they are.
	Headers map[string]string `json:"headers"`
}

// Store makes an agent upload its files. 412 means that the object is there already: success, since keys are the
// trial's and the attempt's own and the operator compares the stored checksums.
type Store struct {
	Files []Destination `json:"files"`
	// CA holds certificates of private authorities in PEM, by which the object store's certificate is checked besides the public ones.
	CA string `json:"ca,omitempty"`
}

// Command is one command; exactly one of Check, Start and Store is set.
type Command struct {
	// Trial and Attempt must be the agent's own.
	Trial   string `json:"trial"`
	Attempt int32  `json:"attempt"`
	// Member must be the agent's own too, so that one agent's command cannot be replayed to another.
	Member string `json:"member"`
	Check  *Check `json:"check,omitempty"`
	Start  *Start `json:"start,omitempty"`
	Store  *Store `json:"store,omitempty"`
}

// PlainName reports whether a name has no folders, so that it may become a file's.
func PlainName(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\\x00")
}

// Envelope is a signed Command.
type Envelope struct {
	// Command is the command in JSON, byte for byte as it was signed.
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

// Open checks the signature and that the command is meant for this agent.
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

// maxFiles bounds how many files an agent may hold.
const maxFiles = 2000

// fileName is what the files of agents are called: names in their folder, one folder deep at most.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}(/[A-Za-z0-9][A-Za-z0-9._-]{0,199})?$`)

// sha256Hex is a digest as agents write it.
var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check reports what no agent of ours would say. Files become keys of the store, and whoever answers at an agent's address chooses their names.
func (s State) Check() error {
	if n := len(s.Files); n > maxFiles {
		return fmt.Errorf("it holds %d files, and no agent holds more than %d", n, maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range s.Files {
		switch {
		case !fileName.MatchString(f.Name):
			return fmt.Errorf("it calls a file %.100q, as no agent would", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("it names the file %s twice", f.Name)
		case f.Bytes < 0 || !sha256Hex.MatchString(f.SHA256):
			return fmt.Errorf("it describes the file %s by %d bytes and the digest %.100q", f.Name, f.Bytes, f.SHA256)
		}
		seen[f.Name] = true
	}
	return nil
}

// Is reports whether the state is that of the member whom a command would be for.
func (s State) Is(o Command) bool {
	return s.Trial == o.Trial && s.Attempt == o.Attempt && s.Member == o.Member
}

package image

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// UserCount is the number of users of a sandbox that root starts: its users are 0 to UserCount-1.
const UserCount = 1 << 16

// systemd leaves these IDs unused: https://systemd.io/UIDS-GIDS.
const (
	firstUser = 0x70000000
	lastUser  = 0x7ffdffff
)

type span struct{ from, to int }

func (s span) meets(o span) bool { return s.from <= o.to && o.from <= s.to }

// FreeUsers returns the first of UserCount user and group IDs that no account or process of this machine has, for Root.Users. It is 0 unless
// this process is root: other users can only give a sandbox their own ID.
func FreeUsers() (int, error) {
	if !ChangesUser() {
		return 0, nil
	}
	return freeUsers(os.DirFS("/"))
}

// freeUsers avoids the users of accounts, of their subordinate ranges and of processes. root is the machine's root folder.
func freeUsers(root fs.FS) (int, error) {
	mine := [][]span{mapped(root, "proc/self/uid_map"), mapped(root, "proc/self/gid_map")}
	taken, err := takenUsers(root)
	if err != nil {
		return 0, fmt.Errorf("finding unused user IDs: %w", err)
	}
	for from := firstUser; from+UserCount-1 <= lastUser; from += UserCount {
		own := span{from, from + UserCount - 1}
		if holds(mine[0], own) && holds(mine[1], own) && !meetsAny(taken, own) {
			return from, nil
		}
	}
	return 0, fmt.Errorf("there are no %d free user IDs from %d to %d", UserCount, firstUser, lastUser)
}

func holds(all []span, own span) bool {
	for _, s := range all {
		if s.from <= own.from && own.to <= s.to {
			return true
		}
	}
	return false
}

func meetsAny(all []span, own span) bool {
	for _, s := range all {
		if s.meets(own) {
			return true
		}
	}
	return false
}

// mapped reads the IDs that this process's namespace has.
func mapped(root fs.FS, file string) (all []span) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if n := numbers(strings.Fields(line)); len(n) == 3 {
			all = append(all, span{n[0], n[0] + n[2] - 1})
		}
	}
	return all
}

func numbers(texts []string) (all []int) {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}

func takenUsers(root fs.FS) (taken []span, err error) {
	for _, file := range []string{"etc/passwd", "etc/group", "etc/subuid", "etc/subgid"} {
		text, err := fs.ReadFile(root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			taken = append(taken, accountSpans(path.Base(file), strings.Split(strings.TrimSpace(line), ":"))...)
		}
	}
	processes, err := fs.Glob(root, "proc/[0-9]*/status")
	if err != nil {
		return nil, err
	}
	for _, file := range processes {
		taken = append(taken, usersOf(root, file)...)
	}
	return taken, nil
}

// accountSpans returns the IDs in a line such as web:x:1000:1000:... of passwd, or web:100000:65536 of subuid.
func accountSpans(file string, fields []string) (taken []span) {
	if len(fields) < 3 {
		return nil
	}
	if strings.HasPrefix(file, "sub") {
		if n := numbers(fields[1:]); len(n) == 2 {
			return []span{{n[0], n[0] + n[1] - 1}}
		}
		return nil
	}
	for _, id := range numbers(fields[2:]) {
		taken = append(taken, span{id, id})
	}
	return taken
}

// usersOf reads the users and groups of a process; none if it has ended.
func usersOf(root fs.FS, file string) (taken []span) {
	f, err := root.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // It is only read.
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != "Uid" && name != "Gid" && name != "Groups" {
			continue
		}
		for _, id := range numbers(strings.Fields(value)) {
			taken = append(taken, span{id, id})
		}
	}
	return taken
}

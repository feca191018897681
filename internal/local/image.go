package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// maxProcesses is the most processes and threads of an image: enough for a thread for each of 10,000 connections.
const maxProcesses = 16384

type imaged struct {
	digest string
	root   image.Root
}

// inImage reports whether an implementation runs in its image: if the image is a local file, if there is no command, or if the user wants it.
func (o Options) inImage(i record.Implementation) bool {
	return i.Image != "" && (len(i.Command) == 0 || plan.IsPath(i.Image) || o.Images)
}

// unpackImage unpacks an implementation's image. The error is a sentence.
func (r *Run) unpackImage(ctx context.Context, i record.Implementation) error {
	if err := checkLowPort(i, "/proc"); err != nil {
		return err
	}
	users, err := image.FreeUsers()
	if err == nil {
		err = image.Permitted(users)
	}
	if err != nil {
		return noSandbox(i, err)
	}
	if c := i.Container; (c.User != nil || c.Group != nil) && (r.launched(i.Name) || !image.ChangesUser()) {
		return fmt.Errorf("implementations[%s].user and group cannot be given on this machine: a program that measures itself runs as root there, and who is not root has no other user: remove them", i.Name)
	}
	if err := checkScratch(i); err != nil {
		return err
	}
	cache, err := r.options.imageCache()
	if err != nil {
		return err
	}
	err = r.options.openImage(ctx, i.Image, func(opened *image.Image) error {
		dir, err := opened.Unpack(ctx, cache)
		if err != nil {
			return fmt.Errorf("unpacking the image %s: %w", i.Image, err)
		}
		process, err := opened.Process(dir, i.Command, i.Container.Args, variables(i))
		if err != nil {
			return err
		}
		if err := r.setUser(&process, i); err != nil {
			return err
		}
		root := image.Root{Dir: dir, Process: process, Users: users, Processes: maxProcesses}
		if err := root.Check(); err != nil {
			return fmt.Errorf("%w, by XDG_CACHE_HOME", err)
		}
		if r.images == nil {
			r.images = map[string]imaged{}
		}
		r.images[i.Name] = imaged{digest: opened.Digest, root: root}
		return nil
	})
	if err != nil {
		return fmt.Errorf("implementations[%s].image: %w", i.Name, err)
	}
	return nil
}

// setUser sets the user and group of an image's process. Without a request it is not root, as on a cluster.
func (r *Run) setUser(process *image.Process, i record.Implementation) error {
	if process.UID == 0 {
		process.UID, process.GID = record.OwnUser, record.OwnUser
	}
	if user := i.Container.User; user != nil {
		process.UID = int(*user)
	}
	if group := i.Container.Group; group != nil {
		process.GID = int(*group)
	}
	if r.launched(i.Name) || !image.ChangesUser() {
		// The parent writes what the program reads, or the namespace has no other user.
		process.UID, process.GID = 0, 0
	}
	if max(process.UID, process.GID) >= image.UserCount {
		return fmt.Errorf("it runs as user %d and group %d, and a sandbox on this machine has IDs up to %d: set user and group", process.UID, process.GID, image.UserCount-1)
	}
	return nil
}

// firstPort is the first port for programs without capabilities, by default.
const firstPort = 1024

// checkLowPort returns a sentence if an image may not listen on its port.
func checkLowPort(i record.Implementation, proc string) error {
	first := firstPort
	if text, err := os.ReadFile(filepath.Join(proc, "sys/net/ipv4/ip_unprivileged_port_start")); err == nil {
		if own, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			first = own
		}
	}
	if i.Port == 0 || int(i.Port) >= first {
		return nil
	}
	return fmt.Errorf("implementations[%s].port is %d: on this machine an image can listen on ports from %d: choose another port and tell it to the server, or run sysctl net.ipv4.ip_unprivileged_port_start=%d", i.Name, i.Port, first, i.Port)
}

// noSandbox says why an image is refused, and what to do.
func noSandbox(i record.Implementation, why error) error {
	fix := "run loadstone as root, permit user namespaces"
	switch {
	case errors.Is(why, syscall.EACCES):
		fix = "let every user execute this program (chmod a+rx)"
	case image.ChangesUser():
		fix = "run loadstone outside of containers, with sysctl user.max_user_namespaces above 0"
	}
	return fmt.Errorf("implementations[%s].image: this machine permits no sandbox (%w): %s, or give implementations[].command, which is started without its image and without a sandbox", i.Name, why, fix)
}

func variables(i record.Implementation) []string {
	var list []string
	for _, v := range i.Container.Env {
		list = append(list, v.Name+"="+v.Value)
	}
	return list
}

func checkScratch(i record.Implementation) error {
	for _, s := range i.Container.Scratch {
		if path.Clean(s.Path) != "/tmp" {
			return fmt.Errorf("implementations[%s].scratch: in an image on this machine only /tmp can be written to, and not %s: use /tmp", i.Name, s.Path)
		}
	}
	return nil
}

// openImage reads an image by its path (relative to the run file's folder) or by its name.
func (o Options) openImage(ctx context.Context, reference string, use func(*image.Image) error) error {
	switch {
	case !plan.IsPath(reference):
		return image.OpenName(ctx, reference, use)
	case filepath.IsAbs(reference):
		return image.OpenPath(reference, use)
	}
	return image.OpenPath(filepath.Join(o.Folder, reference), use)
}

func (o Options) imageCache() (string, error) {
	if o.Cache != "" {
		return o.Cache, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a cache for images: %w: set XDG_CACHE_HOME", err)
	}
	return filepath.Join(user, "loadstone", "unpacked"), nil
}

func (r *Run) imageNotes() []string {
	var notes []string
	network := "the network is this machine's"
	if r.apart() {
		network = "it reached the programs of the run alone (spec.placement.network: Host lets images use this machine's network)"
	}
	for _, i := range r.facts.Plan.Implementations {
		own, found := r.images[i.Name]
		if !found {
			continue
		}
		user := fmt.Sprintf("as user %d and group %d", own.root.Process.UID, own.root.Process.GID)
		switch {
		case !image.ChangesUser():
			user = "as the user who started the run"
		case r.launched(i.Name):
			user = "as root of the sandbox, whatever its image says, since its parent and it share files"
		}
		notes = append(notes, fmt.Sprintf("implementations[%s] ran in its image %s (%s), unpacked: in a sandbox, with a root file system that is only read, %s; %s", i.Name, i.Image, own.digest, user, network))
	}
	return notes
}

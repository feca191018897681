package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

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
	if err := namespacesPermitted(ctx); err != nil {
		return fmt.Errorf("implementations[%s].image: this machine permits no mount namespace (%w): run loadstone as root, or give implementations[].command, which is started without its image", i.Name, err)
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
		if process.UID == 0 {
			// As on a cluster: no root unless requested. Root could signal every process of this machine.
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
		if r.images == nil {
			r.images = map[string]imaged{}
		}
		r.images[i.Name] = imaged{digest: opened.Digest, root: image.Root{Dir: dir, Process: process}}
		return nil
	})
	if err != nil {
		return fmt.Errorf("implementations[%s].image: %w", i.Name, err)
	}
	return nil
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

// namespacesPermitted returns why this machine forbids mount namespaces, or nil.
func namespacesPermitted(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, reexec.ContainCommand)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	image.SetNamespaces(cmd.SysProcAttr)
	if said, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, quoted(said))
	}
	return nil
}

func quoted(said []byte) error {
	if text := strings.TrimSpace(string(said)); text != "" {
		return errors.New(text)
	}
	return nil
}

// containArgs returns the arguments that make this program the image's program, or a launched program's parent.
func containArgs(root image.Root) ([]string, error) {
	text, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("encoding a root file system: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return []string{self, reexec.ContainCommand, string(text)}, nil
}

func (r *Run) imageNotes() []string {
	var notes []string
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
			user = "as root, whatever its image says, since its parent writes what it reads"
		}
		notes = append(notes, fmt.Sprintf("implementations[%s] ran in its image %s (%s), unpacked: in a mount namespace of its own, with a root file system that is only read, %s; the network, the processes and the users are this machine's", i.Name, i.Image, own.digest, user))
	}
	return notes
}

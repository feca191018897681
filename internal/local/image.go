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

// imaged is an implementation that runs in its image.
type imaged struct {
	digest string
	root   image.Root
}

// inImage reports whether an implementation runs in its image: where that is a file of this machine, where there is no command, or where the user wants
// it so.
func (o Options) inImage(i record.Implementation) bool {
	return i.Image != "" && (len(i.Command) == 0 || plan.IsPath(i.Image) || o.Images)
}

// unpackImage unpacks the image of an implementation. The error is a sentence.
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
			// As on a cluster: nobody measures as root who has not asked for it, and who is root here may signal every process of this machine.
			process.UID, process.GID = record.OwnUser, record.OwnUser
		}
		if user := i.Container.User; user != nil {
			process.UID = int(*user)
		}
		if group := i.Container.Group; group != nil {
			process.GID = int(*group)
		}
		if r.launched(i.Name) || !image.ChangesUser() {
			// Its parent writes what it reads, or there is no other user in its namespace.
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

// variables are those of an implementation, as a process has them.
func variables(i record.Implementation) []string {
	var list []string
	for _, v := range i.Container.Env {
		list = append(list, v.Name+"="+v.Value)
	}
	return list
}

// checkScratch asks for folders to write to that an unpacked image has.
func checkScratch(i record.Implementation) error {
	for _, s := range i.Container.Scratch {
		if path.Clean(s.Path) != "/tmp" {
			return fmt.Errorf("implementations[%s].scratch: in an image on this machine only /tmp can be written to, and not %s: use /tmp", i.Name, s.Path)
		}
	}
	return nil
}

// openImage reads an image by its path, from the folder of the run's file, or by its name.
func (o Options) openImage(ctx context.Context, reference string, use func(*image.Image) error) error {
	switch {
	case !plan.IsPath(reference):
		return image.OpenName(ctx, reference, use)
	case filepath.IsAbs(reference):
		return image.OpenPath(reference, use)
	}
	return image.OpenPath(filepath.Join(o.Folder, reference), use)
}

// imageCache is the folder for unpacked images.
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

// namespacesPermitted says why this machine permits no mount namespace; nil if it does.
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

// quoted is what a process said, as an error; nil if it said nothing.
func quoted(said []byte) error {
	if text := strings.TrimSpace(string(said)); text != "" {
		return errors.New(text)
	}
	return nil
}

// containArgs are the arguments with which this program becomes the program of an image, or, of one that is launched, its parent.
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

// imageNotes are what the run's manifest says of images.
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

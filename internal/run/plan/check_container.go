package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// defaultScratchBytes is the size of a folder to write to.
const defaultScratchBytes = 256 << 20

// takenFolders are those of a container that are the kernel's, or Loadstone's own.
var takenFolders = []string{"/proc", "/sys", "/dev", "/loadstone"}

// checkContainers looks at what implementations ask for beside image and command.
func checkContainers(spec v1alpha1.BenchmarkRunSpec) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		if v := checkOwn(fmt.Sprintf("spec.implementations[%d]", i), impl.ContainerSettings); v != nil {
			return v
		}
		if impl.Readiness != (v1alpha1.Readiness{}) && impl.Port == 0 {
			return kind.Invalid("spec.implementations[%d].readiness is for servers, and %s has no port: name its port, or remove readiness", i, impl.Name)
		}
		if v := checkPaths(fmt.Sprintf("spec.implementations[%d]", i), impl); v != nil {
			return v
		}
		return nil
	})
}

// checkPaths looks at what else than loads asks a server for.
func checkPaths(field string, impl v1alpha1.Implementation) *Violation {
	if v := kind.CheckPath(field+".readiness.path", impl.Readiness.Path); v != nil {
		return v
	}
	for n, c := range impl.Claims {
		if v := kind.CheckPath(fmt.Sprintf("%s.claims[%d].path", field, n), c.Path); v != nil {
			return v
		}
	}
	return nil
}

// checkOwn looks at the resources and the folders of a container, which is a field of the spec.
func checkOwn(container string, own v1alpha1.ContainerSettings) *Violation {
	if v := checkResources(container, own.Resources); v != nil {
		return v
	}
	return checkFolders(container, own)
}

// checkFolders looks at the folders of a container.
func checkFolders(container string, own v1alpha1.ContainerSettings) *Violation {
	var folders []string
	add := func(field, folder string) *Violation {
		clean := path.Clean(folder)
		for _, taken := range takenFolders {
			if clean == taken || strings.HasPrefix(clean, taken+"/") || clean == "/" {
				return kind.Invalid("%s.%s is %s, which a container needs for itself: choose another folder", container, field, folder)
			}
		}
		if slices.Contains(folders, clean) {
			return kind.Invalid("%s.%s is %s, which another item of files or scratch names, too: give each a folder of its own", container, field, folder)
		}
		folders = append(folders, clean)
		return nil
	}
	for n, f := range own.Files {
		if v := add(fmt.Sprintf("files[%d].path", n), f.Path); v != nil {
			return v
		}
	}
	for n, s := range own.Scratch {
		if v := add(fmt.Sprintf("scratch[%d].path", n), s.Path); v != nil {
			return v
		}
		if s.Size != nil && s.Size.Value() < 1<<20 {
			return kind.Invalid("%s.scratch[%d].size is %s, too little for any file: give at least 1Mi", container, n, s.Size)
		}
	}
	return nil
}

// checkHere refuses what only a cluster can give, for a run on one machine.
func checkHere(i int, impl v1alpha1.Implementation) *Violation {
	const way = "a run on one machine has no ConfigMaps and Secrets"
	for n, v := range impl.Env {
		if v.ValueFrom != (v1alpha1.ValueSource{}) {
			return kind.Invalid("spec.implementations[%d].env[%d].valueFrom cannot be read: %s: give %s a value", i, n, way, v.Name)
		}
	}
	switch {
	case len(impl.Dependencies) > 0:
		return kind.Invalid("spec.implementations[%d].dependencies cannot be started: a run on one machine starts no containers beside a server: start %s on this machine before the run and remove it here, or measure on a cluster", i, impl.Dependencies[0].Name)
	case len(impl.EnvFrom) > 0:
		return kind.Invalid("spec.implementations[%d].envFrom cannot be read: %s: list the variables in env", i, way)
	case len(impl.Resources) > 0:
		return kind.Invalid("spec.implementations[%d].resources cannot be given: a run on one machine gives CPUs and memory: its command finds what the machine has, so reserve it there and remove resources", i)
	case len(impl.Files) > 0:
		return kind.Invalid("spec.implementations[%d].files cannot be read: %s: name the files of this machine in command or args", i, way)
	}
	return nil
}

package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// defaultScratchBytes is the default size of a scratch folder.
const defaultScratchBytes = 256 << 20

// takenFolders belong to the kernel or to Loadstone.
var takenFolders = []string{"/proc", "/sys", "/dev", "/loadstone"}

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

func checkOwn(container string, own v1alpha1.ContainerSettings) *Violation {
	if v := checkResources(container, own.Resources); v != nil {
		return v
	}
	return checkFolders(container, own)
}

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
			return kind.Invalid("%s.%s is %s, like another item of files or scratch: give each a different folder", container, field, folder)
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

// checkHere refuses what only a cluster can provide.
func checkHere(i int, impl v1alpha1.Implementation) *Violation {
	const way = "a run on one machine has no ConfigMaps and Secrets"
	for n, v := range impl.Env {
		if v.ValueFrom != (v1alpha1.ValueSource{}) {
			return kind.Invalid("spec.implementations[%d].env[%d].valueFrom cannot be read: %s: give %s a value", i, n, way, v.Name)
		}
	}
	switch {
	case len(impl.Dependencies) > 0:
		return kind.Invalid("spec.implementations[%d].dependencies works on clusters only: remove it, and start %s before the run (images need spec.placement.network: Host to reach it), or use a cluster", i, impl.Dependencies[0].Name)
	case len(impl.EnvFrom) > 0:
		return kind.Invalid("spec.implementations[%d].envFrom cannot be read: %s: list the variables in env", i, way)
	case len(impl.Resources) > 0:
		return kind.Invalid("spec.implementations[%d].resources works on clusters only: reserve them on this machine and remove the field", i)
	case len(impl.Files) > 0:
		return kind.Invalid("spec.implementations[%d].files cannot be read: %s: name the files of this machine in command or args", i, way)
	}
	return nil
}

// Defaults of a dependency.
const (
	defaultDependencyMilliCPU = 1000
	defaultDependencySeconds  = 60
)

func checkDependencies(spec v1alpha1.BenchmarkRunSpec, works []kind.Kind) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		if len(impl.Dependencies) == 0 {
			return nil
		}
		for _, k := range works {
			if v := k.RefuseDependencies(spec, i); v != nil {
				return v
			}
		}
		ports := map[int32]string{protocol.Port: "Loadstone's agent", impl.Port: impl.Name}
		for n, d := range impl.Dependencies {
			if v := checkDependency(fmt.Sprintf("spec.implementations[%d].dependencies[%d]", i, n), d, ports); v != nil {
				return v
			}
		}
		return nil
	})
}

// checkDependency checks one dependency. Containers of a pod share their ports; taken holds those in use.
func checkDependency(field string, d v1alpha1.Dependency, taken map[int32]string) *Violation {
	switch {
	case IsPath(d.Image):
		return kind.Invalid("%s.image is %s, a file of one machine: name the image as a cluster pulls it", field, d.Image)
	case d.Port != 0 && taken[d.Port] != "":
		return kind.Invalid("%s.port is %d, like that of %s in the same pod: let %s listen on another one", field, d.Port, taken[d.Port], d.Name)
	case d.Readiness != (v1alpha1.Readiness{}) && d.Port == 0:
		return kind.Invalid("%s.readiness needs a port, and %s has none: set port, or remove readiness", field, d.Name)
	case d.CPU != nil && d.CPU.MilliValue() < leastMilliCPU:
		return kind.Invalid("%s.cpu is %s, too little for any container: give at least %dm", field, d.CPU, leastMilliCPU)
	case d.Memory != nil && d.Memory.Value() < leastMemory:
		return kind.Invalid("%s.memory is %s, too little for any container: give at least 4Mi", field, d.Memory)
	}
	if v := kind.CheckPath(field+".readiness.path", d.Readiness.Path); v != nil {
		return v
	}
	if d.Port != 0 {
		taken[d.Port] = d.Name
	}
	return checkOwn(field, d.ContainerSettings)
}

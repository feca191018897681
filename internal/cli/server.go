package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
)

const lastPort = 65535

// Server is the server that an A/A run measures under two names.
type Server struct {
	Run     string
	Image   string
	Port    int
	Command []string
}

// OnCluster returns the run of config/samples/aa.yaml, with Image if it is set. Errors mean invalid input.
func (s Server) OnCluster() (*v1alpha1.BenchmarkRun, error) {
	if s.Image == "" && len(s.Command) > 0 {
		return nil, errors.New("a command on a cluster needs an image: set --image, or remove the flags that select a cluster")
	}
	if s.Image == "" {
		return s.run(nil)
	}
	return s.run(func(i *v1alpha1.Implementation) { i.Image, i.Port, i.Command = s.Image, int32(s.Port), s.Command })
}

// Here returns the same run for this machine. Without a command and an image it measures the built-in server of the program at self, on the first
// free port from s.Port. With too few CPUs the run is marked and has no noise floor.
func (s Server) Here(self string, taken func(port int) bool) (*v1alpha1.BenchmarkRun, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Image == "" && len(s.Command) == 0 {
		for s.Port < lastPort && taken(s.Port) {
			s.Port++
		}
		s.Command = []string{self, builtInServer, "--port=" + strconv.Itoa(s.Port)}
	}
	r, err := s.run(func(i *v1alpha1.Implementation) { i.Image, i.Port, i.Command = s.Image, int32(s.Port), s.Command })
	if err == nil {
		r.Spec.Placement.Pinning = v1alpha1.Preferred
	}
	return r, err
}

// run returns the sample after changing both implementations.
func (s Server) run(change func(*v1alpha1.Implementation)) (*v1alpha1.BenchmarkRun, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var r v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(samples.AA, &r); err != nil {
		return nil, fmt.Errorf("decoding config/samples/aa.yaml: %w", err)
	}
	r.Name = s.Run
	if change == nil {
		return &r, nil
	}
	for i := range r.Spec.Implementations {
		change(&r.Spec.Implementations[i])
	}
	return &r, nil
}

func (s Server) check() error {
	if wrong := validation.IsDNS1123Subdomain(s.Run); len(wrong) > 0 {
		return fmt.Errorf("--name %q is not a valid run name: %s", s.Run, strings.Join(wrong, "; "))
	}
	if s.Port < 1 || s.Port > lastPort {
		return fmt.Errorf("--port %d is not a valid port: use 1 to %d", s.Port, lastPort)
	}
	return nil
}

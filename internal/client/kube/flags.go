package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/store/download"
)

// Flags selects a cluster by kubectl's flags and files.
type Flags struct {
	overrides clientcmd.ConfigOverrides
	file      string
	System    string
	Note      func(string)
}

var namingFlags = []string{clientcmd.RecommendedConfigPathFlag, clientcmd.FlagContext, clientcmd.FlagNamespace, clientcmd.FlagAPIServer}

// Bind adds kubectl's cluster flags except --cluster, which has another meaning here. Help lists those with a description.
func (k *Flags) Bind(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.ClusterName.LongName = ""
	own := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&k.overrides, own, names)
	own.StringVar(&k.file, clientcmd.RecommendedConfigPathFlag, "", "")
	own.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for name, usage := range map[string]string{
		clientcmd.RecommendedConfigPathFlag: "kubeconfig `FILE` (default: $KUBECONFIG, then ~/.kube/config)",
		clientcmd.FlagContext:               "kubeconfig context `NAME` (default: current context)",
		clientcmd.FlagNamespace:             "namespace `NAME` of runs and suites (default: namespace of the context)",
	} {
		f := own.Lookup(name)
		f.Usage, f.Hidden = usage, false
	}
	own.StringVar(&k.System, "system-namespace", "loadstone-system", "namespace `NAME` of the operator")
	flags.AddFlagSet(own)
}

// Named reports whether one of namingFlags is set.
func (k *Flags) Named(flags *pflag.FlagSet) bool {
	for _, name := range namingFlags {
		if flags.Changed(name) {
			return true
		}
	}
	return false
}

// ContextFlag is the flag of the kubeconfig's context.
const ContextFlag = clientcmd.FlagContext

// Contexts returns the names of the kubeconfig's contexts in alphabetical order; none if it cannot be read.
func (k *Flags) Contexts() []string {
	config, err := k.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

func (k *Flags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.file
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &k.overrides)
}

// Namespace returns the flag's, the context's, or default.
func (k *Flags) Namespace() (string, error) {
	name, _, err := k.loader().Namespace()
	if err != nil {
		return "", k.explain(err)
	}
	return name, nil
}

// NamespaceOf returns the namespace of a run file that may name one. A different flag is an error.
func (k *Flags) NamespaceOf(file string) (string, error) {
	asked := k.overrides.Context.Namespace
	switch {
	case file == "":
		return k.Namespace()
	case asked != "" && asked != file:
		return "", invalid(fmt.Errorf("the file has namespace %s, but --namespace is %s: remove one of them", file, asked))
	}
	return file, nil
}

// Config returns access to the API server.
func (k *Flags) Config() (*rest.Config, error) {
	config, err := k.loader().ClientConfig()
	if err != nil {
		return nil, k.explain(err)
	}
	return config, nil
}

// ErrNoCluster: this machine has no cluster configured.
var ErrNoCluster = errors.New("found no cluster: set KUBECONFIG or use --kubeconfig FILE")

func (k *Flags) explain(err error) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		err = ErrNoCluster
	case clientcmd.IsContextNotFound(err):
		err = fmt.Errorf("the kubeconfig has no context %q: kubectl config get-contexts lists all", k.overrides.CurrentContext)
	default:
		err = fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return invalid(err)
}

// Client returns a client of a cluster with this version of Loadstone.
func (k *Flags) Client(ctx context.Context) (client.Client, error) {
	config, err := k.Config()
	if err != nil {
		return nil, err
	}
	return Connect(ctx, config)
}

// Led returns an error if the operator ignores runs of a namespace. An operator that does not answer may lead them.
func (k *Flags) Led(ctx context.Context, namespace string) error {
	config, err := k.Config()
	if err != nil {
		return err
	}
	operator, err := download.NewClient(config, k.System)
	if err != nil {
		return err
	}
	if err := operator.Led(ctx, namespace); errors.Is(err, download.ErrNotLed) {
		return invalid(err)
	}
	return nil
}

// Installation returns the cluster's Loadstone with its store. Close it after use.
func (k *Flags) Installation(ctx context.Context) (*Installation, error) {
	config, err := k.Config()
	if err != nil {
		return nil, err
	}
	return FindIn(ctx, config, k.System)
}

// Invalid is an error in user input: nothing was changed on the cluster.
type Invalid struct{ err error }

// Error implements error.
func (e *Invalid) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error.
func (e *Invalid) Unwrap() error { return e.err }

func invalid(err error) error { return &Invalid{err} }

package kube

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flags is how commands reach a cluster: by kubectl's own flags and files.
type Flags struct {
	overrides clientcmd.ConfigOverrides
	file      string
	// System is the namespace of the operator.
	System string
	// Note is told what a user should know and did not ask for; it may be nil.
	Note func(string)
}

// namingFlags are the flags that name a cluster, or a namespace of one.
var namingFlags = []string{clientcmd.RecommendedConfigPathFlag, clientcmd.FlagContext, clientcmd.FlagNamespace, clientcmd.FlagAPIServer}

// Bind gives a set the flags that kubectl has for any cluster, without --cluster: here it has another meaning. Help lists those that it describes.
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

// Named reports whether one of the naming flags is set.
func (k *Flags) Named(flags *pflag.FlagSet) bool {
	for _, name := range namingFlags {
		if flags.Changed(name) {
			return true
		}
	}
	return false
}

func (k *Flags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.file
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &k.overrides)
}

// Namespace is that of the flag, of the context, or default.
func (k *Flags) Namespace() (string, error) {
	name, _, err := k.loader().Namespace()
	if err != nil {
		return "", k.explain(err)
	}
	return name, nil
}

// NamespaceOf is the namespace of a run whose file names one, or none. A flag that names another is an error.
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

// Config is how to reach the API server.
func (k *Flags) Config() (*rest.Config, error) {
	config, err := k.loader().ClientConfig()
	if err != nil {
		return nil, k.explain(err)
	}
	return config, nil
}

// ErrNoCluster is the error of a machine that knows of no cluster.
var ErrNoCluster = errors.New("found no cluster: set KUBECONFIG or use --kubeconfig FILE")

// explain says what is wrong with a kubeconfig, and the way out.
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

// Client is a client of a cluster that has a Loadstone of this version.
func (k *Flags) Client(ctx context.Context) (client.Client, error) {
	config, err := k.Config()
	if err != nil {
		return nil, err
	}
	return Connect(ctx, config)
}

// Installation is the Loadstone of the cluster, with its store. Close it after use.
func (k *Flags) Installation(ctx context.Context) (*Installation, error) {
	config, err := k.Config()
	if err != nil {
		return nil, err
	}
	return FindIn(ctx, config, k.System)
}

// Invalid is an error of what the user has typed or written: nothing was changed on the cluster.
type Invalid struct{ err error }

// Error implements error.
func (e *Invalid) Error() string { return e.err.Error() }

// Unwrap lets errors.Is and errors.As look inside.
func (e *Invalid) Unwrap() error { return e.err }

func invalid(err error) error { return &Invalid{err} }

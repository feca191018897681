package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/discover"
)

// kube is how commands reach a cluster: by kubectl's own flags and files.
type kube struct {
	overrides clientcmd.ConfigOverrides
	file      string
	// system is the namespace of the operator.
	system string
}

// namingFlags are the flags that name a cluster, or a namespace of one.
var namingFlags = []string{clientcmd.RecommendedConfigPathFlag, clientcmd.FlagContext, clientcmd.FlagNamespace, clientcmd.FlagAPIServer}

// bind gives a set the flags that kubectl has for any cluster, without --cluster: here it has another meaning. Help lists those that it describes.
func (k *kube) bind(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.ClusterName.LongName = ""
	own := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&k.overrides, own, names)
	own.StringVar(&k.file, clientcmd.RecommendedConfigPathFlag, "", "")
	own.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for name, usage := range map[string]string{
		clientcmd.RecommendedConfigPathFlag: "the kubeconfig `FILE`; otherwise that of $KUBECONFIG, or ~/.kube/config",
		clientcmd.FlagContext:               "the context of the kubeconfig, by its `NAME`; otherwise the current one",
		clientcmd.FlagNamespace:             "the namespace of the run, by its `NAME`; otherwise that of the context",
	} {
		f := own.Lookup(name)
		f.Usage, f.Hidden = usage, false
	}
	own.StringVar(&k.system, "system-namespace", "loadstone-system", "the namespace of the operator, by its `NAME`")
	flags.AddFlagSet(own)
}

// named reports whether one of the naming flags is set.
func (k *kube) named(flags *pflag.FlagSet) bool {
	for _, name := range namingFlags {
		if flags.Changed(name) {
			return true
		}
	}
	return false
}

func (k *kube) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.file
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &k.overrides)
}

// namespace is that of the flag, of the context, or default.
func (k *kube) namespace() (string, error) {
	name, _, err := k.loader().Namespace()
	if err != nil {
		return "", k.explain(err)
	}
	return name, nil
}

// namespaceOf is the namespace of a run whose file names one, or none. A flag that names another is an error.
func (k *kube) namespaceOf(file string) (string, error) {
	asked := k.overrides.Context.Namespace
	switch {
	case file == "":
		return k.namespace()
	case asked != "" && asked != file:
		return "", badInput(fmt.Errorf("the file is of namespace %s, and --namespace is %s: remove one of both", file, asked))
	}
	return file, nil
}

// config is how to reach the API server.
func (k *kube) config() (*rest.Config, error) {
	config, err := k.loader().ClientConfig()
	if err != nil {
		return nil, k.explain(err)
	}
	return config, nil
}

// explain says what is wrong with a kubeconfig, and the way out.
func (k *kube) explain(err error) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		err = errors.New("no kubeconfig names a cluster: set KUBECONFIG, or give --kubeconfig FILE")
	case clientcmd.IsContextNotFound(err):
		err = fmt.Errorf("the kubeconfig has no context %q: kubectl config get-contexts lists those that it has", k.overrides.CurrentContext)
	default:
		err = fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return badInput(err)
}

// client is a client of a cluster that has a Loadstone of this version.
func (k *kube) client(ctx context.Context) (client.Client, error) {
	config, err := k.config()
	if err != nil {
		return nil, err
	}
	return discover.Connect(ctx, config)
}

// installation is the Loadstone of the cluster, with its store. Close it after use.
func (k *kube) installation(ctx context.Context) (*discover.Installation, error) {
	config, err := k.config()
	if err != nil {
		return nil, err
	}
	return discover.FindIn(ctx, config, k.system)
}

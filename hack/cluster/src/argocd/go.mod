// build.sh adds the requirements, with the versions from versions.env, and what Kubernetes' module replaces.
module loadstone.dev/hack/argocd

go 1.24.0

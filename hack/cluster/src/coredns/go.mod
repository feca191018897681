// build.sh adds the requirement, with the version from versions.env.
module loadstone.dev/hack/coredns

go 1.24.0

// build.sh adds the requirement, with the version from versions.env.
module loadstone.dev/hack/flux

go 1.25.0

// As Flux' own modules replace it: what a required module replaces does not count.
replace github.com/opencontainers/go-digest => github.com/opencontainers/go-digest v1.0.1-0.20220411205349-bde1400a84be

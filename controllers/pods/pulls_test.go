package pods

import "testing"

// Messages as runtimes and kubelets write them, with names of images and hosts changed.
func TestARegistryThatRefusesIsToldFromOneThatIsAway(t *testing.T) {
	const cri = `rpc error: code = Unknown desc = failed to pull and unpack image "registry.example/acme/server:1": `
	const resolving = cri + `failed to resolve reference "registry.example/acme/server:1": `
	const head = `failed to do request: Head "https://registry.example/v2/acme/server/manifests/1": `
	const initializing = `initializing source docker://registry.example/acme/server:1: `
	const reading = initializing + `reading manifest 1 in registry.example/acme/server: `
	const daemon = "Error response from daemon: "
	const ecr = `unknown: The image with imageId {imageDigest:'null', imageTag:'1'} does not exist within the registry with id '012345678901'`
	for name, tc := range map[string]struct {
		said    string
		refused bool
	}{
		// containerd.
		"containerd: no such tag":                    {`rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/acme/server:1": failed to resolve reference "registry.example/acme/server:1": registry.example/acme/server:1: not found`, true},
		"containerd: no such repository, Docker Hub": {resolving + "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed", true},
		"containerd: 401 of a token":                 {resolving + "failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.example/token: 401 Unauthorized", true},
		"containerd: 403 of a token, ghcr":           {resolving + "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://registry.example/token: 403 Forbidden", true},
		"containerd: 403 of a manifest":              {resolving + "unexpected status from HEAD request to https://registry.example/v2/acme/server/manifests/1: 403 Forbidden", true},
		"containerd: no key, ECR":                    {resolving + "pulling from host registry.example failed with status code [manifests 1]: 401 Unauthorized", true},
		"containerd: another architecture":           {resolving + "no match for platform in manifest: not found", true},
		"containerd: too many requests, Docker Hub":  {cri + "failed to copy: httpReadSeeker: failed open: unexpected status code https://registry.example/v2/acme/server/manifests/sha256:00: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://docs.example/increase-rate-limit", false},
		"containerd: nobody listens":                 {resolving + head + "dial tcp 127.0.0.1:5000: connect: connection refused", false},
		"containerd: no answer":                      {resolving + head + "dial tcp 10.0.0.1:443: i/o timeout", false},
		"containerd: no such host, for now":          {resolving + head + "dial tcp: lookup registry.example on 10.96.0.10:53: no such host", false},
		"containerd: a name server that is ill":      {resolving + head + "dial tcp: lookup registry.example on 10.96.0.10:53: server misbehaving", false},
		"containerd: a certificate":                  {resolving + head + "tls: failed to verify certificate: x509: certificate signed by unknown authority", false},
		"containerd: HTTP where HTTPS is asked for":  {resolving + head + "http: server gave HTTP response to HTTPS client", false},
		"containerd: cut off":                        {resolving + "unexpected EOF", false},
		"containerd: reset in a layer":               {cri + `failed to copy: httpReadSeeker: failed open: failed to do request: Get "https://cdn.example/layer": read tcp 10.0.0.2:4711->10.0.0.1:443: read: connection reset by peer`, false},
		"containerd: 503":                            {resolving + "unexpected status from HEAD request to https://registry.example/v2/acme/server/manifests/1: 503 Service Unavailable", false},
		"containerd: 500 of a token":                 {resolving + "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://auth.example/token: 500 Internal Server Error", false},
		"containerd: a layer that came wrong":        {cri + "failed commit on ref \"layer-sha256:55\": unexpected commit digest sha256:a8, expected sha256:55: failed precondition", false},
		"containerd: a disk that is full":            {cri + "failed to copy: failed to send write: write /var/lib/containerd/io.containerd.content.v1.content/ingest/0/data: no space left on device: unknown", false},
		"containerd: a folder that it may not write": {cri + "failed to prepare extraction snapshot: mkdir /var/lib/containerd/tmp: permission denied: unknown", false},
		"containerd: given up":                       {`rpc error: code = Canceled desc = failed to pull and unpack image "registry.example/acme/server:1": context canceled`, false},
		"containerd: too late":                       {`rpc error: code = DeadlineExceeded desc = failed to pull and unpack image "registry.example/acme/server:1": failed to resolve reference "registry.example/acme/server:1": context deadline exceeded`, false},
		// CRI-O.
		"CRI-O: no such tag, distribution":        {reading + "manifest unknown: manifest unknown", true},
		"CRI-O: no such repository, distribution": {reading + "name unknown: repository name not known to registry", true},
		"CRI-O: no right, quay":                   {reading + "unauthorized: access to the requested resource is not authorized", true},
		"CRI-O: no right, Docker Hub":             {reading + "errors:\ndenied: requested access to the resource is denied\nunauthorized: authentication required", true},
		"CRI-O: another architecture":             {`choosing image instance: no image found in image index for architecture "arm64", variant "v8", OS "linux"`, true},
		"CRI-O: no such host":                     {initializing + `pinging container registry registry.example: Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host`, false},
		"CRI-O: a name server that is away":       {initializing + `pinging container registry registry.example: Get "https://registry.example/v2/": proxyconnect tcp: dial tcp: lookup proxy: Temporary failure in name resolution`, false},
		"CRI-O: too many requests":                {reading + "toomanyrequests: You have reached your pull rate limit.", false},
		"CRI-O: a registry that is ill":           {initializing + "pinging container registry registry.example: received unexpected HTTP status: 502 Bad Gateway", false},
		// Docker, through cri-dockerd.
		"Docker: no such tag":                        {daemon + "manifest for registry.example/acme/server:1 not found: manifest unknown: manifest unknown", true},
		"Docker: no such repository, Docker Hub":     {daemon + "pull access denied for acme/server, repository does not exist or may require 'docker login': denied: requested access to the resource is denied", true},
		"Docker: no right, ghcr":                     {daemon + `Head "https://registry.example/v2/acme/server/manifests/1": denied: denied`, true},
		"Docker: no right to the package, ghcr":      {daemon + "pull access denied for registry.example/acme/server, repository does not exist or may require 'docker login': denied: permission_denied: read_package", true},
		"Docker: a wrong password, Docker Hub":       {daemon + `Get "https://registry.example/v2/": unauthorized: incorrect username or password`, true},
		"Docker: a wrong password, Artifactory":      {daemon + `Get "https://registry.example/v2/": unknown: Bad Credentials`, true},
		"Docker: no key, ECR":                        {daemon + `Head "https://registry.example/v2/acme/server/manifests/1": no basic auth credentials`, true},
		"Docker: another architecture":               {daemon + "no matching manifest for linux/arm64/v8 in the manifest list entries", true},
		"Docker: no such tag, Harbor":                {daemon + "unknown: artifact acme/server:1 not found", true},
		"Docker: no such project, Harbor":            {daemon + "unknown: project acme not found: project acme not found", true},
		"Docker: no such tag, ECR":                   {daemon + ecr, true},
		"Docker: no answer":                          {daemon + `Get "https://registry.example/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)`, false},
		"Docker: no answer in time":                  {daemon + `Get "https://registry.example/v2/": context deadline exceeded`, false},
		"Docker: a name server that does not answer": {daemon + `Get "https://registry.example/v2/": dial tcp: lookup registry.example on 192.168.49.1:53: read udp 192.168.49.2:45007->192.168.49.1:53: i/o timeout`, false},
		"Docker: too many requests":                  {daemon + "toomanyrequests: You have reached your unauthenticated pull rate limit. https://docs.example/increase-rate-limit", false},
		// kubelet.
		"kubelet: a pause between pulls, with the reason": {`Back-off pulling image "registry.example/acme/server:1": ErrImagePull: ` + resolving + "registry.example/acme/server:1: not found", true},
		"kubelet: a pause between pulls, and no reason":   {`Back-off pulling image "registry.example/acme/server:1"`, false},
		"kubelet: too many pulls at once":                 {"pull QPS exceeded", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused("registry.example/acme/server:1", tc.said); got != tc.refused {
				t.Errorf("%q is refused: %t", tc.said, got)
			}
		})
	}
}

func TestTheNameOfAnImageIsNoWordOfItsRegistry(t *testing.T) {
	for _, image := range []string{
		"registry.example/acme/access-denied:1", "registry.example:5000/unauthorized", "access-denied", "localhost/denied@sha256:00", "ACME/denied:1",
	} {
		for said, want := range map[string]bool{
			`failed to resolve reference "` + image + `": failed to do request: Head "https://x/v2/` + repository(image) + `/manifests/1": i/o timeout`: false,
			`failed to resolve reference "` + image + `": ` + image + `: not found`:                                                                     true,
		} {
			if got := refused(image, said); got != want {
				t.Errorf("of %s, %q is refused: %t", image, said, got)
			}
		}
	}
}

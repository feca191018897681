package download

import (
	"io/fs"
	"net/url"
	"path"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	// proxied is the operator's Service, and its port, as the API server's proxy names them. The right to it is the right to ask, and no more.
	proxied = "https:loadstone:handout"
	// TokenHeader carries the token of whoever asks: the API server takes Authorization out of what it passes on.
	TokenHeader = "Loadstone-Authorization"
	bearer      = "Bearer "
	// answers tells an answer of the operator from one of the API server, in the header Server.
	answers = "loadstone"
)

// route is where the files of a run are asked for.
const route = "/v1/namespaces/{namespace}/benchmarkruns/{name}/{file...}"

// address is route for one file.
func address(base *url.URL, namespace, name, file string) *url.URL {
	return base.JoinPath("v1/namespaces", url.PathEscape(namespace), "benchmarkruns", url.PathEscape(name), (&url.URL{Path: file}).EscapedPath())
}

// PrefixOf is where a run lies in the store: its namespace, its name and its UID are part of it.
func PrefixOf(r *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
}

// keyOf is the key of a file of a run. It lies below the run's prefix whatever the file is called, or is none.
func keyOf(r *v1alpha1.BenchmarkRun, file string) (key string, ok bool) {
	if r.UID == "" || file == "." || !fs.ValidPath(file) {
		return "", false
	}
	return path.Join(PrefixOf(r), file), true
}

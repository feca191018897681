package v1alpha1_test

import (
	"strings"
	"testing"
)

// A run of one server that is configured from outside, as users write it.
const configured = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: RUN, namespace: default}
spec:
  implementations:
  - name: app
    image: "app:1"
    port: 8080
    args: [--workers=4]
    env: [{name: MODE, value: fast}, {name: KEY, valueFrom: {secretKeyRef: {name: db, key: password}}}]
    envFrom: [{prefix: APP_, kind: ConfigMap, name: app}]
    files: [{path: /etc/app, configMap: {name: app}}]
    scratch: [{path: /tmp, size: 64Mi}]
    user: 1000
    group: 1000
    imagePullSecrets: [{name: registry}]
    readiness: {path: /ready, timeoutSeconds: 60}
    tls: {ca: PEM, serverName: app.example}
  loads: [{name: sweep, tool: wrk, levels: [{connections: 10}]}]
`

func TestInvalidContainerIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	const noTLS = "tls: {ca: PEM, serverName: app.example}"
	const env, absolute = "{name: MODE, value: fast}", "path must be absolute, without ':' and without the elements '.' and '..'"
	for name, tc := range map[string]struct{ before, after, want string }{
		"a variable with a hyphen":         {"name: MODE", "name: MO-DE", "a variable's name: use letters, digits and '_'; do not start with a digit"},
		"a variable that is there twice":   {env, env + ", " + env, `spec.implementations[0].env[1]: Duplicate value: {"name":"MODE"}`},
		"a variable of two origins":        {"secretKeyRef: {name: db, key: password}", "secretKeyRef: {name: db, key: a}, configMapKeyRef: {name: db, key: a}", "valueFrom needs either configMapKeyRef or secretKeyRef"},
		"a variable with a value and more": {"{name: KEY, valueFrom", "{name: KEY, value: a, valueFrom", "value and valueFrom exclude each other: remove one"},
		"a Secret without a key":           {"{name: db, key: password}", "{name: db}", "spec.implementations[0].env[1].valueFrom.secretKeyRef.key: Required value"},
		"variables from nowhere":           {"kind: ConfigMap, name: app", "name: app", "spec.implementations[0].envFrom[0].kind: Required value"},
		"files from nowhere":               {"{path: /etc/app, configMap: {name: app}}", "{path: /etc/app}", "files: each item needs either configMap or secret"},
		"files in no folder":               {"path: /etc/app", "path: etc/app", absolute},
		"files in a folder above":          {"path: /etc/app", "path: /etc/../app", absolute},
		"scratch in a folder above":        {"path: /tmp", "path: /tmp/..", absolute},
		"a negative user":                  {"user: 1000", "user: -1", "spec.implementations[0].user in body should be greater than or equal to 0"},
		"a server that is never ready":     {"timeoutSeconds: 60", "timeoutSeconds: 601", "spec.implementations[0].readiness.timeoutSeconds in body should be less than or equal to 600"},
		"a path that is none":              {"path: /ready", "path: ready", "path must start with '/' and contain only printable ASCII"},
		"TLS of nothing":                   {noTLS, "tls: {}", "spec.implementations[0].tls in body should have at least 1 properties"},
		"TLS with a name and no authority": {noTLS, "tls: {verify: None, serverName: a}", "tls.serverName needs ca: set ca, or remove serverName"},
		"an authority for nothing":         {noTLS, "tls: {verify: None, ca: PEM}", "tls needs either ca, to verify the certificate, or verify: None"},
		"nothing to verify by":             {noTLS, "tls: {verify: Authority}", "tls needs either ca, to verify the certificate, or verify: None"},
		"another way to verify":            {noTLS, "tls: {verify: Some}", `spec.implementations[0].tls.verify: Unsupported value: "Some": supported values: "Authority", "None"`},
		"a readiness of nothing":           {"{path: /ready, timeoutSeconds: 60}", "{}", "spec.implementations[0].readiness in body should have at least 1 properties"},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, strings.Replace(configured, "RUN", "bad", 1), tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(text))), tc.want)
		})
	}
}

func TestLargestContainerIsAccepted(t *testing.T) {
	if err := create(t, apiServer(t), parse(t, []byte(strings.Replace(configured, "RUN", "configured", 1)))); err != nil {
		t.Fatal(err)
	}
}

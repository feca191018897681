package kube

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const howToInstall = "install it with helm install loadstone charts/loadstone --namespace loadstone-system --create-namespace"

// ErrUnreachable is a cluster that does not answer, ErrNotInstalled one without a Loadstone, and ErrOtherVersion one whose Loadstone does not
// know what this program sends.
var (
	ErrUnreachable  = errors.New("the cluster is not reachable")
	ErrNotInstalled = errors.New("the cluster has no Loadstone")
	ErrOtherVersion = errors.New("the cluster's Loadstone is of another version")
)

// unknownField is what a strict API server says of a field that it does not know.
var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// Explain turns an error of an API server, whose address may be empty, into a sentence that says what is wrong and the way out. Other errors
// stay what they are.
func Explain(host string, err error) error {
	var network net.Error
	var address *url.Error
	if host != "" {
		host = " at " + host
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &address):
		return fmt.Errorf("%w%s: name another one with --context or --kubeconfig, or start it (%w)", ErrUnreachable, host, address.Err)
	case errors.As(err, &network):
		return fmt.Errorf("%w%s: name another one with --context or --kubeconfig, or start it (%w)", ErrUnreachable, host, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster%s does not accept your credentials: log in again, or name another user with --user or --context", host)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the cluster does not let you do this: ask its administrator for the right: %w", err)
	}
	if found := unknownField.FindAllStringSubmatch(err.Error(), -1); apierrors.IsBadRequest(err) && len(found) > 0 {
		var fields []string
		for _, f := range found {
			fields = append(fields, f[1])
		}
		return fmt.Errorf("%w: it does not know %s: upgrade it with helm upgrade, or take the field out", ErrOtherVersion, strings.Join(fields, ", "))
	}
	return err
}

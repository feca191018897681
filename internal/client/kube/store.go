package kube

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/store/artifact"
)

func storeConfig(ctx context.Context, c client.Client, d *appsv1.Deployment) (artifact.Config, error) {
	container := Container(d.Spec.Template.Spec, OperatorContainer)
	s3, err := storeArgs(container.Args)
	if err != nil {
		return s3, fmt.Errorf("reading the arguments of Deployment %s: %w", client.ObjectKeyFromObject(d), err)
	}
	if err := readKey(ctx, c, d, &s3); err != nil {
		return s3, fmt.Errorf("reading the object store's key: %w", err)
	}
	if s3.CAFile != "" {
		if s3.CA, err = fromVolume(ctx, c, d, s3.CAFile); err != nil {
			return s3, fmt.Errorf("reading the certificate authorities of the object store: %w", err)
		}
	}
	return s3, nil
}

// readKey reads the store's credentials: the operator's, or the user's own if the operator uses a role.
func readKey(ctx context.Context, c client.Client, d *appsv1.Deployment, s3 *artifact.Config) (err error) {
	if s3.ByRole {
		return ownKey(s3)
	}
	env := Container(d.Spec.Template.Spec, OperatorContainer).Env
	if s3.AccessKey, err = fromSecret(ctx, c, d.Namespace, env, artifact.AccessKeyVariable); err != nil {
		return err
	}
	s3.SecretKey, err = fromSecret(ctx, c, d.Namespace, env, artifact.SecretKeyVariable)
	return err
}

// ErrNoOwnKey: the installation uses a role, and this user has no credentials.
var ErrNoOwnKey = errors.New("the operator opens its object store with a role, so the cluster has no credentials for it: " +
	"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to your own, or AWS_PROFILE to a profile in ~/.aws/credentials")

func ownKey(s3 *artifact.Config) error {
	v, err := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}).GetWithContext(nil)
	if err != nil {
		return fmt.Errorf("reading your own credentials: %w", err)
	}
	if v.AccessKeyID == "" {
		return ErrNoOwnKey
	}
	s3.AccessKey, s3.SecretKey, s3.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return nil
}

func fromVolume(ctx context.Context, c client.Client, d *appsv1.Deployment, file string) (string, error) {
	spec := d.Spec.Template.Spec
	for _, mount := range Container(spec, OperatorContainer).VolumeMounts {
		name, below := strings.CutPrefix(file, mount.MountPath+"/")
		v := util.First(spec.Volumes, func(v *corev1.Volume) bool { return v.Name == mount.Name })
		if !below || v == nil {
			continue
		}
		switch {
		case v.ConfigMap != nil:
			var m corev1.ConfigMap
			err := c.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: v.ConfigMap.Name}, &m)
			return m.Data[keyAt(v.ConfigMap.Items, name)], err
		case v.Secret != nil:
			var secret corev1.Secret
			err := c.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: v.Secret.SecretName}, &secret)
			return string(secret.Data[keyAt(v.Secret.Items, name)]), err
		}
	}
	return "", fmt.Errorf("the operator mounts no ConfigMap or Secret for %s", file)
}

func keyAt(items []corev1.KeyToPath, name string) string {
	if item := util.First(items, func(i *corev1.KeyToPath) bool { return i.Path == name }); item != nil {
		return item.Key
	}
	return name
}

func storeArgs(args []string) (artifact.Config, error) {
	var s3 artifact.Config
	f := flag.NewFlagSet("operator", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	s3.AddFlags(f)
	if err := f.Parse(ofFlags(f, args)); err != nil {
		return s3, fmt.Errorf("parsing flags: %w", err)
	}
	if s3.Endpoint == "" {
		return s3, errors.New("--s3-endpoint=HOST:PORT is missing")
	}
	return s3, nil
}

// ofFlags returns the arguments of a set's flags. A value may be a separate argument, except for boolean flags.
func ofFlags(f *flag.FlagSet, args []string) []string {
	var out []string
	for i, arg := range args {
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		known := f.Lookup(name)
		if known == nil || !strings.HasPrefix(arg, "-") {
			continue
		}
		out = append(out, arg)
		_, alone := known.Value.(interface{ IsBoolFlag() bool })
		if !hasValue && !alone && i+1 < len(args) {
			out = append(out, args[i+1])
		}
	}
	return out
}

func fromSecret(ctx context.Context, c client.Client, namespace string, env []corev1.EnvVar, name string) (string, error) {
	for _, e := range env {
		if e.Name != name || e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := e.ValueFrom.SecretKeyRef
		var secret corev1.Secret
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &secret); err != nil {
			return "", err
		}
		if len(secret.Data[ref.Key]) == 0 {
			return "", fmt.Errorf("secret %s/%s has no key %s", namespace, ref.Name, ref.Key)
		}
		return string(secret.Data[ref.Key]), nil
	}
	return "", fmt.Errorf("the operator does not read %s from a Secret", name)
}

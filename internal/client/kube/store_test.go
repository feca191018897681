package kube

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestStoreArgsAreReadAsTheOperatorReadsThem(t *testing.T) {
	tests := map[string]struct {
		args []string
		want artifact.Config
	}{
		"all of them, among others": {
			args: []string{"--namespace=loadstone-system", "--s3-endpoint=s3.example:443", "--s3-bucket=runs", "--s3-region=eu-west-1", "--s3-tls=true", "--listen=:8090"},
			want: artifact.Config{Endpoint: "s3.example:443", Bucket: "runs", Region: "eu-west-1", Secure: true},
		},
		"the operator's defaults":     {[]string{"--s3-endpoint=minio:9000"}, artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1"}},
		"one dash":                    {[]string{"-s3-endpoint=minio:9000", "-s3-tls=0"}, artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1"}},
		"a switch without a value":    {[]string{"--s3-tls", "--s3-endpoint=minio:9000"}, artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1", Secure: true}},
		"a value that stands alone":   {[]string{"--s3-endpoint", "minio:9000", "--s3-bucket", "runs"}, artifact.Config{Endpoint: "minio:9000", Bucket: "runs", Region: "us-east-1"}},
		"a value with an equals sign": {[]string{"--s3-endpoint=minio:9000", "--s3-bucket=a=b"}, artifact.Config{Endpoint: "minio:9000", Bucket: "a=b", Region: "us-east-1"}},
		"the last one counts":         {[]string{"--s3-endpoint=a:1", "--s3-endpoint=b:2"}, artifact.Config{Endpoint: "b:2", Bucket: "loadstone", Region: "us-east-1"}},
		"a name that only looks like": {[]string{"s3-bucket=no", "--s3-bucket-2=no", "--s3-endpoint=minio:9000"}, artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := storeArgs(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("storeArgs() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoreArgsRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no arguments at all":          {nil, "--s3-endpoint=HOST:PORT is missing"},
		"a store without an address":   {[]string{"--s3-bucket=runs"}, "--s3-endpoint=HOST:PORT is missing"},
		"an address that is empty":     {[]string{"--s3-endpoint="}, "--s3-endpoint=HOST:PORT is missing"},
		"a switch that is neither":     {[]string{"--s3-endpoint=a:1", "--s3-tls=maybe"}, `parsing flags: invalid boolean value "maybe" for -s3-tls: parse error`},
		"an address that is cut off":   {[]string{"--s3-endpoint"}, "parsing flags: flag needs an argument: -s3-endpoint"},
		"a bucket at the end, cut off": {[]string{"--s3-endpoint=a:1", "--s3-bucket"}, "parsing flags: flag needs an argument: -s3-bucket"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := storeArgs(tc.args)
			if err == nil {
				t.Fatalf("storeArgs() = %+v, want an error", got)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoreWithRoleIsReadWithUserKey(t *testing.T) {
	d := operator([]string{"--s3-endpoint=s3.example:443", "--s3-by-role=true", "--s3-sts-endpoint=https://sts.example"})
	c := fake.NewClientBuilder().Build()
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	if _, err := storeConfig(t.Context(), c, d); !errors.Is(Explain("a:6443", err), ErrNoOwnKey) ||
		!strings.Contains(err.Error(), "the cluster has no credentials for it: set AWS_ACCESS_KEY_ID") {
		t.Errorf("without a key: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "mine")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
	t.Setenv("AWS_SESSION_TOKEN", "for an hour")
	got, err := storeConfig(t.Context(), c, d)
	want := artifact.Config{
		Endpoint: "s3.example:443", Bucket: "loadstone", Region: "us-east-1", ByRole: true, STS: "https://sts.example",
		AccessKey: "mine", SecretKey: "hush", SessionToken: "for an hour",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("with a key: %v (-want +got):\n%s", err, diff)
	}
}

func variable(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key},
	}}
}

func operator(args []string, env ...corev1.EnvVar) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "loadstone"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "operator", Args: args, Env: env}}
	return d
}

func TestStoreConfigOfADeployment(t *testing.T) {
	args := []string{"--s3-endpoint=minio:9000"}
	access, secret := variable("S3_ACCESS_KEY", "loadstone-s3", "accessKey"), variable("S3_SECRET_KEY", "loadstone-s3", "secretKey")
	literal := corev1.EnvVar{Name: "POD_NAMESPACE", Value: "system"}
	tests := map[string]struct {
		deployment *appsv1.Deployment
		want       artifact.Config
		wantError  string
	}{
		"an operator as it is installed": {
			deployment: operator(args, literal, access, secret),
			want:       artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1", AccessKey: "me", SecretKey: "hush"},
		},
		"a Secret beside that nobody needs": {
			deployment: operator(args, variable("OTHER", "gone", "x"), access, secret),
			want:       artifact.Config{Endpoint: "minio:9000", Bucket: "loadstone", Region: "us-east-1", AccessKey: "me", SecretKey: "hush"},
		},
		"an operator without an address": {
			deployment: operator(nil, access, secret), wantError: "reading the arguments of Deployment system/loadstone: --s3-endpoint=HOST:PORT is missing",
		},
		"an operator without a key": {
			deployment: operator(args, access), wantError: "reading the object store's key: the operator does not read S3_SECRET_KEY from a Secret",
		},
		"a key that is written down": {
			deployment: operator(args, corev1.EnvVar{Name: "S3_ACCESS_KEY", Value: "me"}, secret),
			wantError:  "reading the object store's key: the operator does not read S3_ACCESS_KEY from a Secret",
		},
		"a Secret that is not there": {
			deployment: operator(args, variable("S3_ACCESS_KEY", "gone", "accessKey"), secret), wantError: `reading the object store's key: secrets "gone" not found`,
		},
		"a Secret without the key": {
			deployment: operator(args, access, variable("S3_SECRET_KEY", "loadstone-s3", "password")),
			wantError:  "reading the object store's key: secret system/loadstone-s3 has no key password",
		},
	}
	stranger := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "gone"}, Data: map[string][]byte{"accessKey": []byte("theirs")}}
	ours := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "loadstone-s3"}, Data: map[string][]byte{"accessKey": []byte("me"), "secretKey": []byte("hush")}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := storeConfig(t.Context(), fake.NewClientBuilder().WithObjects(ours, stranger).Build(), tc.deployment)
			if err != nil || tc.wantError != "" {
				if err == nil || err.Error() != tc.wantError {
					t.Errorf("error %v, want %q", err, tc.wantError)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("storeConfig() (-want +got):\n%s", diff)
			}
		})
	}
}

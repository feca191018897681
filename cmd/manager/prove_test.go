package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

// shakyStore answers with one error after the other, and then works.
type shakyStore struct {
	artifact.Bucket
	left []error
}

func (s *shakyStore) Put(context.Context, string, string, []byte) (record.Artifact, error) {
	if len(s.left) == 0 {
		return record.Artifact{}, nil
	}
	err := s.left[0]
	s.left = s.left[1:]
	return record.Artifact{}, err
}

func (s *shakyStore) Verify(context.Context, record.Artifact) error { return nil }

func (s *shakyStore) CheckWriteOnce(context.Context, string, string, []byte) error { return nil }

func TestStoreIsProvedUntilItIsUsable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx := log.IntoContext(t.Context(), logr.FromSlogHandler(slog.NewTextHandler(&out, nil)))
		store := &shakyStore{left: []error{artifact.ErrUnreachable, artifact.ErrUnreachable, artifact.ErrRegion}}
		if err := prove(store)(ctx); err != nil {
			t.Fatal(err)
		}
		told := out.String()
		if strings.Count(told, artifact.ErrUnreachable.Error()) != 1 || strings.Count(told, "s3.region") != 1 || strings.Count(told, "is usable") != 1 {
			t.Errorf("the log is %s", told)
		}
	})
}

func TestProofEndsWithTheOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*proofPause)
		defer cancel()
		store := &shakyStore{left: make([]error, 100)}
		for i := range store.left {
			store.left[i] = artifact.ErrFull
		}
		if err := prove(store)(ctx); err != nil || len(store.left) < 80 {
			t.Errorf("ended with %v after %d checks", err, 100-len(store.left))
		}
	})
}

package controllers

import (
	"log/slog"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/kind/kindtest"
)

func TestMain(m *testing.M) {
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("LOADSTONE_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	kindtest.Add()
	testbed.AtOnce(8)
	os.Exit(testbed.Main(m))
}

package suites

import (
	"log/slog"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadstone.dev/loadstone/internal/testbed"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.FromSlogHandler(slog.DiscardHandler))
	testbed.AtOnce(8)
	os.Exit(testbed.Main(m))
}

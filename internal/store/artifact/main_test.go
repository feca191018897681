package artifact_test

import (
	"os"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

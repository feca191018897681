package artifact_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestListNamesTheObjectsOfAFolderTheNewestFirst(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, store := bucket(t, at)
		put := func(key string) {
			t.Helper()
			if _, err := store.Put(t.Context(), key, "application/json", []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		put("calibrations/bench/m1/deeper/c.json")
		put(artifact.CalibrationKey("bench", "m10", "d"))
		put(artifact.CalibrationKey("other", "m1", "d"))
		put(artifact.CalibrationKey("bench", "m1", "first"))
		written := []string{artifact.CalibrationKey("bench", "m1", "first")}
		var objects []artifact.Object
		// The store's clock may stand still between two objects.
		for deadline := time.Now().Add(patience); len(objects) == 0 || objects[0].Modified.Equal(objects[len(objects)-1].Modified); {
			if time.Now().After(deadline) {
				t.Fatalf("the clock of the store stands still: %v", objects)
			}
			written = append(written, artifact.CalibrationKey("bench", "m1", fmt.Sprintf("later-%06d", len(written))))
			put(written[len(written)-1])
			var err error
			if objects, err = store.List(t.Context(), artifact.CalibrationFolder("bench", "m1")); err != nil {
				t.Fatal(err)
			}
		}
		var keys []string
		for _, o := range objects {
			keys = append(keys, o.Key)
		}
		if newest := written[len(written)-1]; keys[0] != newest {
			t.Errorf("the newest is %s, want %s", keys[0], newest)
		}
		slices.Sort(keys)
		slices.Sort(written)
		if diff := cmp.Diff(written, keys); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if objects, err := store.List(t.Context(), "nothing/here"); err != nil || len(objects) != 0 {
			t.Errorf("an empty folder holds %v, %v", objects, err)
		}
		c.Bucket = "nobody-made-this"
		if _, err := open(t, c).List(t.Context(), "calibrations/m1"); !errors.Is(err, artifact.ErrNoBucket) {
			t.Errorf("got %v, want ErrNoBucket", err)
		}
	})
}

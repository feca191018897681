package artifact_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestListNamesTheObjectsOfAFolderTheNewestFirst(t *testing.T) {
	c, store := bucket(t)
	for _, key := range []string{artifact.CalibrationKey("m1", "b"), artifact.CalibrationKey("m1", "a"), "calibrations/m1/deeper/c.json", artifact.CalibrationKey("m10", "d")} {
		if _, err := store.Put(t.Context(), key, "application/json", []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := store.List(t.Context(), artifact.CalibrationFolder("m1"))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, o := range objects {
		if o.Modified.IsZero() {
			t.Errorf("%s was never written", o.Key)
		}
		keys = append(keys, o.Key)
	}
	if diff := cmp.Diff([]string{"calibrations/m1/a.json", "calibrations/m1/b.json"}, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if objects, err := store.List(t.Context(), "nothing/here"); err != nil || len(objects) != 0 {
		t.Errorf("an empty folder holds %v, %v", objects, err)
	}
	c.Bucket = "nobody-made-this"
	if _, err := open(t, c).List(t.Context(), "calibrations/m1"); !errors.Is(err, artifact.ErrNoBucket) {
		t.Errorf("got %v, want ErrNoBucket", err)
	}
}

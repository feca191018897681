package verdicts

import "testing"

func TestStoredRecordingsCanBeRead(t *testing.T) {
	files, err := recordings.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Error("there is no recording")
	}
	for _, f := range files {
		r, err := readRecording("testdata/" + f.Name())
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		if "testdata/"+f.Name() == blocksFile && (len(r.Blocks) < 40 || r.Planted == nil) {
			t.Errorf("%s has %d blocks, want 40 or more, and planted pairs", f.Name(), len(r.Blocks))
		}
	}
	if _, err := readRecording("testdata/none.json"); err == nil {
		t.Error("a recording that there is not was read")
	}
}

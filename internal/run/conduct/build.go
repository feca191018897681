package conduct

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Built is the failure of a server that was not built as is expected of it; nil if it was, or if its file does not show it. found is nil if
// nobody has read the file.
func Built(server record.Implementation, found *record.Build) *Failure {
	if found == nil {
		return nil
	}
	for _, x := range found.Expected(server.Build) {
		if !x.Missed() {
			continue
		}
		way := "with it"
		if x.Want == record.ExpectForbidden {
			way = "without it"
		}
		return PermanentFailure(v1alpha1.ReasonBuildMismatch, "implementations[%s].build.%s: expected %s, found %s (%s): build the image %s, or remove the expectation",
			server.Name, x.Field, x.Want, x.Found.Is, x.Found.By, way)
	}
	return nil
}

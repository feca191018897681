package kind

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Violation says why a run cannot be: a machine-readable reason, and a sentence that names the field and the way out.
type Violation struct {
	Reason  string
	Message string
}

// Error is the sentence that names the field and the way out.
func (v *Violation) Error() string { return v.Message }

// Invalid is the violation of a spec that contradicts itself or the rules.
func Invalid(format string, args ...any) *Violation {
	return &Violation{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(format, args...)}
}

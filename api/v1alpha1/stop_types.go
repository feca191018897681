package v1alpha1

// Stop ends a run before its last block when its intervals are narrow enough. Interim analyses after 10, 20 and 30 blocks check the width
// of the intervals and never their direction: a run that ended at the first significant difference would report differences by chance too
// often.
type Stop struct {
	// maxWidth ends the run when the deciding interval of every comparison is at most this wide, as a share of the ratio, such as "0.05".
	// Single levels, other metrics and searches do not matter. A verdict of such a run needs a smaller p-value, since the interim analyses share the allowed error.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^0\\\\.[0-9]*[1-9][0-9]*$')",message="stop.maxWidth must be a share between 0 and 1, such as \"0.05\""
	MaxWidth string `json:"maxWidth,omitempty"`
}

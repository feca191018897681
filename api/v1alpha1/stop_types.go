package v1alpha1

// Stop lets a run end before its last block. It looks after 10, 20 and 30 blocks at how wide the intervals are, and never at which
// way they point: a run that ended as soon as somebody wins would let chance win too often.
type Stop struct {
	// maxWidth is how wide the interval of each comparison may be for the run to end, as a share of the ratio, such as "0.05".
	// A verdict of such a run needs a smaller p than of one that does not look, since each look has its share of the allowed error.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^0\\\\.[0-9]*[1-9][0-9]*$')",message="stop.maxWidth must be a share between 0 and 1, such as \"0.05\""
	MaxWidth string `json:"maxWidth"`
}

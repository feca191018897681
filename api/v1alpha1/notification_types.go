package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Notification is a sink that is told how each round of a suite has ended.
type Notification struct {
	// name identifies the sink in the suite. A sink with another name is another one: it is told of the rounds that end from then on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a sink's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// url is the http or https address to which a CloudEvent is posted for each round that has ended. It is no secret: who may read the suite reads it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`
}

// NotifiedRound is a round with which a sink is done.
type NotifiedRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// outcome is how the round has ended. One that ends again in another way is told again.
	// +required
	Outcome RoundOutcome `json:"outcome,omitempty"`

	// deliveryTime is when the sink has taken the round. Absent if the round was given up.
	// +optional
	DeliveryTime *metav1.Time `json:"deliveryTime,omitempty"`
}

// NotificationStatus is what a sink has been told.
type NotificationStatus struct {
	// name is the sink's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// startTime is when the operator first saw the sink. Rounds that had ended before are not told.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// rounds are those of the history that the sink has taken, or for which it was given up; the newest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Rounds []NotifiedRound `json:"rounds,omitempty"`

	// failureTime is when the first of all tries failed since the sink took a round. Absent if the last try did not fail.
	// +optional
	FailureTime *metav1.Time `json:"failureTime,omitempty"`

	// nextTime is when the sink is tried again at the earliest. Absent if the last try did not fail.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`

	// reason is why the last try failed, in a word: SinkRefused or SinkUnavailable. Absent if it did not.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message is the same in a sentence.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

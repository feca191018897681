package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Notification reports finished rounds to one receiver: an HTTP endpoint for CloudEvents, a GitHub repository, or a GitLab project.
// +kubebuilder:validation:XValidation:rule="[has(self.url), has(self.gitHub), has(self.gitLab)].exists_one(x, x)",message="a notification needs exactly one of url (CloudEvents), gitHub and gitLab: add one item per receiver"
type Notification struct {
	// name identifies the receiver. A renamed receiver counts as new: it gets only rounds that end afterwards.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a notification's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// url is the http or https address that gets one CloudEvent per finished round. It must not contain credentials: anyone who can read the
	// suite can see it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`

	// gitHub sets a commit status in a repository, and keeps one comment in the pull request. Only rounds with a known commit are reported.
	// +optional
	GitHub GitHubNotification `json:"gitHub,omitzero"`

	// gitLab sets a commit status in a project, and keeps one note in the merge request. Only rounds with a known commit are reported.
	// +optional
	GitLab GitLabNotification `json:"gitLab,omitzero"`
}

// GitHubNotification is a GitHub repository, with the token for it.
type GitHubNotification struct {
	// repository is the owner and name of the repository, such as shop/checkout.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$') && !self.endsWith('/.') && !self.endsWith('/..')",message="gitHub.repository must be OWNER/NAME, such as shop/checkout, without a URL"
	Repository string `json:"repository,omitempty"`

	// apiURL is the https address of the REST API, such as https://github.example/api/v3. Default: https://api.github.com.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIURL string `json:"apiURL,omitempty"`

	// secretRef is the key of a Secret in the suite's namespace with an access token. The token must be allowed to write commit statuses and,
	// for comments, pull requests. A Role in the namespace must let the operator read this Secret.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// commitParameter is the parameter with the measured commit: 40 hexadecimal digits, or "none". Rounds with "none" are not reported.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	CommitParameter string `json:"commitParameter,omitempty"`

	// pullRequestParameter is the parameter with the pull request's number, or "none". If a webhook request sets the number, the round is
	// compared with good rounds but does not affect the suite's conditions. Default: no comments.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	PullRequestParameter string `json:"pullRequestParameter,omitempty"`

	// link is an http or https address for status and comment, such as a page with the reports. Default: no link.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Link string `json:"link,omitempty"`
}

// GitLabNotification is a GitLab project, with the token for it.
type GitLabNotification struct {
	// project is the path of the project with its groups, such as shop/checkout, or its number.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^([1-9][0-9]*|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+)$')",message="gitLab.project must be GROUP/PROJECT, such as shop/checkout, without a URL, or the project's number"
	Project string `json:"project,omitempty"`

	// apiURL is the https address of the REST API, such as https://gitlab.example/api/v4. Default: https://gitlab.com/api/v4.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIURL string `json:"apiURL,omitempty"`

	// secretRef is the key of a Secret in the suite's namespace with an access token of scope api. A Role in the namespace must let the
	// operator read this Secret.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// commitParameter is the parameter with the measured commit: 40 hexadecimal digits, or "none". Rounds with "none" are not reported.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	CommitParameter string `json:"commitParameter,omitempty"`

	// mergeRequestParameter is the parameter with the merge request's number in its project. See gitHub.pullRequestParameter.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	MergeRequestParameter string `json:"mergeRequestParameter,omitempty"`

	// link is an http or https address for status and note, such as a page with the reports. Default: no link.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Link string `json:"link,omitempty"`
}

// NotifiedRound is a round that a receiver accepted or that was given up.
type NotifiedRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// outcome is the reported outcome. A changed outcome is reported again. GitHub and GitLab are also notified when change points become
	// known later.
	// +required
	Outcome RoundOutcome `json:"outcome,omitempty"`

	// deliveryTime is when the receiver last accepted the round. Absent if the round was given up.
	// +optional
	DeliveryTime *metav1.Time `json:"deliveryTime,omitempty"`

	// firstSeenTime identifies the reported commit in status.measuredBefore. Absent for the commit that started the round.
	// +optional
	FirstSeenTime *metav1.Time `json:"firstSeenTime,omitempty"`

	// message is why the round was given up without a retry. Absent otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// MeasuredBefore is a commit whose inputs a round had already measured or was measuring. It starts no round; GitHub and GitLab get the result
// of that round.
type MeasuredBefore struct {
	// round is the number of that round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// noted are the values of the parameters that notifications name: the commit and its pull request.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Noted []ParameterValue `json:"noted,omitempty"`

	// firstSeenTime is when the operator first saw the commit with these inputs (not the date of the commit). It is unique: a second is added
	// where two would be equal.
	// +required
	FirstSeenTime *metav1.Time `json:"firstSeenTime,omitempty"`
}

// NotificationStatus is the delivery state of a receiver.
type NotificationStatus struct {
	// name is the name of the receiver.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// startTime is when the operator first saw the receiver. Earlier rounds are not reported.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// rounds are the rounds of the history that were accepted or given up, newest first: one entry for the commit that started the round, and
	// one per entry of status.measuredBefore.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=40
	Rounds []NotifiedRound `json:"rounds,omitempty"`

	// untoldRounds is the number of rounds that left the history unreported. They are never reported. Absent if there are none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	UntoldRounds int32 `json:"untoldRounds,omitempty"`

	// failureTime is when the first try failed since the last accepted round. Absent if the last try succeeded.
	// +optional
	FailureTime *metav1.Time `json:"failureTime,omitempty"`

	// nextTime is the earliest time of the next try. Absent if the last try succeeded.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`

	// reason is why the last try failed, such as SinkRefused. Absent if it succeeded.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message explains the reason.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

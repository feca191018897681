package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Notification is a receiver that is told how each round of a suite has ended: a sink of CloudEvents, a repository of GitHub, or a project of GitLab.
// +kubebuilder:validation:XValidation:rule="[has(self.url), has(self.gitHub), has(self.gitLab)].exists_one(x, x)",message="a notification has one of url, to which CloudEvents are posted, gitHub and gitLab, whose commits get a status: give each a notification of its own"
type Notification struct {
	// name identifies the receiver in the suite. One with another name is another one: it is told of the rounds that end from then on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a sink's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// url is the http or https address to which a CloudEvent is posted for each round that has ended. It is no secret: who may read the suite reads it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`

	// gitHub is a repository in which each round that knows its commit sets the commit's status, and keeps one comment in its pull request.
	// +optional
	GitHub GitHubNotification `json:"gitHub,omitzero"`

	// gitLab is a project in which each round that knows its commit sets the commit's status, and keeps one note in its merge request.
	// +optional
	GitLab GitLabNotification `json:"gitLab,omitzero"`
}

// GitHubNotification is where the status of a commit stands in GitHub, and with what right it is set.
type GitHubNotification struct {
	// repository is the owner and the name of the repository, such as shop/checkout.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$') && !self.endsWith('/.') && !self.endsWith('/..')",message="gitHub.repository must be the owner and the name of a repository, such as shop/checkout, without an address before it"
	Repository string `json:"repository,omitempty"`

	// apiURL is the https address of GitHub's REST API, such as https://github.example/api/v3. Defaults to https://api.github.com.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIURL string `json:"apiURL,omitempty"`

	// secretRef names the key of a Secret in the suite's namespace that holds a token which may write commit statuses and, for comments, pull requests
	// of the repository. A Role of the namespace lets the operator read that one Secret.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// commitParameter names the parameter that holds the commit which a round measures, its 40 hexadecimal digits, or none: then nothing is told.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	CommitParameter string `json:"commitParameter,omitempty"`

	// pullRequestParameter is the name of the parameter that holds the number of the pull request, or none. If absent, nothing is commented. A round to
	// which the webhook gives a number is compared with good rounds and judges nothing: the suite stands as what it has by itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	PullRequestParameter string `json:"pullRequestParameter,omitempty"`

	// link is an http or https address to which status and comment lead, such as a page where people read the reports. Defaults to no link.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Link string `json:"link,omitempty"`
}

// GitLabNotification is where the status of a commit stands in GitLab, and with what right it is set.
type GitLabNotification struct {
	// project is the path of the project with all its groups, such as shop/checkout, or its number.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^([1-9][0-9]*|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+)$')",message="gitLab.project must be the path of a project with its groups, such as shop/checkout, without an address before it, or the project's number"
	Project string `json:"project,omitempty"`

	// apiURL is the https address of GitLab's REST API, such as https://gitlab.example/api/v4. Defaults to https://gitlab.com/api/v4.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	APIURL string `json:"apiURL,omitempty"`

	// secretRef names the key of a Secret in the suite's namespace that holds an access token with the scope api. A Role lets the operator read it.
	// +required
	SecretRef KeyReference `json:"secretRef,omitzero"`

	// commitParameter names the parameter that holds the commit which a round measures, its 40 hexadecimal digits, or none: then nothing is told.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	CommitParameter string `json:"commitParameter,omitempty"`

	// mergeRequestParameter names the parameter that holds the number of the merge request in its project: it is what gitHub.pullRequestParameter is.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	MergeRequestParameter string `json:"mergeRequestParameter,omitempty"`

	// link is an http or https address to which status and note lead, such as a page where people read the reports. Defaults to no link.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Link string `json:"link,omitempty"`
}

// NotifiedRound is a round with which a sink is done.
type NotifiedRound struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// outcome is how the round has ended. One that ends again in another way is told again; to a forge also one whose change points became known later.
	// +required
	Outcome RoundOutcome `json:"outcome,omitempty"`

	// deliveryTime is when the sink has taken the round last. Absent if the round was given up.
	// +optional
	DeliveryTime *metav1.Time `json:"deliveryTime,omitempty"`

	// firstSeenTime is that of the commit of status.measuredBefore that was told of the round. Absent if it is the one with which the round began.
	// +optional
	FirstSeenTime *metav1.Time `json:"firstSeenTime,omitempty"`

	// message is why the round was given up at once, since no other try would end otherwise. Absent if it was not.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// MeasuredBefore is a commit that came when a round had measured its inputs, or was measuring them: it starts no round, and repositories are told of it
// what that round has come to.
type MeasuredBefore struct {
	// round is the number of the round.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Round int32 `json:"round,omitempty"`

	// noted are the values of the parameters that notifications name: the commit, and its pull request.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Noted []ParameterValue `json:"noted,omitempty"`

	// firstSeenTime is when the suite first saw the commit with these inputs, and not the date that Git knows of it. No two have the same: where two
	// would, the later one is a second later.
	// +required
	FirstSeenTime *metav1.Time `json:"firstSeenTime,omitempty"`
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

	// rounds are those of the history that the sink has taken, or for which it was given up, each once for the commit with which it began and once for
	// each of status.measuredBefore; the newest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=40
	Rounds []NotifiedRound `json:"rounds,omitempty"`

	// untoldRounds is how many rounds have left the history before the sink was done with them: it is never told of them. Absent if there are none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	UntoldRounds int32 `json:"untoldRounds,omitempty"`

	// failureTime is when the first of all tries failed since the sink took a round. Absent if the last try did not fail.
	// +optional
	FailureTime *metav1.Time `json:"failureTime,omitempty"`

	// nextTime is when the sink is tried again at the earliest. Absent if the last try did not fail.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`

	// reason is why the last try failed, in a word, such as SinkRefused. Absent if it did not.
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

package v1alpha1

// Verification is what is done with the certificate of a server.
// +kubebuilder:validation:Enum=Authority;None
type Verification string

const (
	// VerifyAuthority verifies that an authority has signed it, that its time is not over, and that it is for the server's name.
	VerifyAuthority Verification = "Authority"
	// VerifyNone verifies nothing.
	VerifyNone Verification = "None"
)

// TLS says that a server speaks HTTPS on its port, and what its certificate is held against. Everything that is asked of the server is asked over
// TLS then: by the loads, which stay with HTTP/1.1 unless they ask for HTTP/2, by the check before each trial, by readiness, by claims and by profiles. The
// server's own certificate and key are its own business: files brings them from a Secret.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="has(self.ca) != (has(self.verify) && self.verify == 'None')",message="tls has either a ca, by which the server's certificate is verified, or verify: None"
// +kubebuilder:validation:XValidation:rule="has(self.ca) || !has(self.serverName)",message="tls.serverName is the name for which the certificate is verified by ca: give ca, or remove serverName"
type TLS struct {
	// verify is what Loadstone's own check does with the server's certificate before each trial measures: Authority verifies it by ca, None verifies
	// nothing. The load generators verify nothing in either case. Defaults to Authority where there is a ca.
	// +optional
	Verify Verification `json:"verify,omitempty"`

	// ca are the certificates of the authorities that may have signed the server's, in PEM, or the server's own certificate: public text, which is
	// recorded. At most 32,768 bytes.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	CA string `json:"ca,omitempty"`

	// serverName is the DNS name or the address that the server's certificate must be for. Nobody sends it: loads reach a server by the address of its
	// pod, and get the certificate that it shows to a client which names no host. If absent, names are not compared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}

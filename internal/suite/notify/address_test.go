package notify

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestBlockedSinkAddressesAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"https://events.example/loadstone":                      "",
		"http://webhook-eventsource-svc.argo.svc:12000/rounds":  "",
		"http://10.96.3.4:8080":                                 "",
		"https://[2001:db8::1]/rounds?token=secret":             "",
		"events.example/loadstone":                              "must begin with http:// or https://",
		"ftp://events.example/":                                 "must begin with http:// or https://",
		"file:///etc/passwd":                                    "must begin with http:// or https://",
		"https:///rounds":                                       "must begin with http:// or https:// and name a host",
		"https://bob:secret@events.example/":                    "must not contain credentials",
		"https://events.example/#secret":                        "must not contain a fragment",
		"https://events.example:secret/":                        "is not a URL",
		"http://127.0.0.1:8081/secret":                          "is a loopback, link-local, multicast or metadata address",
		"http://[::1]/":                                         "is a loopback, link-local, multicast or metadata address",
		"http://0.0.0.0/":                                       "is a loopback, link-local, multicast or metadata address",
		"http://169.254.169.254/latest/meta-data/secret":        "is a loopback, link-local, multicast or metadata address",
		"http://[::ffff:169.254.169.254]/":                      "is a loopback, link-local, multicast or metadata address",
		"http://[fe80::1%25eth0]/":                              "is a loopback, link-local, multicast or metadata address",
		"http://[fd00:ec2::254]/latest":                         "is a loopback, link-local, multicast or metadata address",
		"http://168.63.129.16/metadata/secret":                  "is a loopback, link-local, multicast or metadata address",
		"http://100.100.100.200/latest/secret":                  "is a loopback, link-local, multicast or metadata address",
		"http://[::ffff:168.63.129.16]/":                        "is a loopback, link-local, multicast or metadata address",
		"http://224.0.0.1/":                                     "is a loopback, link-local, multicast or metadata address",
		"https://events.example/" + strings.Repeat("a", 1900):   "",
		"https://events.example/a b":                            "",
		"https://events.example/\nHost: elsewhere":              "is not a URL",
		"https://events.example/?a=b&callback=http://elsewhere": "",
	} {
		t.Run(address, func(t *testing.T) {
			err := Check(v1alpha1.BenchmarkSuiteSpec{Notifications: []v1alpha1.Notification{{Name: "events", URL: address}}})
			if want == "" && err != nil {
				t.Error(err)
			} else if want != "" && (err == nil || !strings.HasPrefix(err.Error(), "notifications[events].url "+want) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %v, want %q and no token", err, want)
			}
		})
	}
}

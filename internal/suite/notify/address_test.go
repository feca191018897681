package notify

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestAnAddressThatNothingCanBeSentToIsRefusedBeforeAnythingStarts(t *testing.T) {
	for address, want := range map[string]string{
		"https://events.example/loadstone":                      "",
		"http://webhook-eventsource-svc.argo.svc:12000/rounds":  "",
		"http://10.96.3.4:8080":                                 "",
		"https://[2001:db8::1]/rounds?token=secret":             "",
		"events.example/loadstone":                              "must begin with http:// or https://",
		"ftp://events.example/":                                 "must begin with http:// or https://",
		"file:///etc/passwd":                                    "must begin with http:// or https://",
		"https:///rounds":                                       "must begin with http:// or https:// and name a host",
		"https://bob:secret@events.example/":                    "holds a user",
		"https://events.example/#secret":                        "holds a fragment",
		"https://events.example:secret/":                        "is no address",
		"http://127.0.0.1:8081/secret":                          "is an address of the operator's own machine",
		"http://[::1]/":                                         "is an address of the operator's own machine",
		"http://0.0.0.0/":                                       "is an address of the operator's own machine",
		"http://169.254.169.254/latest/meta-data/secret":        "is an address of the operator's own machine",
		"http://[::ffff:169.254.169.254]/":                      "is an address of the operator's own machine",
		"http://[fe80::1%25eth0]/":                              "is an address of the operator's own machine",
		"http://[fd00:ec2::254]/latest":                         "is an address of the operator's own machine",
		"http://168.63.129.16/metadata/secret":                  "is an address of the operator's own machine",
		"http://100.100.100.200/latest/secret":                  "is an address of the operator's own machine",
		"http://[::ffff:168.63.129.16]/":                        "is an address of the operator's own machine",
		"http://224.0.0.1/":                                     "is an address of the operator's own machine",
		"https://events.example/" + strings.Repeat("a", 1900):   "",
		"https://events.example/a b":                            "",
		"https://events.example/\nHost: elsewhere":              "is no address",
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

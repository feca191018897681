package kernel

import (
	"strings"
	"testing"
)

func TestPortsIn(t *testing.T) {
	tests := map[string]struct {
		text string
		want int32
		err  string
	}{
		"the kernel's own range": {text: "32768\t60999\n", want: 28232},
		"every port":             {text: "0 65535", want: 65536},
		"one number":             {text: "5", err: "it has not two numbers"},
		"something else":         {text: "a b", err: "invalid syntax"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := portsIn(tc.text)
			if tc.err == "" && (err != nil || got != tc.want) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("portsIn() = %d, %v; want %d, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestRaiseDescriptors(t *testing.T) {
	if err := RaiseDescriptors(); err != nil {
		t.Fatal(err)
	}
	got, err := DescriptorLimit()
	if err != nil || got < 64 {
		t.Errorf("after raising the limit it is %d, error %v", got, err)
	}
}

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const wrkOutput = `Running 5s test @ http://10.0.0.1:8080/
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.11ms  503.27us  21.80ms   89.61%
    Req/Sec    88.70k     4.19k   95.98k    76.00%
  Latency Distribution
     50%    1.06ms
     99%    2.70ms
  441338 requests in 5.01s, 53.45MB read
Requests/sec:  88023.54
Transfer/sec:     10.66MB
`

func TestTheRateThatWrkPrints(t *testing.T) {
	got, err := printedRate(wrkOutput)
	if err != nil || got != 88023.54 {
		t.Errorf("got %f, %v", got, err)
	}
	if got, err := printedRate("unable to connect to 10.0.0.1:8080 Connection refused\n"); err == nil {
		t.Errorf("got %f of an output without a rate", got)
	}
}

func TestResidentMemoryIsThatOfTheContainersProcesses(t *testing.T) {
	proc := t.TempDir()
	for pid, files := range map[string][2]string{
		"1":   {"1:name=systemd:/\n", "Name:\tinit\nVmRSS:\t    9000 kB\n"},
		"100": {"5:cpuacct:/loadstone/infra/pod1/abc123\n", "Name:\tmanager\nVmHWM:\t   50000 kB\nVmRSS:\t   40000 kB\n"},
		"101": {"5:cpuacct:/loadstone/infra/pod1/fff999\n", "Name:\tpause\nVmRSS:\t    600 kB\n"},
	} {
		write(t, proc, pid+"/cgroup", files[0])
		write(t, proc, pid+"/status", files[1])
	}
	pod := func(id string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{ContainerID: id}}}}
	}
	if got, err := residentBytes(proc, pod("containerd://abc123")); err != nil || got != 40000*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	if got, err := residentBytes(proc, pod("containerd://elsewhere")); err == nil {
		t.Errorf("got %d of a container that is not here", got)
	}
}

package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Fingerprint is a digest of what of the machines makes their noise: nodes, kernels, CPU models, online CPUs, SMT siblings, frequency
// governors and cgroup versions of servers and generators, and whether the servers were those of duets, which see less of it. What an
// image or the kubelet's choice of CPUs adds is no part of it. It is empty if no trial has recorded a machine.
func Fingerprint(data record.RunData) string {
	var facts []string
	note := func(role string, e record.Environment) {
		if e.Kernel == "" {
			return
		}
		facts = append(facts, strings.Join([]string{role, e.Node, e.Kernel, e.CPUModel, e.OnlineCPUs, e.SMTSiblings, e.Governor, e.CgroupVersion}, "\x00"))
	}
	for _, t := range data.Trials {
		role := roleServer
		if len(t.Servers) > 1 {
			role = "server of a duet"
		}
		for _, s := range t.Servers {
			note(role, s.Environment)
		}
		for _, g := range t.Generators {
			note(roleGenerator, g.Environment)
		}
	}
	if len(facts) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(util.Distinct(facts), "\n")))
	return hex.EncodeToString(sum[:8])
}

package controllers

import (
	"loadstone.dev/loadstone/api/v1alpha1"
)

// placed is where the pods of the attempt are.
func (s *trialScope) placed() []v1alpha1.MemberNode {
	list := s.measuredOn
	for _, m := range s.members {
		if m.pod != nil && m.pod.Spec.NodeName != "" {
			list = append(list, v1alpha1.MemberNode{Member: m.Name, Node: m.pod.Spec.NodeName})
		}
	}
	return list
}

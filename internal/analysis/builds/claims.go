package builds

import (
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

// Answer is the result of checking a claim.
type Answer string

const (
	// Confirmed: the evidence shows it.
	Confirmed Answer = "Confirmed"
	// Refuted: the evidence rules it out.
	Refuted Answer = "Refuted"
	// Unchecked: the evidence shows neither.
	Unchecked Answer = "Unchecked"
)

// Claim is an implementation's claim and its answer.
type Claim struct {
	Implementation string `json:"implementation"`
	record.Claim
	Answer Answer `json:"answer"`
	// By is the evidence, or why there is none.
	By string `json:"by"`
}

// Claims checks a run's claims, in plan order, against the file that most trials ran and all recorded answers.
func Claims(data record.RunData, p planned.Run) []Claim {
	var out []Claim
	for _, i := range p.Implementations {
		own := data.Manifest.Plan.Implementation(i.Name).Claims
		if len(own) == 0 {
			continue
		}
		_, binary := atRest(data, i.Name)
		replies := repliesOf(data, i.Name)
		for _, c := range own {
			found := CheckClaim(c, binary, replies)
			out = append(out, Claim{Implementation: i.Name, Claim: c, Answer: answer(found.Is, c.Absent), By: found.By})
		}
	}
	return out
}

func repliesOf(data record.RunData, implementation string) []record.Reply {
	var out []record.Reply
	for _, t := range data.Trials {
		for k, own := range t.Servers {
			if t.Manifest.Servers[k] == implementation {
				out = append(out, own.Replies...)
			}
		}
	}
	return out
}

func answer(is record.Truth, absent bool) Answer {
	switch {
	case is != record.Yes && is != record.No:
		return Unchecked
	case (is == record.Yes) != absent:
		return Confirmed
	}
	return Refuted
}

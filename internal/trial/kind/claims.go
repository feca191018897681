package kind

import (
	"cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Claims are statements about an implementation, as a plan holds them.
func Claims(list []v1alpha1.Claim) []record.Claim {
	var out []record.Claim
	for _, c := range list {
		own := record.Claim{Subject: c.Subject, Value: c.Value, Path: c.Path, Absent: c.Presence == v1alpha1.PresenceAbsent}
		if own.Subject == record.ClaimResponse {
			own.Path = cmp.Or(own.Path, "/")
		}
		out = append(out, own)
	}
	return out
}

// SymbolArgs are the arguments by which an agent learns which symbols the claims about an implementation ask for.
func SymbolArgs(list []record.Claim) []string {
	var args []string
	for _, c := range list {
		if c.Subject == record.ClaimSymbol {
			args = append(args, "--symbol="+c.Value)
		}
	}
	return args
}

// ReplyArgs are the arguments by which an observer learns what answers the claims about a server are about.
func ReplyArgs(list []record.Claim) []string {
	var args []string
	for _, c := range list {
		if c.Subject == record.ClaimResponse {
			args = append(args, "--reply="+c.Path+" "+c.Value)
		}
	}
	return args
}

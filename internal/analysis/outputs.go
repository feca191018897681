package analysis

import (
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// UnreadOutput is unreadable and belongs to no case.
type UnreadOutput struct {
	Implementation string `json:"implementation"`
	Processes      int    `json:"processes"`
	Parts          int    `json:"parts"`
	// Block and the rest describe the first unreadable part.
	Block int32 `json:"block"`
	record.Unread
}

// CaseName replaces a printed name.
type CaseName struct {
	Implementation string `json:"implementation"`
	record.CaseName
	// Cases counts the cases with this name; 0 if surely none.
	Cases int `json:"cases"`
}

func unreadOf(printed []program, p planned.Run) []UnreadOutput {
	var out []UnreadOutput
	for _, i := range p.Implementations {
		own := UnreadOutput{Implementation: i.Name}
		for _, one := range printed {
			if one.implementation != i.Name || len(one.unread) == 0 {
				continue
			}
			if own.Processes == 0 {
				own.Block, own.Unread = one.block, one.unread[0]
			}
			own.Processes++
			own.Parts += len(one.unread) + one.unreadMore
		}
		if own.Processes > 0 {
			out = append(out, own)
		}
	}
	return out
}

func caseNamesOf(printed []program, p record.Plan) []CaseName {
	if p.Programs == nil {
		return nil
	}
	var out []CaseName
	for _, o := range p.Programs.Outputs {
		found, whole := namesOf(printed, o)
		for i, n := range o.Cases {
			if len(found[i]) > 0 || whole {
				out = append(out, CaseName{Implementation: o.Implementation, CaseName: n, Cases: len(found[i])})
			}
		}
	}
	return out
}

func namesOf(printed []program, o record.ProgramOutput) (found []map[string]bool, whole bool) {
	found = make([]map[string]bool, len(o.Cases))
	processes, unread := 0, 0
	for _, one := range printed {
		if one.implementation != o.Implementation {
			continue
		}
		processes++
		unread += len(one.unread)
		for _, c := range one.cases {
			for _, name := range append([]string{c.Printed}, c.Others...) {
				_, i := cases.Renamed(o.Cases, name)
				if name == "" || i < 0 {
					continue
				}
				if found[i] == nil {
					found[i] = map[string]bool{}
				}
				found[i][name] = true
			}
		}
	}
	return found, processes > 0 && unread == 0
}

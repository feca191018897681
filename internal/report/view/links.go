package view

import (
	"net/url"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// Beside is the address of an object relative to the report, which lies two folders below everything of its run; empty where the key
// does not lie in the run's folder. It works where report and objects lie as in the bucket: there, or in a copy of the folder.
func (v *View) Beside(key string) string {
	parts := strings.Split(v.BelowRun(key), "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		parts[i] = url.PathEscape(part)
	}
	return "../../" + strings.Join(parts, "/")
}

// BelowRun is the part of a key below the folder of the run; empty if it does not lie there. Of a run on one machine the folder is the first
// part of the key, by whatever name.
func (v *View) BelowRun(key string) string {
	r := v.Table.Run
	_, rest, found := strings.Cut("/"+key, "/"+r.Namespace+"/"+r.Name+"-"+r.UID[:min(8, len(r.UID))]+"/")
	if !found && r.Namespace == record.LocalNamespace {
		_, rest, _ = strings.Cut(key, "/")
	}
	return rest
}

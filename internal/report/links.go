package report

import (
	"net/url"
	"strings"
)

// beside is the address of an object relative to the report, which lies two folders below everything of its run; empty where the key
// does not lie in the run's folder. It works where report and objects lie as in the bucket: there, or in a copy of the folder.
func (v *view) beside(key string) string {
	parts := strings.Split(v.belowRun(key), "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		parts[i] = url.PathEscape(part)
	}
	return "../../" + strings.Join(parts, "/")
}

// belowRun is the part of a key below the folder of the run; empty if it does not lie there.
func (v *view) belowRun(key string) string {
	r := v.t.Run
	_, rest, _ := strings.Cut("/"+key, "/"+r.Namespace+"/"+r.Name+"-"+r.UID[:min(8, len(r.UID))]+"/")
	return rest
}

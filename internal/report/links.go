package report

import (
	"net/url"
	"strings"
)

// beside is the address of an object relative to the report, which lies two folders below everything of its run; empty where the key
// does not lie in the run's folder. It works where report and objects lie as in the bucket: there, or in a copy of the folder.
func (v *view) beside(key string) string {
	r := v.t.Run
	folder := "/" + r.Namespace + "/" + r.Name + "-" + r.UID[:min(8, len(r.UID))] + "/"
	_, rest, ok := strings.Cut("/"+key, folder)
	if !ok || rest == "" {
		return ""
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		parts[i] = url.PathEscape(part)
	}
	return "../../" + strings.Join(parts, "/")
}

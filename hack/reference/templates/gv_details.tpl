{{- define "gvDetails" -}}
{{- $gv := . }}
The kinds of `{{ $gv.GroupVersionString }}` are {{ range $i, $kind := $gv.SortedKinds }}{{ if $i }}{{ if eq (add $i 1) (len $gv.SortedKinds) }} and {{ else }}, {{ end }}{{ end }}[{{ $kind }}](#{{ lower $kind }}){{ end }}.
The pages [benchmarkrun.md](benchmarkrun.md), [benchmarksuite.md](benchmarksuite.md) and [trial.md](trial.md) explain them, with their conditions.
{{ range $gv.SortedKinds }}{{ template "type" ($gv.TypeForKind .) }}{{ end }}
{{- range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}

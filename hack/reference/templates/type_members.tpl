{{- define "type_members" -}}
{{- $rules := list -}}
{{- range .Validation -}}
{{- if or (hasPrefix "Optional" .) (hasPrefix "Schemaless" .) -}}
{{- else if contains "XValidation" . -}}
{{- else if hasPrefix "Required" . }}{{ $rules = append $rules "required" -}}
{{- else if hasPrefix "Maximum: " . }}{{ $rules = append $rules (trimPrefix "Maximum: " . | float64 | int64 | printf "Maximum: %d") -}}
{{- else }}{{ $rules = append $rules (markdownRenderFieldDoc .) }}{{ end -}}
{{- end -}}
{{- if .Default }}{{ $rules = append $rules (printf "Default: %s" (markdownRenderDefault .Default)) }}{{ end -}}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ join ", " $rules }} | {{ if eq .Name "metadata" }}metadata is the standard object metadata.{{ else }}{{ markdownRenderFieldDoc .Doc | replace "<br />" " " | trim }}{{ end }} |
{{ end -}}

{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
## {{ $type.Name }}

{{ $type.Doc | replace "\n" " " }}
{{ with $type.SortedReferences }}
Used in {{ range $i, $user := . }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $user }}{{ end }}.
{{ end }}
{{- if $type.Members }}
| field | type | rules | description |
| --- | --- | --- | --- |
{{ if $type.GVK -}}
| `apiVersion` | string | required | {{ $type.GVK.Group }}/{{ $type.GVK.Version }} |
| `kind` | string | required | {{ $type.GVK.Kind }} |
{{ end -}}
{{ range $type.Members }}{{ template "type_members" . }}{{ end }}
{{- end }}
{{- if $type.EnumValues }}
| value | description |
| --- | --- |
{{ range $type.EnumValues -}}
| `{{ .Name }}` | {{ markdownRenderFieldDoc .Doc | replace "<br />" " " | trim }} |
{{ end -}}
{{ end -}}
{{ end -}}
{{- end -}}

{{/* Labels of every object. Call with (list $ "component"). */}}
{{- define "loadstone.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: loadstone
app.kubernetes.io/part-of: loadstone
app.kubernetes.io/component: {{ index . 1 }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{/* The labels by which the pods of a component are selected. Call with its name. */}}
{{- define "loadstone.selector" -}}
app.kubernetes.io/name: loadstone
app.kubernetes.io/component: {{ . }}
{{- end }}

{{/* A full image name. Call with (list $ "its own name" "name in REGISTRY"). */}}
{{- define "loadstone.image" -}}
{{- $images := (index . 0).Values.images -}}
{{- index . 1 | default (printf "%s/%s:%s" $images.registry (index . 2) $images.tag) -}}
{{- end }}

{{/* host:port of the object store. */}}
{{- define "loadstone.s3Endpoint" -}}
{{- if .Values.minio.enabled -}}
loadstone-minio.{{ .Release.Namespace }}.svc:9000
{{- else -}}
{{ .Values.s3.endpoint }}
{{- end -}}
{{- end }}

{{/* The port of the object store. */}}
{{- define "loadstone.s3Port" -}}
{{- $port := regexFind ":[0-9]+$" (include "loadstone.s3Endpoint" .) | trimPrefix ":" -}}
{{- $port | default (ternary "443" "80" .Values.s3.tls) -}}
{{- end }}

{{/* The Secret with the object store's key. */}}
{{- define "loadstone.s3Secret" -}}
{{ .Values.s3.existingSecret | default "loadstone-s3" }}
{{- end }}

{{/* The security context of every pod. */}}
{{- define "loadstone.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The security context of every container. */}}
{{- define "loadstone.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Off the nodes that measure, tainted or not. */}}
{{- define "loadstone.affinity" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions:
      - key: loadstone.dev/role
        operator: NotIn
        values: [server, generator]
{{- end }}

{{/* Measured pods, as a label selector. */}}
{{- define "loadstone.measured" -}}
matchExpressions:
- key: loadstone.dev/trial
  operator: Exists
{{- end }}

{{/* What the schema cannot say. */}}
{{- define "loadstone.check" -}}
{{- if and .Values.minio.enabled .Values.s3.endpoint -}}
{{- fail "s3.endpoint and minio.enabled exclude each other: set minio.enabled=false to use your S3, or leave s3.endpoint empty" -}}
{{- end -}}
{{- if and .Values.minio.enabled .Values.s3.tls -}}
{{- fail "s3.tls is for an S3 of your own: the embedded MinIO speaks no TLS; set minio.enabled=false or s3.tls=false" -}}
{{- end -}}
{{- if and (not .Values.minio.enabled) (not .Values.s3.endpoint) -}}
{{- fail "there is nowhere to put artifacts: set s3.endpoint to host:port of your S3, or minio.enabled=true" -}}
{{- end -}}
{{- if and (not .Values.minio.enabled) (not .Values.s3.existingSecret) -}}
{{- fail "s3.existingSecret is empty: make a Secret with the keys access-key and secret-key in the release's namespace, and name it here" -}}
{{- end -}}
{{- end }}

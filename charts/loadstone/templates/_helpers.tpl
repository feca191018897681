{{/* The start of objects' names. Names that Loadstone's programs look up are fixed: see the README. */}}
{{- define "loadstone.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if not .Values.nameOverride -}}
loadstone
{{- else if contains .Values.nameOverride .Release.Name -}}
{{ .Release.Name }}
{{- else -}}
{{ .Release.Name }}-{{ .Values.nameOverride }}
{{- end -}}
{{- end }}

{{/* Annotations and labels of every object; more labels can follow. Call with (list $ "component"), and annotations in a dict. */}}
{{- define "loadstone.meta" -}}
{{- $own := dict -}}
{{- if gt (len .) 2 -}}
{{- $own = index . 2 -}}
{{- end -}}
{{- with merge (dict) $own (index . 0).Values.commonAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{ end -}}
labels:
  {{- include "loadstone.labels" . | nindent 2 }}
{{- end }}

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
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Pod selector labels of a component. Call with its name. */}}
{{- define "loadstone.selector" -}}
app.kubernetes.io/name: loadstone
app.kubernetes.io/component: {{ . }}
{{- end }}

{{/* A full image name. Call with (list $ "its name in the values"). */}}
{{- define "loadstone.image" -}}
{{- $root := index . 0 -}}
{{- $images := $root.Values.images -}}
{{- $image := index $images (index . 1) -}}
{{- $image.registry | default $images.registry }}/{{ $image.repository -}}
{{- if $image.digest -}}
@{{ $image.digest }}
{{- else -}}
:{{ $image.tag | default $images.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* The pull policy of an image. Call with (list $ "its name in the values"). */}}
{{- define "loadstone.pullPolicy" -}}
{{- $images := (index . 0).Values.images -}}
{{- (index $images (index . 1)).pullPolicy | default $images.pullPolicy -}}
{{- end }}

{{/* Pull Secrets of a pod or service account. */}}
{{- define "loadstone.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* The name of a component's service account. Call with (list $ "component"). */}}
{{- define "loadstone.account" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $own := include "loadstone.fullname" $root -}}
{{- if ne $component "operator" -}}
{{- $own = printf "%s-%s" $own $component -}}
{{- end -}}
{{- (index $root.Values $component).serviceAccount.name | default $own -}}
{{- end }}

{{/* Labels of a component's pods. Call with (list $ "component"). */}}
{{- define "loadstone.podLabels" -}}
{{- include "loadstone.selector" (index . 1) }}
{{- with (index (index . 0).Values (index . 1)).podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Scheduling of a component: avoid measuring nodes, tainted or not. Call with its values. */}}
{{- define "loadstone.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
{{ toYaml . }}
{{- end }}
affinity:
{{- if .affinity }}
  {{- toYaml .affinity | nindent 2 }}
{{- else }}
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - key: loadstone.dev/role
          operator: NotIn
          values: [server, generator]
{{- end }}
{{- end }}

{{/* host:port of the object store. */}}
{{- define "loadstone.s3Endpoint" -}}
{{- if .Values.minio.enabled -}}
{{ include "loadstone.fullname" . }}-minio.{{ .Release.Namespace }}.svc:9000
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

{{/* Security context of every pod: what Pod Security "restricted" requires, plus the values. */}}
{{- define "loadstone.podSecurity" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- with .Values.podSecurityContext }}
{{ toYaml . }}
{{- end }}
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

{{/* Namespaces with runs, separated by commas; always with the release's own. Empty: all namespaces. */}}
{{- define "loadstone.led" -}}
{{- $listed := .Values.runs.namespaces | default list -}}
{{- if not (has "*" $listed) -}}
{{- append $listed .Release.Namespace | uniq | sortAlpha | join "," -}}
{{- end -}}
{{- end }}

{{/* Rules of the operator in namespaces with runs. */}}
{{- define "loadstone.runRules" -}}
- apiGroups: [loadstone.dev]
  resources: [benchmarkruns]
  verbs: [create, delete, list, patch, watch]
- apiGroups: [loadstone.dev]
  resources: [benchmarksuites]
  verbs: [get, list, watch]
- apiGroups: [loadstone.dev]
  resources: [trials]
  verbs: [create, deletecollection, list, patch, watch]
- apiGroups: [loadstone.dev]
  resources: [benchmarkruns/status, benchmarksuites/status, trials/status]
  verbs: [patch]
# Owner references that block their owner's deletion.
- apiGroups: [loadstone.dev]
  resources: [benchmarkruns/finalizers, benchmarksuites/finalizers, trials/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [create, delete, deletecollection, list, watch]
{{- if .Values.networkPolicy.enabled }}
# Each run gets a policy that isolates its pods.
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [create, deletecollection]
{{- end }}
# ConfigMaps of scripts and bodies are read once, at the start of the run; ConfigMaps of implementations are read before
# and after each trial. The operator can neither list nor write ConfigMaps.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
# The kubelet reports a missing ConfigMap or Secret of a mounted file only in an event.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* Rules of the web pages in namespaces with runs. */}}
{{- define "loadstone.uiRules" -}}
# Users who can read a run can download its files.
- apiGroups: [loadstone.dev]
  resources: [benchmarkruns]
  verbs: [get, list, watch]
- apiGroups: [loadstone.dev]
  resources: [benchmarksuites, trials]
  verbs: [list, watch]
{{- end }}

{{/* Host names of the pages, separated by commas. They know their Service's names only if it is called loadstone-ui. */}}
{{- define "loadstone.uiHosts" -}}
{{- $hosts := .Values.ui.hosts -}}
{{- if ne (include "loadstone.fullname" .) "loadstone" -}}
{{- $service := printf "%s-ui.%s" (include "loadstone.fullname" .) .Release.Namespace -}}
{{- $hosts = concat $hosts (list $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service)) -}}
{{- end -}}
{{- join "," $hosts -}}
{{- end }}

{{/* Rules of the uninstall hook in namespaces with runs. */}}
{{- define "loadstone.uninstallRules" -}}
- apiGroups: [loadstone.dev]
  resources: [benchmarkruns]
  verbs: [delete, list, patch]
- apiGroups: [loadstone.dev]
  resources: [benchmarksuites]
  verbs: [list]
{{- end }}

{{/* Measured pods, as a label selector. */}}
{{- define "loadstone.measured" -}}
matchExpressions:
- key: loadstone.dev/trial
  operator: Exists
{{- end }}

{{/* What each run's NetworkPolicy allows besides its own pods: operator to agents, pods to DNS and object store. */}}
{{- define "loadstone.runPolicy" -}}
ingress:
- from:
  - namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ .Release.Namespace }}
    podSelector:
      matchLabels:
        {{- include "loadstone.selector" "operator" | nindent 8 }}
  ports:
  - port: 7600
egress:
- to:
  {{- toYaml .Values.networkPolicy.dns | nindent 2 }}
  ports:
  - port: 53
    protocol: UDP
  - port: 53
    protocol: TCP
- ports:
  - port: {{ include "loadstone.s3Port" . }}
  {{- if .Values.minio.enabled }}
  to:
  - namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ .Release.Namespace }}
    podSelector:
      matchLabels:
        {{- include "loadstone.selector" "minio" | nindent 8 }}
  {{- else if .Values.s3.cidrs }}
  to:
  {{- range .Values.s3.cidrs }}
  - ipBlock:
      cidr: {{ . }}
  {{- end }}
  {{- end }}
{{- end }}

{{/* A comparison with a verdict in 90 seconds: two very different servers, seven short blocks. */}}
{{- define "loadstone.comparison" -}}
spec:
  implementations:
  - name: gohttp
    image: {{ include "loadstone.image" (list . "gohttp") }}
    command: [/usr/local/bin/gohttp, --port=8080]
    port: 8080
  - name: epoll
    image: {{ include "loadstone.image" (list . "epoll") }}
    command: [/usr/local/bin/epoll, --port=8080]
    port: 8080
  baseline: gohttp
  loads:
  - name: short
    tool: wrk
    levels:
    - connections: 10
    warmupSeconds: 0
    durationSeconds: 1
  blocks: 7
{{- end }}

{{/* Additional list items of a component's container. Call with (list its-values "the list"). */}}
{{- define "loadstone.extra" -}}
{{- with index (index . 0) (index . 1) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express. */}}
{{- define "loadstone.check" -}}
{{- include "loadstone.checkInstallation" . -}}
{{- include "loadstone.checkRoutes" . -}}
{{- if and .Values.minio.enabled .Values.s3.endpoint -}}
{{- fail "s3.endpoint and minio.enabled exclude each other: set minio.enabled=false to use your S3, or leave s3.endpoint empty" -}}
{{- end -}}
{{- with .Values.s3.caBundle -}}
{{- if and .configMap .secret -}}
{{- fail "s3.caBundle.configMap and s3.caBundle.secret exclude each other: set only one" -}}
{{- end -}}
{{- if and (or .configMap .secret) (not $.Values.s3.tls) -}}
{{- fail "s3.caBundle needs TLS: set s3.tls=true, or leave s3.caBundle empty" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.rules.enabled (not .Values.metrics.serviceMonitor.enabled) -}}
{{- fail "metrics.rules.enabled needs metrics.serviceMonitor.enabled=true: its alerts use that job" -}}
{{- end -}}
{{- if and (or .Values.ui.hosts .Values.ui.from) (not .Values.ui.enabled) -}}
{{- fail "ui.hosts and ui.from need the pages: set ui.enabled=true, or leave them empty" -}}
{{- end -}}
{{- if and .Values.ui.from (not .Values.networkPolicy.enabled) -}}
{{- fail "ui.from needs NetworkPolicies: set networkPolicy.enabled=true, or leave it empty (then every pod of the cluster reaches the pages)" -}}
{{- end -}}
{{- range list "serviceMonitor" "dashboard" -}}
{{- if and (index $.Values.metrics .).enabled (not $.Values.metrics.enabled) -}}
{{- fail (printf "metrics.%s.enabled needs metrics.enabled=true" .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.minio.enabled .Values.s3.tls -}}
{{- fail "s3.tls needs your own S3, because the embedded MinIO does not support TLS: set minio.enabled=false or s3.tls=false" -}}
{{- end -}}
{{- if and (not .Values.minio.enabled) (not .Values.s3.endpoint) -}}
{{- fail "no object store: set s3.endpoint to host:port of your S3, or minio.enabled=true" -}}
{{- end -}}
{{- if and (not .Values.minio.enabled) (not .Values.s3.existingSecret) (not .Values.s3.byRole) -}}
{{- fail "s3.existingSecret is empty: create a Secret with the keys access-key and secret-key in the release's namespace and set its name, or set s3.byRole=true if the operator's service account has a role" -}}
{{- end -}}
{{- if and .Values.s3.byRole .Values.minio.enabled -}}
{{- fail "s3.byRole needs your own S3: set minio.enabled=false or s3.byRole=false" -}}
{{- end -}}
{{- if and .Values.s3.byRole .Values.s3.existingSecret -}}
{{- fail "s3.byRole and s3.existingSecret exclude each other: set only one" -}}
{{- end -}}
{{- if and .Values.s3.stsEndpoint (not .Values.s3.byRole) -}}
{{- fail "s3.stsEndpoint needs s3.byRole: set s3.byRole=true, or leave s3.stsEndpoint empty" -}}
{{- end -}}
{{- if and (not .Values.s3.existingSecret) (or (ne .Values.s3.secretKeys.accessKey "access-key") (ne .Values.s3.secretKeys.secretKey "secret-key")) -}}
{{- fail "s3.secretKeys needs s3.existingSecret: set it, or use the default s3.secretKeys" -}}
{{- end -}}
{{- end }}

{{/* Checks of names, accounts, replicas and CRDs. */}}
{{- define "loadstone.checkInstallation" -}}
{{- if and .Values.nameOverride .Values.fullnameOverride -}}
{{- fail "nameOverride and fullnameOverride exclude each other: set only one" -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$" (include "loadstone.fullname" .)) -}}
{{- fail (printf "the names of objects would start with %q: set fullnameOverride to at most 40 lower-case letters, digits and hyphens, with a letter first" (include "loadstone.fullname" .)) -}}
{{- end -}}
{{- range list "operator" "argo" "minio" "ui" "webhook" -}}
{{- $account := (index $.Values .).serviceAccount -}}
{{- if and (not $account.create) (not $account.name) -}}
{{- fail (printf "%s.serviceAccount.create=false needs %s.serviceAccount.name: set it to an existing service account" . .) -}}
{{- end -}}
{{- if and (not $account.create) $account.annotations -}}
{{- fail (printf "%s.serviceAccount.annotations needs %s.serviceAccount.create=true: annotate your own account yourself" . .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.operator.topologySpreadConstraints (lt (int .Values.operator.replicas) 2) -}}
{{- fail "operator.topologySpreadConstraints needs operator.replicas of 2 or more" -}}
{{- end -}}
{{- end }}

{{/* Checks of Ingresses and HTTPRoutes. */}}
{{- define "loadstone.checkRoutes" -}}
{{- range $component := list "ui" "webhook" -}}
{{- with index $.Values $component -}}
{{- if and (or .ingress.enabled .httpRoute.enabled) (not .enabled) -}}
{{- fail (printf "%s.ingress and %s.httpRoute need %s.enabled=true" $component $component $component) -}}
{{- end -}}
{{- if and (or .ingress.enabled .httpRoute.enabled) (not .hosts) -}}
{{- fail (printf "%s.ingress and %s.httpRoute need %s.hosts: set it to the public host names" $component $component $component) -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) -}}
{{- fail (printf "%s.httpRoute.enabled needs %s.httpRoute.parentRefs: name your Gateway" $component $component) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.ui -}}
{{- if and (or .ingress.enabled .httpRoute.enabled) $.Values.networkPolicy.enabled (not .from) -}}
{{- fail "ui.ingress and ui.httpRoute need ui.from: set it to the pods of your Ingress controller or Gateway, which the NetworkPolicy otherwise blocks" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.webhook.hosts (not .Values.webhook.ingress.enabled) (not .Values.webhook.httpRoute.enabled) -}}
{{- fail "webhook.hosts needs webhook.ingress.enabled=true or webhook.httpRoute.enabled=true" -}}
{{- end -}}
{{- end }}

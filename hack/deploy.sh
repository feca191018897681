#!/usr/bin/env bash
# Installs or upgrades Loadstone, with Argo and MinIO, from the chart in this checkout or CHART, and waits until it is ready.
# usage: KUBECONFIG=... hack/deploy.sh [extra helm arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
namespace=${NAMESPACE:-loadstone-system}

kubectl create namespace "$namespace" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
kubectl label namespace "$namespace" --overwrite pod-security.kubernetes.io/enforce=restricted >/dev/null
# Runs live in the default namespace unless told otherwise: measured pods meet the same standard.
kubectl label namespace default --overwrite pod-security.kubernetes.io/enforce=restricted >/dev/null
# A cluster without a StorageClass, as that of hack/cluster, has no volume for MinIO.
persistent=false
[ -z "$(kubectl get storageclasses --output name)" ] || persistent=true
# Tests have namespaces of their own.
# A number is a tag, too, and MinIO's is its own: MINIO_TAG leaves it where it is while TAG changes.
helm upgrade --install loadstone "${CHART:-charts/loadstone}" --namespace "$namespace" \
  --set "images.registry=${REGISTRY:-localhost/loadstone}" --set-string "images.tag=${TAG:-dev}" \
  --set-string "images.minio.tag=${MINIO_TAG:-${TAG:-dev}}" --set "minio.persistence.enabled=$persistent" --set 'runs.namespaces={*}' "$@" >/dev/null
# The tag may be the same while the image is not, which Argo, the webhook and the pages have, too.
for program in $(kubectl --namespace "$namespace" get deployments loadstone loadstone-argo loadstone-webhook loadstone-ui --ignore-not-found --output name); do
  kubectl --namespace "$namespace" rollout restart "$program" >/dev/null
done
kubectl --namespace "$namespace" rollout status deployment --timeout=180s
# With the chart's own MinIO there is a StatefulSet, too.
for store in $(kubectl --namespace "$namespace" get statefulsets --output name); do
  kubectl --namespace "$namespace" rollout status "$store" --timeout=180s
done
kubectl --namespace "$namespace" get pods

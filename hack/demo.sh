#!/usr/bin/env bash
# Applies the quick sample, shows how it goes on, and prints where its report is.
# usage: KUBECONFIG=... hack/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."

kubectl delete benchmarkrun quick --ignore-not-found --timeout=60s
kubectl apply -f config/samples/quick.yaml
last=""
for _ in $(seq 600); do
  line=$(kubectl get benchmarkrun quick --no-headers)
  if [ "$line" != "$last" ]; then echo "$line"; last=$line; fi
  done=$(kubectl get benchmarkrun quick -o jsonpath='{.status.completionTime}')
  [ -n "$done" ] && break
  sleep 0.5
done
kubectl wait --for=condition=Succeeded benchmarkrun/quick --timeout=1s
echo "The report:"
make -s report RUN=quick

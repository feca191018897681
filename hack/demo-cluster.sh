#!/usr/bin/env bash
# Applies the quick sample, shows how it goes on, and prints its verdict and where its report is; or says why it has failed.
# usage: KUBECONFIG=... hack/demo-cluster.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# In seconds. The run times itself out within 18 minutes of its turn, so that only a run that waits for others is given up here.
patience=1800
kubectl delete benchmarkrun quick --ignore-not-found --timeout=60s
kubectl apply -f config/samples/quick.yaml

# fields PATH...: those of the run's status, separated by "|". Only the last may hold one itself.
fields() { local paths; printf -v paths '{.status.%s}|' "$@"; kubectl get benchmarkrun quick -o "jsonpath=${paths%|}"; }
succeeded() { echo "conditions[?(@.type==\"Succeeded\")].$1"; }
look() { fields completionTime progress timeLeft "$(succeeded status)" "$(succeeded reason)" "$(succeeded message)"; }

last=""
while [ $SECONDS -lt $patience ]; do
  seen=$(look)
  IFS='|' read -r -d '' ended progress left status reason message <<<"$seen" || true
  message=${message%$'\n'}
  [ -z "$ended" ] || break
  line="${progress:+$progress cells}${left:+, about $left left}"
  # Any other reason says for whom or for what the run waits.
  [ "${reason:-InProgress}" = InProgress ] || line="$reason: $message"
  [ "$line" = "$last" ] || echo "$line"
  last=$line
  sleep 0.5
done
if [ "$status" = True ]; then
  echo "The verdict: $(fields verdict)"
else
  echo "The run quick has not succeeded: ${reason:-no status}: ${message:-does the operator run?}" >&2
fi
if [ -n "$ended" ] && [ -n "$(fields report.uri)" ]; then
  echo "The report:"
  bin/loadstone report --namespace default --system-namespace loadstone-system --out reports quick
fi
[ "$status" = True ]

# shellcheck shell=bash
# The control plane: etcd, API server, controller manager, scheduler and the one kube-proxy, as processes on CPU 0.
# There is one of each, so nobody elects a leader. Sourced, never run.

ETCD_URL=https://127.0.0.1:2379
ETCD_PEER_URL=https://127.0.0.1:2380

# etcd holds every secret of the cluster, so even on loopback it answers only those who have a certificate of ours.
etcd_up() {
  # No fsync: this cluster's state does not outlive a crash anyway (up.sh starts anew).
  start etcd etcd --data-dir "$CLUSTER/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls="$ETCD_URL" --advertise-client-urls="$ETCD_URL" --client-cert-auth \
    --cert-file="$PKI/etcd.crt" --key-file="$PKI/etcd.key" --trusted-ca-file="$PKI/ca.crt" \
    --listen-peer-urls="$ETCD_PEER_URL" --initial-advertise-peer-urls="$ETCD_PEER_URL" \
    --initial-cluster="default=$ETCD_PEER_URL" --peer-client-cert-auth \
    --peer-cert-file="$PKI/etcd.crt" --peer-key-file="$PKI/etcd.key" --peer-trusted-ca-file="$PKI/ca.crt"
}

apiserver_up() {
  start apiserver kube-apiserver --advertise-address="$API_ADDRESS" --bind-address="$API_ADDRESS" --secure-port=6443 \
    --etcd-servers="$ETCD_URL" --etcd-cafile="$PKI/ca.crt" --etcd-certfile="$PKI/apiserver.crt" --etcd-keyfile="$PKI/apiserver.key" \
    --service-cluster-ip-range="$SERVICE_RANGE" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --anonymous-auth=false --allow-privileged \
    --client-ca-file="$PKI/ca.crt" --token-auth-file="$PKI/tokens.csv" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-signing-key-file="$PKI/service-account.key" --service-account-key-file="$PKI/service-account.pub" \
    --kubelet-certificate-authority="$PKI/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate="$PKI/admin.crt" --kubelet-client-key="$PKI/admin.key" \
    --profiling=false
}

# The rate limits are for clusters of thousands of nodes; here they would only delay a trial's pods.
controllers_up() {
  start controller-manager kube-controller-manager --kubeconfig="$CLUSTER/controller-manager.kubeconfig" \
    --bind-address=127.0.0.1 --leader-elect=false --profiling=false --use-service-account-credentials \
    --service-account-private-key-file="$PKI/service-account.key" --root-ca-file="$PKI/ca.crt" \
    --kube-api-qps=200 --kube-api-burst=400
  start scheduler kube-scheduler --kubeconfig="$CLUSTER/scheduler.kubeconfig" \
    --bind-address=127.0.0.1 --leader-elect=false --profiling=false --kube-api-qps=200 --kube-api-burst=400
  render "$HACK_CLUSTER/config/kube-proxy.yaml" CLUSTER="$CLUSTER" POD_RANGE="$POD_RANGE" >"$CLUSTER/kube-proxy.yaml"
  start proxy kube-proxy --config="$CLUSTER/kube-proxy.yaml"
}

admin() { kubectl --kubeconfig="$CLUSTER/admin.kubeconfig" "$@"; }
apiserver_ready() { admin get --raw /readyz; }
# The answer in bash alone is 401, which is an answer: the component serves.
serves() { timeout 1 bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"; }

dns_up() { # IMAGE
  render "$HACK_CLUSTER/config/coredns.yaml" DNS="$DNS_ADDRESS" DOMAIN="$CLUSTER_DOMAIN" IMAGE="$1" | admin apply --server-side -f - >/dev/null
}

# dns_answers: asks the DNS service, over TCP, for the API server's own name: that needs kube-proxy, the pod network,
# CoreDNS, and CoreDNS' watch of the API server.
dns_answers() {
  local answer
  # Length 54, id 1, recursion desired, one question: kubernetes.default.svc.cluster.local A IN.
  local query='\0\66\0\1\1\0\0\1\0\0\0\0\0\0\12kubernetes\7default\3svc\7cluster\5local\0\0\1\0\1'
  answer=$(timeout 2 bash -c "exec 3<>/dev/tcp/$DNS_ADDRESS/53; printf '$query' >&3; dd bs=512 count=1 status=none <&3 | od -An -v -tx1" | tr -d ' \n')
  [[ $answer == *0a600001* ]] # 10.96.0.1
}

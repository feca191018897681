# shellcheck shell=bash
# Keys, certificates and kubeconfigs of the cluster: one authority, one client certificate for each component, all
# thrown away with the cluster. Sourced, never run.

PKI=$CLUSTER/pki

pki_up() {
  local node
  ( umask 077; mkdir -p "$PKI" )
  ec_key ca
  openssl req -x509 -new -key "$PKI/ca.key" -out "$PKI/ca.crt" -days 365 -subj /CN=loadstone-hack
  ec_key service-account
  openssl pkey -in "$PKI/service-account.key" -pubout -out "$PKI/service-account.pub"
  certificate apiserver /CN=kube-apiserver \
    "IP:$API_ADDRESS,IP:$API_SERVICE_ADDRESS,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.$CLUSTER_DOMAIN"
  certificate etcd /CN=etcd IP:127.0.0.1
  admin_pki
  client controller-manager /CN=system:kube-controller-manager
  client scheduler /CN=system:kube-scheduler
  client proxy /CN=system:kube-proxy
  for node in "${NODES[@]}"; do
    client "kubelet-$node" "/O=system:nodes/CN=system:node:$node" "IP:$(node_address "$node"),DNS:$node"
  done
}

ec_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$PKI/$1.key"; }

certificate() { # NAME SUBJECT ALTERNATIVE_NAMES
  ec_key "$1"
  openssl req -new -key "$PKI/$1.key" -subj "$2" -out "$PKI/$1.csr"
  openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 365 -out "$PKI/$1.crt" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$3") 2>/dev/null
}

# admin_pki: the administrator has a token, too. The operator asks for one before it hands out a report, and never sees a certificate.
admin_pki() {
  local token
  token=$(openssl rand -hex 32)
  ( umask 077; echo "$token,admin,admin,system:masters" >"$PKI/tokens.csv" )
  client admin /O=system:masters/CN=admin DNS:admin "token: $token, "
}

client() { # NAME SUBJECT [ALTERNATIVE_NAMES [TOKEN]]: a certificate, and the kubeconfig that uses it
  certificate "$1" "$2" "${3:-DNS:$1}"
  ( umask 077; render "$HACK_CLUSTER/config/kubeconfig.yaml" NAME="$1" TOKEN="${4:-}" PKI="$PKI" API="$API_ADDRESS:6443" >"$CLUSTER/$1.kubeconfig" )
}

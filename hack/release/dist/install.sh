#!/bin/sh
# Installs the program loadstone of one release, on Linux and macOS.
#
#   usage: install.sh [--dir FOLDER] [--key FILE]
#
#   --dir FOLDER  install into this folder (default: ~/.local/bin)
#   --key FILE    also check the signature of the release, with this public key (needs openssl)
#
# LOADSTONE_DOWNLOADS is the address of a mirror that has the release's files.
set -eu

# Command dist sets these two.
VERSION=
DOWNLOADS=

die() {
  echo "install.sh: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

cleanup() { rm -rf "$tmp" ${new:+"$new"}; }

# platform: prints the release's name of this system.
platform() {
  os=$(uname -s) cpu=$(uname -m)
  case $os in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "there is no loadstone for $os: use Linux or macOS" ;;
  esac
  case $cpu in
    x86_64 | amd64) cpu=amd64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) die "there is no loadstone for the CPU $cpu: use amd64 or arm64" ;;
  esac
  echo "${os}_$cpu"
}

# fetch NAME: downloads a file of the release.
fetch() {
  if has curl; then
    error=$(curl --fail --silent --show-error --location --output "$tmp/$1" "$downloads/$1" 2>&1) || die "cannot download $downloads/$1 ($error)"
  elif has wget; then
    wget -q -O "$tmp/$1" "$downloads/$1" || die "cannot download $downloads/$1: check the address and your network"
  else
    die "curl and wget are missing: install one of them"
  fi
}

# sha256 FILE: prints its checksum.
sha256() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  elif has openssl; then
    openssl dgst -sha256 -r "$1"
  else
    die "sha256sum, shasum and openssl are missing: install one of them"
  fi
}

# check_signature KEY: checks the signature of checksums.txt.
check_signature() {
  has openssl || die "--key needs openssl: install it, or leave out --key to check only the checksum"
  [ -r "$1" ] || die "cannot read the key $1: name the release's public key with --key"
  fetch checksums.txt.sig
  if ! openssl base64 -d -A -in "$tmp/checksums.txt.sig" -out "$tmp/signature" 2>/dev/null ||
    ! openssl dgst -sha256 -verify "$1" -signature "$tmp/signature" "$tmp/checksums.txt" >/dev/null 2>&1; then
    die "$downloads/checksums.txt is not signed by the key $1: nothing was installed"
  fi
}

# check_sum NAME: compares a file with checksums.txt.
check_sum() {
  want=$(awk -v name="$1" '$2 == name || $2 == "*" name { print $1 }' "$tmp/checksums.txt")
  [ -n "$want" ] || die "$downloads/checksums.txt does not list $1: nothing was installed"
  line=$(sha256 "$tmp/$1")
  [ "${line%% *}" = "$want" ] || die "$1 has the SHA-256 ${line%% *}, but checksums.txt says $want: nothing was installed"
}

# install_program ARCHIVE FOLDER: replaces the program there only if the new one starts.
install_program() {
  tar -xzf "$tmp/$1" -C "$tmp" loadstone 2>/dev/null || die "$1 has no program loadstone: nothing was installed"
  [ ! -d "$2/loadstone" ] || die "$2/loadstone is a folder: choose another folder with --dir"
  new=$2/.loadstone.$$
  { cp "$tmp/loadstone" "$new" && chmod 755 "$new"; } 2>/dev/null || die "cannot write to $2: choose another folder with --dir"
  "$new" version >/dev/null 2>&1 || die "loadstone $VERSION does not start from $2: nothing was installed"
  mv -f "$new" "$2/loadstone"
}

main() {
  dir=${HOME:+$HOME/.local/bin} key='' new=''
  while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "usage: install.sh [--dir FOLDER] [--key FILE]"
    case $1 in
      --dir) dir=$2 ;;
      --key) key=$2 ;;
      *) die "usage: install.sh [--dir FOLDER] [--key FILE]" ;;
    esac
    shift 2
  done
  [ -n "$VERSION" ] || die "this copy belongs to no release: use the install.sh of a release"
  [ -n "$dir" ] || die "HOME is not set: choose a folder with --dir"
  downloads=${LOADSTONE_DOWNLOADS:-$DOWNLOADS}
  downloads=${downloads%/}
  platform=$(platform)
  archive=loadstone_${VERSION}_$platform.tar.gz

  tmp=$(mktemp -d)
  trap cleanup EXIT
  trap 'exit 1' HUP INT TERM
  fetch checksums.txt
  signature="not checked (no --key)"
  if [ -n "$key" ]; then
    check_signature "$key"
    signature="checked with $key"
  fi
  fetch "$archive"
  check_sum "$archive"
  mkdir -p "$dir" 2>/dev/null || die "cannot create the folder $dir: choose another folder with --dir"
  dir=$(CDPATH='' cd -- "$dir" && pwd)
  install_program "$archive" "$dir"

  echo "Installed loadstone $VERSION ($platform) as $dir/loadstone."
  echo "Checksum: as in $downloads/checksums.txt. Signature: $signature."
  case :$PATH: in
    *:"$dir":*) ;;
    *) echo "$dir is not in PATH. Add it: export PATH=\"$dir:\$PATH\"" ;;
  esac
  echo "To remove it: rm $dir/loadstone"
}

# In the last line, so that a partly downloaded script does nothing.
main "$@"

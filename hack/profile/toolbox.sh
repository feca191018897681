#!/bin/sh
# Puts valgrind's tools and strace into one folder that works wherever it is mounted, also in an image that has no C library and no shell.
#
#   usage: hack/profile/toolbox.sh /FOLDER      (on Debian with valgrind, libc6-dbg, strace, binutils and gcc)
#
# valgrind's tools are static programs, which launcher.c starts. strace brings its libraries and its loader. debug/ holds the symbols of
# Debian's dynamic loader, without which memcheck starts no dynamic program; they fit images with the same version of Debian's C library. The
# folder has no links, so that it can be copied file by file.
set -eu
folder=$1
arch=$(dpkg --print-architecture)
case $arch in
  amd64) loader=/lib64/ld-linux-x86-64.so.2 triplet=x86_64-linux-gnu ;;
  arm64) loader=/lib/ld-linux-aarch64.so.1 triplet=aarch64-linux-gnu ;;
  *) echo "there is no toolbox for $arch" >&2; exit 1 ;;
esac

cd "$(dirname "$0")"
mkdir -p "$folder/valgrind" "$folder/bin" "$folder/lib"
# Callgrind and cachegrind replace no functions, and so have no part to load beside the core.
for tool in memcheck massif callgrind cachegrind; do cp "/usr/libexec/valgrind/$tool-$arch-linux" "$folder/valgrind/$tool"; done
for part in core memcheck massif; do cp "/usr/libexec/valgrind/vgpreload_$part-$arch-linux.so" "$folder/valgrind/"; done
cp /usr/libexec/valgrind/default.supp "$folder/valgrind/"
gcc -std=gnu11 -Os -static -s -Wall -Wextra -Werror -o "$folder/valgrind/launcher" launcher.c

cp -L /usr/bin/strace "$folder/bin/"
for library in $(ldd /usr/bin/strace | grep -o '/[^ ]*'); do cp -L "$library" "$folder/lib/"; done
mv "$folder/lib/$(basename "$loader")" "$folder/lib/loader"

# valgrind looks for debug/FOLDER OF THE LOADER/NAME IN ITS DEBUG LINK. Where an image has its loader depends on how it was made.
id=$(readelf -n "$loader" | awk '/Build ID/ { print $3 }')
for path in "lib/$triplet" "usr/lib/$triplet" "$(dirname "${loader#/}")"; do
  mkdir -p "$folder/debug/$path"
  cp "/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug" "$folder/debug/$path/"
done
chmod -R a+rX "$folder"

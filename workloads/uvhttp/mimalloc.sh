#!/bin/sh
# mimalloc.sh DIR CC: fetches the source of Debian's mimalloc, whose package has no static library, from the machine's own Debian
# mirror, and compiles it. DIR/flags is what a compiler must be told to build it in: nothing when the source cannot be had.
set -eu
dir=$1 cc=$2
version=2.0.9
sum=cbc9d207ff105ad1f0cb739c378076143a6452b8d0624309cea0abfb040e972b

# The source lies beside the packages that Debian made of it.
fetch() {
    package=$(apt-get -qq download --print-uris libmimalloc-dev | cut -d "'" -f 2)
    [ -n "$package" ] || return 1
    /usr/lib/apt/apt-helper -qq -o APT::Sandbox::User=root \
        download-file "${package%/*}/mimalloc_$version%2bds.orig.tar.xz" "$dir/source.tar.xz" "SHA256:$sum" &&
        tar -xJf "$dir/source.tar.xz" -C "$dir" --strip-components=1
}

rm -rf "$dir"
mkdir -p "$dir"
if fetch; then
    "$cc" -std=gnu11 -O2 -DNDEBUG -fstack-protector-strong -fPIE -ffunction-sections -fdata-sections \
        -I"$dir/include" -c -o "$dir/mimalloc.o" "$dir/src/static.c"
    echo "-DWITH_MIMALLOC -I$dir/include $dir/mimalloc.o" >"$dir/flags"
else
    echo "uvhttp: the source of mimalloc $version cannot be had, so the allocator is glibc's. Remove $dir to try again." >&2
    : >"$dir/flags"
fi

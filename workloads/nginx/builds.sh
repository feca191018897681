#!/bin/sh
# builds.sh DIR CC: builds nginx twice into DIR, nginx-debug with the debugging log that Debian's has and nginx-plain without, from the source of
# Debian's package, which the machine's own mirror has. Apart from that they are alike: Debian's flags, and what nginx.conf needs, for which libpcre2-dev is there.
set -eu
dir=$1 cc=$2
version=1.22.1
sum=9ebb333a9e82b952acd3e2b4aeb1d4ff6406f72491bab6cd9fe69f0dea737f31

# The source lies beside the packages that Debian made of it.
package=$(apt-get -qq download --print-uris nginx | cut -d "'" -f 2)
rm -rf "$dir/source"
mkdir -p "$dir/source"
/usr/lib/apt/apt-helper -qq -o APT::Sandbox::User=root \
    download-file "${package%/*}/nginx_$version.orig.tar.gz" "$dir/source.tar.gz" "SHA256:$sum"
tar -xzf "$dir/source.tar.gz" -C "$dir/source" --strip-components=1
cd "$dir/source"
for build in plain debug; do
    log=''
    [ $build = plain ] || log=--with-debug
    # shellcheck disable=SC2086 # It may be none.
    ./configure --with-cc="$cc" --with-cc-opt='-g -O2 -fstack-protector-strong -Wformat -Werror=format-security -fPIC -D_FORTIFY_SOURCE=2' \
        --with-ld-opt='-Wl,-z,relro -Wl,-z,now -fPIC' --without-http_gzip_module --builddir="objs-$build" $log >"$build.log"
    make -s -j2 -f "objs-$build/Makefile" >>"$build.log"
    cp "objs-$build/nginx" "../nginx-$build"
done

#!/bin/sh
# installed.sh CC DIR MAKE OUT: installs the library below DIR, and builds a program on nothing but what was installed.
set -eu
cc=$1 dir=$2 make=$3 out=$4
rm -rf "$dir"
$make -s install DESTDIR="$dir" PREFIX=/usr OUT="$out"
cat >"$dir/program.c" <<'END'
#include <uvhttp.h>

int main(void)
{
    struct uvhttp_config config = {.port = 0};
    return uvhttp_new(&config) == NULL ? 0 : 1;
}
END
# The folder stands where the package's prefix says, below DIR.
flags=$(sed -n "s|\${prefix}|$dir/usr|; s|\${includedir}|$dir/usr/include|; s|\${libdir}|$dir/usr/lib|; s/^Cflags: //p; s/^Libs: //p" "$dir/usr/lib/pkgconfig/uvhttp.pc")
# shellcheck disable=SC2086 # They are many words.
$cc -o "$dir/program" "$dir/program.c" $flags -luv
said=$("$dir/program" 2>&1)
[ "$said" = "uvhttp: a port is between 1 and 65535" ] || { echo "FAIL an installed library says: $said"; exit 1; }
echo "installed: a program is built on it"

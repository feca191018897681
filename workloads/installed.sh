#!/bin/sh
# installed.sh NAME COMPILER DIR MAKE OUT SOURCE: installs the library of the folder that it is run in below DIR, and builds DIR/program of SOURCE
# on nothing but what was installed, by what its pkg-config file says.
set -eu
name=$1 compiler=$2 dir=$3 make=$4 out=$5 source=$6
rm -rf "$dir"
$make -s install DESTDIR="$dir" PREFIX=/usr OUT="$out"
# The folder stands where the package's prefix says, below DIR.
flags=$(sed -n "s|\${prefix}|$dir/usr|; s|\${includedir}|$dir/usr/include|; s|\${libdir}|$dir/usr/lib|; s/^Cflags: //p; s/^Libs: //p" "$dir/usr/lib/pkgconfig/$name.pc")
# shellcheck disable=SC2086 # They are many words.
$compiler -Wall -Wextra -Werror -o "$dir/program" "$source" $flags

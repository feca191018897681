#!/bin/sh
# Makes in a folder the files that uvhttp makes in memory, byte for byte.
set -eu
make_file() {
    yes helloworld | head -c "$2" >"$1"
}
cd "$1"
make_file 12b.txt 12
make_file 10k.bin 10240
make_file 100k.bin 102400
make_file 1m.bin 1048576
make_file 10m.bin 10485760

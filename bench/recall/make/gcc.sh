#!/usr/bin/env bash
# Makes the C and C++ compiler outputs.
#   gcc.sh gcc-radio | clang-radio | gcc-kiln | clang-orbit   > OUTPUT
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1
project=${name#*-}
dir=/srv/$project
# never touch a folder that was there before
if [ -e "$dir" ]; then echo "$dir exists already" >&2; exit 2; fi
mkdir -p "$dir" || exit 2
python3 "$here/gcc_gen.py" "$project" "$dir" || exit 2
cd "$dir" || exit 2
export LC_ALL=C
case $name in
  # no source lines for C++: they would be lines of the standard library
  gcc-*)   make -k CC=gcc CXX="g++ -fno-diagnostics-show-caret" ;;
  clang-*) make -k CC=clang CXX="clang++ -fno-caret-diagnostics" ;;
esac 2>&1
rc=$?
cd / && rm -rf "$dir"
exit "$rc"

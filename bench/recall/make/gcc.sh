#!/usr/bin/env bash
# Makes the C and C++ compiler outputs.
#   gcc.sh gcc-radio | clang-radio | gcc-kiln | clang-orbit   > OUTPUT
. "$(dirname "$0")/folder.sh"
name=$1
project=${name#*-}
generate python3 gcc_gen.py "$project"
export LC_ALL=C
case $name in
  # no source lines for C++: they would be lines of the standard library
  gcc-*)   make -k CC=gcc CXX="g++ -fno-diagnostics-show-caret" ;;
  clang-*) make -k CC=clang CXX="clang++ -fno-caret-diagnostics" ;;
esac 2>&1
leave $?

#!/usr/bin/env bash
# Makes the go test outputs: go.sh relay|relay-green|vault   > OUTPUT
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1
project=${name%-green}
dir=/srv/$project
# never touch a folder that was there before
if [ -e "$dir" ]; then echo "$dir exists already" >&2; exit 2; fi
mkdir -p /srv && cp -r "$here/go/$project" "$dir" && cd "$dir" || exit 2
printf 'module example.org/%s\n\ngo 1.19\n' "$project" > go.mod
export GOFLAGS=-count=1 GOPROXY=off GOCACHE=${GOCACHE:-/var/tmp/recall-go-cache}
case $name in
  relay) go test -v ./... ;;
  relay-green) go test -v -cover -run 'TestBurst|TestFanOut|TestSoak|TestRemote' ./limiter ./hub ;;
  vault) go test -json ./... ;;
esac 2>&1 | sed -E 's#/usr/(local|lib)/go[-0-9.]*/src#/usr/lib/go/src#g'
rc=${PIPESTATUS[0]}
cd / && rm -rf "$dir"
exit "$rc"

#!/usr/bin/env bash
# Makes the go test outputs: go.sh relay|relay-green|vault   > OUTPUT
. "$(dirname "$0")/folder.sh"
name=$1
project=${name%-green}
copied "$project" go
printf 'module example.org/%s\n\ngo 1.19\n' "$project" > go.mod
export GOFLAGS=-count=1 GOPROXY=off GOCACHE=${GOCACHE:-/var/tmp/recall-go-cache}
case $name in
  relay) go test -v ./... ;;
  relay-green) go test -v -cover -run 'TestBurst|TestFanOut|TestSoak|TestRemote' ./limiter ./hub ;;
  vault) go test -json ./... ;;
esac 2>&1 | sed -E 's#/usr/(local|lib)/go[-0-9.]*/src#/usr/lib/go/src#g'
leave "${PIPESTATUS[0]}"

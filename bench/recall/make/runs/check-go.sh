#!/bin/bash
# What a Go module runs before a merge.
failed=0
run() { echo "\$ $*"; "$@" || { echo "^ exit status $?"; failed=$((failed + 1)); }; }
run go version
echo "\$ gofmt -l ."; gofmt -l .
run go vet ./...
run go build -v ./...
run go test -count=1 -v -cover ./...
run go run ./cmd/depotd
run go mod verify
echo "finished: $failed commands failed"
[ $failed = 0 ]

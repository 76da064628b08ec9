#!/bin/bash
go version
echo "=== vet"
go vet ./... ; v=$?
echo "=== test"
go test -race -v -vet=off ./... ; t=$?
echo "=== bench"
go test -run '^$' -vet=off -bench . -benchtime 2000x ./... ; b=$?
echo "=== result vet=$v test=$t bench=$b"
exit $((v || t || b))

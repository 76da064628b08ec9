#!/usr/bin/env python3
"""Writes a Go module with tests; `go test -json ./...` in it gives a stream of events. usage: go-events.py DIR"""
import os, sys

base = sys.argv[1]


def put(path, text):
    os.makedirs(os.path.dirname(os.path.join(base, path)) or base, exist_ok=True)
    open(os.path.join(base, path), "w").write(text)


put("go.mod", "module example.org/tariff\n\ngo 1.19\n")
for n, p in enumerate(["zone", "fare", "ticket", "discount", "validity", "export", "clock", "refund"]):
    put(f"{p}/{p}.go", f"// Package {p} knows the {p}s of the tariff.\npackage {p}\n\n// Value gives the {p} of a distance.\nfunc Value(km int) int {{\n\tif km < 0 {{\n\t\treturn 0\n\t}}\n\treturn km*{n + 2} + {n}\n}}\n")
    t = f"package {p}\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestTable(t *testing.T) {{\n\tfor km := 0; km < 90; km++ {{\n\t\tkm := km\n\t\tt.Run(fmt.Sprintf(\"km_%d\", km), func(t *testing.T) {{\n\t\t\tif got := Value(km); got != km*{n + 2}+{n} {{\n\t\t\t\tt.Errorf(\"Value(%d) = %d\", km, got)\n\t\t\t}}\n\t\t}})\n\t}}\n}}\n\nfunc TestNegative(t *testing.T) {{\n\tt.Log(\"negative distances\")\n\tif Value(-1) != 0 {{\n\t\tt.Fatal(\"want 0\")\n\t}}\n}}\n\nvar _ = time.Second\n"
    if p == "discount":
        t += "\nfunc TestChildren(t *testing.T) {\n\tgot := Value(10)\n\tif want := 48; got != want {\n\t\tt.Errorf(\"children: got %d, want %d\", got, want)\n\t}\n}\n"
    if p == "refund":
        t += "\nfunc TestPanics(t *testing.T) {\n\tvar m map[string]int\n\tm[\"late\"] = 1\n}\n"
    if p == "clock":
        t += "\nfunc TestMidnight(t *testing.T) {\n\ttime.Sleep(1300 * time.Millisecond)\n}\n\nfunc TestLeapSecond(t *testing.T) {\n\tt.Skip(\"needs a clock with leap seconds\")\n}\n"
    if p == "export":
        t += "\nfunc TestHeader(t *testing.T) {\n\tvar unused int\n}\n"
    put(f"{p}/{p}_test.go", t)

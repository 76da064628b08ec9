#!/usr/bin/env python3
"""gosvc.py DIR: Go packages with vet findings, failing tests, a data race and benchmarks."""
import os
import random
import sys

root = sys.argv[1]
rng = random.Random(31)
PKGS = ["billing", "catalog", "delivery", "geo", "pricing", "quota", "session", "webhook"]


def put(path, text):
    p = os.path.join(root, path)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    open(p, "w").write(text)


put("go.mod", "module example.org/fleet\n\ngo 1.19\n")
for p in PKGS:
    fns, tests = [], []
    for k in range(rng.randint(5, 9)):
        f = f"{rng.choice(['Sum', 'Clamp', 'Rank', 'Split', 'Score'])}{k}"
        add = 1 if rng.random() < 0.08 else 0
        fns.append(f"// {f} folds the values.\nfunc {f}(values []int) int {{\n\ttotal := {add}\n\tfor _, v := range values {{\n\t\ttotal += v\n\t}}\n\treturn total\n}}\n")
        tests.append(f"func Test{f}(t *testing.T) {{\n\tfor n := 0; n < {rng.randint(4, 8)}; n++ {{\n\t\tt.Run(fmt.Sprintf(\"n=%d\", n), func(t *testing.T) {{\n\t\t\tif got, want := {f}([]int{{n, n, n}}), 3*n; got != want {{\n\t\t\t\tt.Errorf(\"{f}(%d,%d,%d) = %d, want %d\", n, n, n, got, want)\n\t\t\t}}\n\t\t}})\n\t}}\n}}\n")
        if rng.random() < 0.08:
            tests.append(f"func Test{f}Live(t *testing.T) {{\n\tt.Skip(\"FLEET_TOKEN is not set\")\n}}\n")
    extra, imports = "", "\t\"fmt\"\n\t\"testing\"\n"
    if p == "quota":
        imports += "\t\"sync\"\n"
        tests.append("func TestConcurrentTake(t *testing.T) {\n\tused := 0\n\tvar wg sync.WaitGroup\n\tfor i := 0; i < 4; i++ {\n\t\twg.Add(1)\n\t\tgo func() {\n\t\t\tdefer wg.Done()\n\t\t\tfor k := 0; k < 100; k++ {\n\t\t\t\tused++\n\t\t\t}\n\t\t}()\n\t}\n\twg.Wait()\n}\n")
    if p == "webhook":
        tests.append("type hook struct{ urls []string }\n\nfunc (h *hook) last() string { return h.urls[len(h.urls)] }\n\nfunc TestLastHook(t *testing.T) {\n\th := &hook{urls: []string{\"a\", \"b\"}}\n\tif h.last() != \"b\" {\n\t\tt.Fatal(\"wrong hook\")\n\t}\n}\n")
    if p in ("geo", "session"):
        extra = "import \"fmt\"\n\n// Debug prints a point.\nfunc Debug(x float64) {\n\tfmt.Printf(\"%d\\n\", x)\n}\n\n" if p == "geo" else "import \"sync\"\n\n// Copy copies a lock by mistake.\nfunc Copy(m sync.Mutex) sync.Mutex { return m }\n\n"
    put(f"{p}/{p}.go", f"package {p}\n\n{extra}" + "\n".join(fns))
    put(f"{p}/{p}_test.go", f"package {p}\n\nimport (\n{imports})\n\n" + "\n".join(tests) +
        f"\nfunc Benchmark{p.capitalize()}(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\t_ = fmt.Sprint(i)\n\t}}\n}}\n")

"""goproj.py DIR: writes a Go module of several packages with findings of vet, a package that does not build, and tests."""
import pathlib, sys
root = pathlib.Path(sys.argv[1])
def put(path, text):
    file = root / path; file.parent.mkdir(parents=True, exist_ok=True); file.write_text(text)
put("go.mod", "module example.org/depot\n\ngo 1.19\n")
NAMES = ["bins", "labels", "lanes", "orders", "pallets", "picks", "racks", "routes", "scans", "shifts", "stock", "zones"]
for number, name in enumerate(NAMES):
    wrong = number in (3, 8)
    put(f"{name}/{name}.go", f"""// Package {name} keeps {name} of the depot.
package {name}

import (
\t"fmt"
\t"sync"
)

// Keeper keeps {name} by their code.
type Keeper struct {{
\tmu sync.Mutex
\tby map[string]int
}}

// New makes a keeper.
func New() *Keeper {{ return &Keeper{{by: map[string]int{{}}}} }}

// Add counts one more.
func (k *Keeper) Add(code string, count int) (int, error) {{
\tk.mu.Lock()
\tdefer k.mu.Unlock()
\tif count < 0 {{
\t\treturn 0, fmt.Errorf("{name}: negative count %d for %s", count, code)
\t}}
\tk.by[code] {"=" if wrong else "+="} count
\treturn k.by[code], nil
}}

// Describe tells what is kept.
func (k *Keeper) Describe(code string) string {{
\treturn fmt.Sprintf("%s: {'%s' if number == 5 else '%d'}", code, k.by[code])
}}
{f'''
// Copy is a mistake.
func Copy(k Keeper) Keeper {{ return k }}
''' if number == 9 else ''}""")
    cases = "\n".join(f'\t\t{{"{name}-{n}", {n}, {n + 3}, {2 * n + 3}}},' for n in range(24))
    put(f"{name}/{name}_test.go", f"""package {name}

import "testing"

func TestAdd(t *testing.T) {{
\tcases := []struct {{
\t\tcode         string
\t\tfirst, again int
\t\twant         int
\t}}{{
{cases}
\t}}
\tfor _, c := range cases {{
\t\tt.Run(c.code, func(t *testing.T) {{
\t\t\tk := New()
\t\t\tk.Add(c.code, c.first)
\t\t\tgot, err := k.Add(c.code, c.again)
\t\t\tif err != nil {{
\t\t\t\tt.Fatal(err)
\t\t\t}}
\t\t\tif got != c.want {{
\t\t\t\tt.Errorf("Add(%q) twice = %d, want %d", c.code, got, c.want)
\t\t\t}}
\t\t}})
\t}}
}}

func TestNegative(t *testing.T) {{
\tif _, err := New().Add("x", -1); err == nil {{
\t\tt.Fatal("no error")
\t}}
}}

func TestDescribe(t *testing.T) {{
\tif got := New().Describe("x"); got != "x: 0" {{
\t\tt.Errorf("got %q", got)
\t}}
}}
""")
put("cmd/depotd/main.go", """package main

import (
\t"fmt"
\t"os"

\t"example.org/depot/bins"
\t"example.org/depot/zones"
)

func main() {
\tk := bins.New()
\tn, _ := k.Add("a-1", 4)
\tz := zones.New()
\tfmt.Println("depotd", n, z.Describe("a"))
\tvar lanes []string
\tfmt.Fprintln(os.Stderr, "serving lane", lanes[len(os.Args)])
}
""")
put("cmd/report/main.go", """package main

import "example.org/depot/stock"

func main() {
\tk := stock.New()
\ttotal := k.Total("a")
\tvar unused int
\tk.Add("a", "many")
}
""")
put("racks/store.go", "package racks\nimport \"os\"\nfunc  Save(path string)error{return os.WriteFile(path,nil,0644)}\n")

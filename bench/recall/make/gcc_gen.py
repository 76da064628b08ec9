"""Writes C and C++ projects that do not compile cleanly: gcc_gen.py PROJECT DIR."""
import os
import random
import sys


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


MAKEFILE = """CFLAGS = -std=c11 -Wall -Wextra -Wconversion -O1
CXXFLAGS = -std=c++17 -Wall -Wextra -O1
OBJECTS = {objects}

all: $(OBJECTS)

src/%.o: src/%.c
\t$(CC) $(CFLAGS) -c -o $@ $<

src/%.o: src/%.cpp
\t$(CXX) $(CXXFLAGS) -c -o $@ $<
"""

RADIO_C = [
    "int {w}_sum(const short *v, unsigned n) {{\n    int total;\n    for (int i = 0; i < n; i++)\n        total += v[i];\n    return total;\n}}\n",
    "char *{w}_name(int id) {{\n    char buffer[16];\n    sprintf(buffer, \"{w}-%s\", id);\n    return buffer;\n}}\n",
    "static int {w}_unused(int a, int b) {{\n    return a;\n}}\n",
    "void {w}_copy(char *dst, const char *src, long n) {{\n    short k = n;\n    memcpy(dst, src, k);\n    if (k = 0) puts(\"empty\");\n}}\n",
    "int {w}_state(enum state s) {{\n    switch (s) {{\n    case IDLE: return 0;\n    case SENDING: puts(\"sending\");\n    case BROKEN: return 2;\n    }}\n}}\n",
    "float {w}_gain(double db) {{\n    float g = pow(10.0, db / 20.0);\n    unsigned char c = g * 300;\n    return c == -1 ? 0 : g;\n}}\n",
    "int {w}_find(struct channel *list, char *name) {{\n    while (list != NULL) {{\n        if (list->name == name) return list->frequency;\n        list = list->nxt;\n    }}\n    return NULL;\n}}\n",
    "int {w}_open(const char *path) {{\n    FILE *f = fopen(path, \"r\");\n    int n = fread_all(f);\n    return n\n}}\n",
    "void {w}_tune(struct channel *c) {{\n    c->frequency = \"98.5\";\n    c->muted = 1;\n}}\n",
]
RADIO_CPP = [
    "void {w}_sort(std::list<Signal> &signals) {{\n    std::sort(signals.begin(), signals.end());\n}}\n",
    "std::string {w}_text(const std::map<std::string, int> &m) {{\n    m[\"count\"] = 1;\n    return m.at(0);\n}}\n",
    "std::unique_ptr<Signal> {w}_clone(const std::unique_ptr<Signal> &s) {{\n    std::vector<std::unique_ptr<Signal>> v;\n    v.push_back(s);\n    return v.front();\n}}\n",
    "int {w}_count(const std::vector<Signal> &v) {{\n    std::set<Signal> unique(v.begin(), v.end());\n    return unique.size();\n}}\n",
]
KILN_CPP = [
    "struct {W}Shape {{ virtual double volume() const = 0; ~{W}Shape() {{}} }};\nstruct {W}Pot : {W}Shape {{ double volume() {{ return 1.0; }} }};\nstd::unique_ptr<{W}Shape> make_{w}() {{ return std::make_unique<{W}Pot>(); }}\n",
    "template <typename T> auto {w}_total(const std::vector<T> &v) {{ return std::accumulate(v.begin(), v.end(), T{{}}); }}\nstd::string {w}_report() {{ return {w}_total(std::vector<const char *>{{\"a\"}}) + {w}_total(std::vector<Glaze>{{}}); }}\n",
    "void {w}_print(const std::optional<Glaze> &g) {{ std::cout << g << \"\\n\"; }}\n",
    "std::unordered_map<Glaze, int> {w}_index(const std::vector<Glaze> &v) {{\n    std::unordered_map<Glaze, int> m;\n    for (auto &g : v) m[g]++;\n    return m;\n}}\n",
    "auto {w}_visit(const std::variant<int, std::string, Glaze> &x) {{\n    return std::visit([](auto &&v) {{ return v.size(); }}, x);\n}}\n",
    "void {w}_run() {{ std::thread t([](Glaze &g, int n) {{ g.layers += n; }}, Glaze{{}}, \"two\"); t.join(); }}\n",
    "std::function<int(int)> {w}_fn() {{ return [](std::string s) {{ return s.size(); }}; }}\n",
    "constexpr int {w}_limit(int n) {{ return n <= 1 ? 1 : n * {w}_limit(n - 1); }}\nstatic_assert({w}_limit(4) == 25, \"limit of {w}\");\n",
    "std::tuple<int, std::string> {w}_pair() {{ auto [a, b, c] = std::make_tuple(1, std::string(\"x\")); return {{b, a}}; }}\n",
]
ORBIT_C = [
    "double {w}_period(double a) {{\n    int steps = a;\n    return 2 * M_PI * sqrt(a * a * a / MU);\n}}\n",
    "void {w}_reset(struct body b) {{\n    memset(&b, 0, sizeof(&b));\n    b.mass = 0;\n}}\n",
    "int {w}_compare(const void *a, const void *b) {{\n    struct body *x = a, *y = b;\n    return x->mass - y->mass;\n}}\n",
    "long {w}_read(FILE *f) {{\n    unsigned short n;\n    fscanf(f, \"%d\", &n);\n    return n < 0 ? -1 : n;\n}}\n",
    "char *{w}_label(struct body *b) {{\n    static char text[8];\n    strcpy(text, \"orbit of {w}\");\n    if (b->name == \"sun\") return text;\n    return &b->name;\n}}\n",
    "struct body *{w}_new(void) {{\n    struct body *b = malloc(sizeof(struct bdy));\n    b->mas = 1.0;\n    return b;\n}}\n",
    "int {w}_loop(int n) {{\n    for (unsigned i = n; i >= 0; i--)\n        if (i == 3) goto out;\n    return 0;\n}}\n",
]


def build(words, seed, c, cpp, head_c, head_cpp, special):
    rng = random.Random(seed)
    objects = []
    for k, w in enumerate(words):
        camel = "".join(x.capitalize() for x in w.split("_"))
        if cpp and (not c or k % 3 == 2):
            parts = rng.sample(cpp, rng.randrange(2, min(6, len(cpp)) + 1))
            write(f"src/{w}.cpp", head_cpp + "\n".join(p.format(w=w, W=camel) for p in parts))
        else:
            parts = rng.sample(c, rng.randrange(3, len(c)))
            write(f"src/{w}.c", head_c + "\n".join(p.format(w=w, W=camel) for p in parts))
        objects.append(f"src/{w}.o")
    for name, text in special.items():
        write(f"src/{name}", text)
        if not name.endswith(".h") and not name.endswith(".hpp"):
            objects.append(f"src/{name.rsplit('.', 1)[0]}.o")
    write("Makefile", MAKEFILE.format(objects=" ".join(objects)))


def radio():
    build(["antenna", "carrier", "decoder", "encoder", "filter", "gain", "hopping", "jammer", "modem", "mixer", "noise", "oscillator", "packet",
           "preamp", "scanner", "squelch", "tuner", "volume"], 3, RADIO_C, RADIO_CPP,
          '#include "radio.h"\n\n', '#include "signal.hpp"\n\n', {
        "radio.h": "#include <stdio.h>\n#include <string.h>\nenum state { IDLE, SENDING, RECEIVING, BROKEN };\nstruct channel { char *name; int frequency; struct channel *next; };\n",
        "signal.hpp": "#include <algorithm>\n#include <list>\n#include <map>\n#include <memory>\n#include <set>\n#include <string>\n#include <vector>\nstruct Signal { double level; int channel; };\n",
        "main.c": '#include "radio.h"\n#include "hardware.h"\n\nint main(void) { return start(); }\n'})


def kiln():
    words = [f"{a}_{b}" for a in ["ash", "brick", "clay", "dome", "ember", "flue", "grate", "hearth", "ingot", "jar"] for b in ["batch", "curve"]]
    build(words, 8, [], KILN_CPP, "", '#include "glaze.hpp"\n\n', {
        "glaze.hpp": "#include <functional>\n#include <iostream>\n#include <memory>\n#include <numeric>\n#include <optional>\n#include <string>\n#include <thread>\n#include <tuple>\n#include <unordered_map>\n#include <variant>\n#include <vector>\nstruct Glaze { std::string name; int layers = 1; };\n",
        "main.cpp": '#include "glaze.hpp"\n#include "controller.hpp"\n\nint main() { return Controller().run(); }\n',
        "safety.cpp": '#include "glaze.hpp"\n\nint shut_down(int celsius) {\n    if (celsius > 1300)\n        alarm_bell(celsius);\n    int spare;\n    return spare;\n}\n'})


def orbit():
    words = [f"{a}_{b}" for a in ["asteroid", "comet", "debris", "ephemeris", "ground", "launch", "moon", "planet", "probe", "rocket", "satellite", "station"]
             for b in ["model", "track", "plan"]]
    build(words, 15, ORBIT_C, [], '#include "body.h"\n\n', "", {
        "body.h": "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#define MU 398600.4\nstruct body { const char *name; double mass; double x[3]; };\nint total_bodies(void);\n",
        "dock.c": '#include "body.h"\n\nint total_bodies(int kind) { return kind; }\n\nint dock(struct body *a) {\n    int port = 7 / 0;\n    a->x[5] = 1.0;\n    return undock(a, port);\n}\n'})


os.chdir(sys.argv[2])
{"radio": radio, "kiln": kiln, "orbit": orbit}[sys.argv[1]]()

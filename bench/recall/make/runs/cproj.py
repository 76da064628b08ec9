"""cproj.py DIR: writes a C library with a Makefile, warnings, tests that print TAP and a leak for valgrind."""
import pathlib, sys
root = pathlib.Path(sys.argv[1])
def put(path, text):
    file = root / path; file.parent.mkdir(parents=True, exist_ok=True); file.write_text(text)
PARTS = ["ring", "crc", "frame", "queue", "timer", "parse", "route", "stats"]
for n, part in enumerate(PARTS):
    extra = ""
    if n % 3 == 0: extra += "    int spare;\n"
    if n == 4: extra += "    if (count = 0) return -1;\n"
    put(f"src/{part}.c", f'''#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bus.h"

int {part}_size(const char *text, unsigned count) {{
{extra}    int i, sum = 0;
    for (i = 0; i < count; i++)
        sum += text[i] % {n + 3};
    return sum;
}}

char *{part}_copy(const char *text) {{
    char *copy = malloc(strlen(text) + {0 if n == 5 else 1});
    strcpy(copy, text);
    return copy;
}}
''')
put("src/bus.h", "#ifndef BUS_H\n#define BUS_H\n" + "".join(f"int {p}_size(const char *text, unsigned count);\nchar *{p}_copy(const char *text);\n" for p in PARTS) + "#endif\n")
for n, part in enumerate(PARTS):
    put(f"test/test_{part}.c", f'''#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/bus.h"

int main(void) {{
    int bad = 0, n = 0;
    printf("1..{40 + n}\\n");
    for (n = 1; n <= {40 + n}; n++) {{
        char text[64];
        memset(text, 'a', n); text[n] = 0;
        int got = {part}_size(text, n), want = n * ('a' % {n + 3}) + (n == {31 if n in (1, 6) else 99});
        char *copy = {part}_copy(text);
        if (got == want) printf("ok %d - {part}_size of %d bytes\\n", n, n);
        else {{ printf("not ok %d - {part}_size of %d bytes\\n  ---\\n  got: %d\\n  want: %d\\n  at: test/test_{part}.c:14\\n  ...\\n", n, n, got, want); bad++; }}
        {'if (n == 20) abort();' if n == 7 else ''}
        {'' if n == 3 else 'free(copy);'}
    }}
    return bad > 0;
}}
''')
put("Makefile", '''CC = gcc
CFLAGS = -std=c11 -O1 -g -Wall -Wextra -Isrc
PARTS = ''' + " ".join(PARTS) + '''
OBJECTS = $(PARTS:%=build/%.o)

check: $(PARTS:%=build/test_%)
	@for part in $(PARTS); do echo "=== test_$$part ==="; ./build/test_$$part || { echo "test_$$part: exit status $$?"; fails="$$fails $$part"; }; done; \\
	echo "8 programs,`echo $$fails | wc -w` failed:$$fails"; test -z "$$fails"

memory: build/test_queue build/test_parse
	valgrind --leak-check=full --error-exitcode=9 ./build/test_queue > build/queue.out
	valgrind --leak-check=full --error-exitcode=9 ./build/test_parse > build/parse.out

build/%.o: src/%.c src/bus.h
	@mkdir -p build
	$(CC) $(CFLAGS) -c $< -o $@

build/libbus.a: $(OBJECTS)
	ar rcs $@ $^

build/test_%: test/test_%.c build/libbus.a
	$(CC) $(CFLAGS) $< build/libbus.a -o $@

size: build/libbus.a
	size build/libbus.a

.SECONDARY:
''')
put("all.sh", "make -k check memory; rc=$?; make size; make docs; exit $rc\n")

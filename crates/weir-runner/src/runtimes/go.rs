//! Go: one package, in the module of the current folder if there is one.

use std::ffi::OsStr;

use super::{Language, Plan, PlanRequest, Runtime, has_line};

pub(super) const GO: Language = Language {
    name: "go",
    aliases: &["golang"],
    extensions: &["go"],
    runtimes: &[Runtime {
        program: "go",
        versions: &[],
        install: &["apt install golang-go", "dnf install golang", "brew install go"],
        plan,
    }],
};

/// A second file of the same package. Package variables may be unused.
const PRELUDE: &str = r#"package main

import (
	"os"
	"strings"
)

var FILE_PATH = os.Getenv("WEIR_FILE")
var FILE_CONTENT = func() string {
	content, err := os.ReadFile(FILE_PATH)
	if err != nil {
		panic(err)
	}
	return strings.ToValidUTF8(string(content), "\uFFFD")
}()
"#;

/// Packages that code without imports may use, each with an item that can be named without calling it.
const PACKAGES: &[(&str, &str)] = &[
    ("bufio", "bufio.NewReader"),
    ("bytes", "bytes.Equal"),
    ("encoding/json", "json.Marshal"),
    ("errors", "errors.New"),
    ("fmt", "fmt.Print"),
    ("io", "io.EOF"),
    ("math", "math.Abs"),
    ("os", "os.Exit"),
    ("path/filepath", "filepath.Join"),
    ("regexp", "regexp.Compile"),
    ("sort", "sort.Ints"),
    ("strconv", "strconv.Itoa"),
    ("strings", "strings.Split"),
    ("time", "time.Now"),
    ("unicode", "unicode.IsUpper"),
];

/// Builds the program and then starts it, since `go run` turns every non-zero exit code into 1. The toolchain is
/// pinned, because a newer one required by `go.mod` would be downloaded.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, prelude, program) = (request.path("code.go"), request.path("prelude.go"), request.path("program"));
    let mut step = request.step([OsStr::new("build"), "-o".as_ref(), program.as_ref(), code.as_ref()]);
    let mut plan = Plan::default().write(code, complete(request.code));
    if request.has_file {
        step.push(prelude.clone().into());
        plan = plan.write(prelude, PRELUDE);
    }
    plan.run(step)
        .run(vec![program.into()])
        .set("GOTOOLCHAIN", "local")
        .set("GOTELEMETRY", "off")
        .set_cache("GOCACHE", request.path("go-cache"))
}

/// Adds a package clause if there is none, and wraps statements in a `main` if there is none, keeping line numbers.
fn complete(code: &str) -> String {
    if has_line(code, "package ") {
        return code.to_owned();
    }
    let (imports, rest) = split_imports(code);
    if rest.contains("func main(") {
        return format!("package main; {imports}{rest}");
    }
    let guessed = if imports.trim().is_empty() { guess_imports(rest) } else { String::new() };
    format!("package main; {imports}{guessed}func main() {{ {rest}\n}}\n")
}

/// Splits after the last line of the imports at the beginning.
fn split_imports(code: &str) -> (&str, &str) {
    let (mut end, mut position, mut in_list) = (0, 0, false);
    for line in code.split_inclusive('\n') {
        position += line.len();
        let text = line.trim();
        let imports = text.starts_with("import ") || text.starts_with("import(");
        if in_list || imports {
            in_list = if imports { text.contains('(') && !text.contains(')') } else { !text.starts_with(')') };
            end = position;
        } else if !text.is_empty() && !text.starts_with("//") {
            break;
        }
    }
    code.split_at(end)
}

fn guess_imports(code: &str) -> String {
    let used: Vec<_> = PACKAGES.iter().filter(|(path, _)| is_used(code, path)).collect();
    let imports: String = used.iter().map(|(path, _)| format!("import \"{path}\"; ")).collect();
    let names: String = used.iter().map(|(_, name)| format!("var _ = {name}; ")).collect();
    imports + &names
}

/// Returns whether the code names a public item of the package.
fn is_used(code: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let mut after = code[at + name.len()..].chars();
        let apart = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.');
        apart && after.next() == Some('.') && after.next().is_some_and(char::is_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::complete;

    fn check(code: &str) -> Checked {
        Checked(complete(code))
    }

    #[test]
    fn a_whole_package_stays_as_it_is() {
        check("// Doc.\npackage main\nfunc main() {}").shows(&expect!["// Doc.\npackage main\nfunc main() {}"]);
    }

    #[test]
    fn a_package_is_named_on_the_first_line() {
        check("import (\n\t\"fmt\"\n)\nfunc main() { fmt.Println(1) }").shows(&expect![[r#"
            package main; import (
            	"fmt"
            )
            func main() { fmt.Println(1) }"#]]);
    }

    #[test]
    fn statements_become_a_main() {
        check("import \"fmt\"\nfmt.Println(1)").shows(&expect![[r#"
            package main; import "fmt"
            func main() { fmt.Println(1)
            }
        "#]]);
        check("fmt.Println(strings.ToUpper(\"time.Now\"), x.os.A, nofmt.B)").shows(&expect![[r#"
            package main; import "fmt"; import "strings"; import "time"; var _ = fmt.Print; var _ = strings.Split; var _ = time.Now; func main() { fmt.Println(strings.ToUpper("time.Now"), x.os.A, nofmt.B)
            }
        "#]]);
    }
}

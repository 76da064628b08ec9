//! Rust: one file, compiled by `rustc` alone, without crates.

use std::ffi::OsStr;

use super::{Language, Plan, PlanRequest, Runtime};

pub(super) const RUST: Language = Language {
    name: "rust",
    aliases: &["rs"],
    extensions: &["rs"],
    runtimes: &[Runtime {
        program: "rustc",
        versions: &[],
        install: &["rustup toolchain install stable", "apt install rustc", "brew install rust"],
        plan,
    }],
};

/// Items may be anywhere in a file, and at the end they do not shift line numbers.
const PRELUDE: &str = r#"
#[allow(unused)] static FILE_PATH: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| std::env::var("WEIR_FILE").unwrap());
#[allow(unused)] static FILE_CONTENT: std::sync::LazyLock<String> = std::sync::LazyLock::new(||
    String::from_utf8_lossy(&std::fs::read(&*FILE_PATH).unwrap()).into_owned());
"#;

/// Builds the plan. Light optimisation costs no compile time, and code that processes a big file needs it. Overflow is
/// still detected; warnings are off.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, program) = (request.path("code.rs"), request.path("program"));
    let mut step =
        request.step([OsStr::new("--edition=2024"), "-Copt-level=1".as_ref(), "-Cdebug-assertions=on".as_ref()]);
    step.extend(["--cap-lints=allow".into(), "-o".into(), program.clone().into(), code.clone().into()]);
    Plan::default().write(code, complete(request.code) + request.prelude(PRELUDE)).run(step).run(vec![program.into()])
}

/// Wraps statements in a `main` if there is none, so `?` works.
fn complete(code: &str) -> String {
    if code.contains("fn main(") {
        return code.to_owned();
    }
    format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{ {code}\n; Ok(()) }}")
}

#[cfg(test)]
mod tests {
    use super::complete;

    #[test]
    fn statements_become_a_main() {
        assert_eq!(complete("fn main() {}"), "fn main() {}");
        assert_eq!(complete("f()?"), "fn main() -> Result<(), Box<dyn std::error::Error>> { f()?\n; Ok(()) }");
    }
}

//! R, with its script front end.

use std::ffi::OsStr;

use super::{Language, Plan, PlanRequest, Runtime, on_first_line};

pub(super) const R: Language = Language {
    name: "r",
    aliases: &["rscript", "rlang"],
    extensions: &["R", "r"],
    runtimes: &[Runtime {
        program: "Rscript",
        versions: &[],
        install: &["apt install r-base-core", "dnf install R-core", "brew install r"],
        plan,
    }],
};

/// R strings cannot contain NUL, so NULs are dropped. Bytes that are not UTF-8 are replaced.
const PRELUDE: &str = "FILE_PATH <- Sys.getenv(\"WEIR_FILE\"); \
    FILE_CONTENT <- (function(bytes) iconv(rawToChar(bytes[bytes != 0]), \"UTF-8\", \"UTF-8\", sub = \"\\uFFFD\"))\
    (readBin(FILE_PATH, \"raw\", file.size(FILE_PATH))); ";

/// Builds the plan. `--vanilla` keeps the user's startup files from affecting the code. Outside a UTF-8 locale, R
/// prints non-ASCII characters as `<U+00E9>`.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let code = request.path("code.R");
    let step = request.step([OsStr::new("--vanilla"), code.as_ref()]);
    Plan::default()
        .write(code, on_first_line(request.prelude(PRELUDE), request.code))
        .run(step)
        .set("LC_CTYPE", "C.UTF-8")
}

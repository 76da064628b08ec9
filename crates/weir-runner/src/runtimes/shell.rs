//! The shell: bash if available, since models write for it, otherwise `sh`.

use super::{Language, Plan, PlanRequest, Runtime, on_first_line};

/// The code is passed in a file, because an argument is limited to 128 KiB and reading a file has no measurable cost
/// (200 starts each: `bash -c` 3.6 ms, `bash FILE` 2.5 ms, `sh -c` 3.0 ms, `sh FILE` 2.9 ms, within the noise).
pub(super) const SHELL: Language = Language {
    name: "shell",
    aliases: &["bash", "sh", "zsh", "shellscript", "console"],
    extensions: &["sh", "bash"],
    runtimes: &[
        Runtime { program: "bash", versions: &[], install: &["apt install bash", "dnf install bash"], plan },
        Runtime { program: "sh", versions: &[], install: &["apt install dash"], plan },
    ],
};

/// Command substitution strips trailing newlines, so a final character protects them.
const PRELUDE: &str = "FILE_PATH=$WEIR_FILE; \
    FILE_CONTENT=$(tr -d '\\000' <\"$FILE_PATH\" && printf x) || exit 1; FILE_CONTENT=${FILE_CONTENT%x}; ";

fn plan(request: &PlanRequest<'_>) -> Plan {
    let code = request.path("code.sh");
    let step = request.step([code.as_os_str()]);
    Plan::default().write(code, on_first_line(request.prelude(PRELUDE), request.code)).run(step)
}

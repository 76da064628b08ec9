//! PHP, on the command line.

use std::ffi::{OsStr, OsString};

use super::{Language, Plan, PlanRequest, Runtime, on_first_line};

pub(super) const PHP: Language = Language {
    name: "php",
    aliases: &["php8"],
    extensions: &["php"],
    runtimes: &[Runtime {
        program: "php",
        versions: &[],
        install: &["apt install php-cli", "dnf install php-cli", "brew install php"],
        plan,
    }],
};

/// Code outside functions expects a variable; a constant is visible inside functions as well.
const PRELUDE: &str = r#"<?php
if (getenv("WEIR_FILE") !== false) {
    $FILE_PATH = getenv("WEIR_FILE");
    $FILE_CONTENT = file_get_contents($FILE_PATH);
    if ($FILE_CONTENT === false) exit(1);
    if (preg_match("//u", $FILE_CONTENT) !== 1) $FILE_CONTENT = function_exists("mb_scrub")
        ? (mb_substitute_character(0xFFFD) ? mb_scrub($FILE_CONTENT, "UTF-8") : "")
        : htmlspecialchars_decode(htmlspecialchars($FILE_CONTENT, ENT_NOQUOTES | ENT_SUBSTITUTE, "UTF-8"), ENT_NOQUOTES);
    define("FILE_PATH", $FILE_PATH);
    define("FILE_CONTENT", $FILE_CONTENT);
}
"#;

/// Builds the plan. Errors go to stderr once; the defaults of some systems print them to stdout, to a log, or twice.
fn plan(request: &PlanRequest<'_>) -> Plan {
    let (code, prelude) = (request.path("code.php"), request.path("prelude.php"));
    let mut prepend = OsString::from("auto_prepend_file=");
    prepend.push(&prelude);
    let step = request.step([
        OsStr::new("-d"),
        "display_errors=stderr".as_ref(),
        "-d".as_ref(),
        "log_errors=0".as_ref(),
        "-d".as_ref(),
        prepend.as_ref(),
        code.as_ref(),
    ]);
    Plan::default().write(code, opened(request.code)).write(prelude, PRELUDE).run(step)
}

/// Adds an opening tag to code without one, which PHP would print instead of running. Code that starts with any tag or
/// with `#!` stays as it is.
fn opened(code: &str) -> String {
    let start = code.trim_start();
    on_first_line(if start.starts_with('<') || start.starts_with("#!") { "" } else { "<?php " }, code)
}

#[cfg(test)]
mod tests {
    use super::opened;

    #[test]
    fn code_is_opened_once() {
        assert_eq!(opened("echo 1;"), "<?php echo 1;");
        assert_eq!(opened("\n<?php echo 1;"), "\n<?php echo 1;");
        assert_eq!(opened("<p><?= 1 ?></p>"), "<p><?= 1 ?></p>");
        assert_eq!(opened("#!/usr/bin/php\n<?php echo 1;"), "#!/usr/bin/php\n<?php echo 1;");
    }
}

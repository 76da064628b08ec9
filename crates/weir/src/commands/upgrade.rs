//! `weir upgrade`: says which version this is, where it came from, the command that updates it, and which clients start
//! another copy. Invariant: nothing is downloaded, and nothing is changed.

use clap::Command;
use serde_json::json;
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_setup::health;

use super::origin::Installed;

pub(crate) const UPGRADE: &str = "upgrade";

pub(crate) fn command() -> Command {
    Command::new(UPGRADE)
        .about("Say how to update Weir, and which clients start another copy")
        .after_long_help("Example:\n  weir upgrade\n\nDownloads nothing and changes nothing.")
}

pub(crate) fn run(context: &Context) -> Result<Answer, CommandError> {
    let installed = Installed::find().ok_or_else(|| CommandError::broken("cannot find this program"))?;
    let version = env!("CARGO_PKG_VERSION");
    let overview = health::overview(context);
    let mut lines = vec![
        format!("version  {version}"),
        format!("program  {}", installed.program.display()),
        format!("origin   {}", installed.by.name),
        format!("update   {}", installed.update()),
    ];
    let fixed = |finding: &health::Finding| {
        let fix = finding.fix.as_deref().map(|fix| format!("\n  fix: {fix}")).unwrap_or_default();
        format!("✗ {}: {}{fix}", finding.title, finding.text)
    };
    lines.extend(overview.wrong.iter().map(fixed));
    match (overview.set_up.as_slice(), overview.wrong.is_empty()) {
        ([], true) => lines.push("clients  none is set up".to_owned()),
        ([], false) => {}
        ([title], _) => lines.push(format!("clients  {title} starts this copy")),
        (titles, _) => lines.push(format!("clients  {} start this copy", titles.join(", "))),
    }
    let wrong = overview.wrong.iter().map(|one| json!({ "client": one.title, "what": one.text, "fix": one.fix }));
    let data = json!({
        "version": version,
        "program": installed.program.display().to_string(),
        "origin": installed.by.name,
        "update": installed.update(),
        "clients": overview.set_up,
        "wrong": wrong.collect::<Vec<_>>(),
    });
    Ok(Answer::new(lines.join("\n"), data))
}

//! `weir policy check`: reports the verdict of the rules on a command, and why, without running it.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use weir_context::Context;
use weir_context::permission;
use weir_core::wording::quoted;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_policy::rules::Verdict;

pub(crate) fn command() -> Command {
    let words = Arg::new("command")
        .value_name("COMMAND")
        .required(true)
        .action(ArgAction::Append)
        .num_args(1..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .help("Command to check, as one string or as separate words");
    let check = Command::new("check")
        .about("Show how the rules judge a command, and why, without running it")
        .after_long_help(
            "Examples:\n  weir policy check -- git push --force\n  weir policy check 'for f in *; do rm \"$f\"; done'\n\n\
             Exits with 0 if the command is allowed, and with 6 if it is denied or needs confirmation.",
        )
        .arg(words);
    Command::new("policy")
        .about("Check commands against the rules in Claude Code's settings and in the configuration")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(check)
}

pub(crate) fn check(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let words = arguments.subcommand_matches("check").and_then(|check| check.get_many::<String>("command"));
    let words: Vec<&String> = words.into_iter().flatten().collect();
    let code = match words.as_slice() {
        [one] => (*one).clone(),
        many => many.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    let judgement = permission::gate(context).judge_script(&permission::client_name(weir_run::TOOL), &code);
    let reasons: Vec<_> = judgement
        .reasons
        .iter()
        .map(|reason| {
            json!({
                "verdict": reason.verdict.as_str(),
                "command": reason.command,
                "inside": reason.inside,
                "rule": reason.rule.as_ref().map(|rule| &rule.text),
                "file": reason.rule.as_ref().map(|rule| rule.path.display().to_string()),
                "why": reason.why,
            })
        })
        .collect();
    let data = json!({ "verdict": judgement.verdict.as_str(), "reasons": reasons });
    let exit_code = (judgement.verdict > Verdict::Allow).then_some(weir_host::error::ErrorKind::Denied.exit_code());
    Ok(Answer { exit_code, ..Answer::new(judgement.to_string().trim_end().to_owned(), data) })
}

//! The options of `weir sync` for sealed projects, and what it says about one. Invariant: what cannot be read or sent
//! is said, with the command that changes it.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::wording::{counted, one_line};
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_records::is_name;
use weir_records::sealed::{Member, MemberKey};
use weir_sync::{ExchangeLock, KeyWish, PreviewedRecord, Report, SealReport, Vault, described};

use super::raw;

pub(super) fn with_options(command: Command) -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let keys = |name: &'static str| Arg::new(name).long(name).num_args(1..);
    let parse = |text: &str| MemberKey::parse(text).map_err(|error| error.to_string());
    let seal = flag("seal", "Seal this project for good: from now on, the server gets notes only as ciphertext");
    let key = flag("key", "Print the key of this machine, which a member passes to --admit");
    let admit = keys("admit")
        .value_name("USER=KEY")
        .value_parser(parse_member)
        .help("Let these machines read the sealed project, including older notes");
    let revoke = keys("revoke")
        .value_name("KEY")
        .value_parser(parse)
        .help("Remove these machines for good: new notes are sealed with a key that they do not get");
    command
        .arg(seal.conflicts_with_all(["admit", "revoke", "key", "stop", "dry-run"]))
        .arg(key.conflicts_with_all(["admit", "revoke", "stop", "dry-run", "server", "include"]))
        .arg(admit.conflicts_with_all(["revoke", "stop", "dry-run"]))
        .arg(revoke.conflicts_with_all(["stop", "dry-run"]))
}

/// Reads a machine with its user. The user is part of what its notes are checked against, so it is not left out.
fn parse_member(text: &str) -> Result<Member, String> {
    let (user, key) = text.rsplit_once('=').ok_or("whose machine is it? Write it as USER=KEY, such as ben=wk1…")?;
    let key = MemberKey::parse(key).map_err(|error| error.to_string())?;
    if !is_name(user) {
        return Err(format!("`{}` cannot be the name of a user", one_line(user, 60)));
    }
    Ok(Member { key, user: user.to_owned() })
}

pub(super) fn wish(arguments: &ArgMatches) -> Option<KeyWish> {
    if arguments.get_flag("seal") {
        return Some(KeyWish::Seal);
    }
    let admitted = arguments.get_many::<Member>("admit").map(|members| members.cloned().collect());
    let revoked = arguments.get_many::<MemberKey>("revoke").map(|keys| keys.copied().collect());
    admitted.map(KeyWish::Admit).or_else(|| revoked.map(KeyWish::Revoke))
}

/// Returns the key of this machine, and holds back what would leave in clear from now on.
pub(super) fn print_key(context: &Context) -> Result<Answer, CommandError> {
    let folder = context.project_folder();
    // The store's folder must exist before anything is put next to the log.
    context.with_stores_here(|open| open.project().map(|_| ()))?;
    let _lock = ExchangeLock::wait(&folder)?;
    let key = Vault::read(&folder)?.expect_sealed()?.to_string();
    Ok(Answer::new(key.clone(), json!({ "key": key })))
}

pub(super) fn previewed(one: PreviewedRecord) -> Value {
    match one.opened {
        Some(opened) => json!({ "record": raw(&one.json), "sealed": opened }),
        None => json!({ "record": raw(&one.json), "text": one.text }),
    }
}

pub(super) fn lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(seal) = &report.sealed {
        lines.push(standing(seal));
        if seal.locked > 0 {
            let count = counted(seal.locked, "sealed record", "sealed records");
            lines.push(format!("{count} that this machine cannot read: {}", admission(seal)));
        }
    }
    lines.extend(report.news.iter().map(described));
    if report.is_renewed {
        lines.push("members were changed at the same time; there is a new key, which all of them have".to_owned());
    }
    if report.lost_changes > 0 {
        let count = counted(report.lost_changes, "change of members", "changes of members");
        lines.push(format!("the server had lost {count} that this machine knows; they count, and were sent again"));
    }
    lines.extend(
        match report.key_change {
            Some(KeyWish::Seal) => {
                Some("notes that were sent before stay on the server in clear until they are forgotten")
            }
            Some(KeyWish::Revoke(_)) => {
                Some("a removed machine keeps what it has read; end its token with `weir-server revoke`")
            }
            Some(KeyWish::Admit(_)) | None => None,
        }
        .map(str::to_owned),
    );
    if report.unproven > 0 {
        let count = counted(report.unproven, "record with keys is", "records with keys are");
        lines.push(format!("{count} not by a member, as far as this machine can tell, and ignored"));
    }
    lines
}

pub(super) fn data(report: &Report) -> Value {
    let Some(seal) = &report.sealed else { return Value::Null };
    let member = |one: &Member| json!({ "user": one.user, "key": one.key });
    let news = report.news.iter().map(
        |news| json!({ "user": news.member.user, "key": news.member.key, "member": news.is_member, "by": news.by }),
    );
    json!({
        "sealed": seal.is_sealed,
        "member": seal.can_seal,
        "fingerprint": seal.fingerprint,
        "key": seal.own_key,
        "members": seal.members.iter().map(member).collect::<Vec<_>>(),
        "news": news.collect::<Vec<_>>(),
        "locked": seal.locked,
        "unproven": report.unproven,
        "lost_changes": report.lost_changes,
    })
}

fn standing(seal: &SealReport) -> String {
    if !seal.is_sealed {
        return "this machine expects a sealed project, and this one is not: no note is sent. Seal it with \
                `weir sync --seal`, or run `weir sync --stop` and connect again to send notes in clear"
            .to_owned();
    }
    if seal.can_seal {
        let machines = counted(seal.members.len(), "machine", "machines");
        let fingerprint = seal.fingerprint.as_deref().unwrap_or_default();
        return format!("sealed for {machines}; the fingerprint is {fingerprint} on each of them");
    }
    let why = match seal.is_left_out {
        true => "this machine is no member any more, and was not given the new key",
        false => "the project is sealed, and this machine has no key",
    };
    format!("{why}: no note is sent. To change that, {}", admission(seal))
}

fn admission(seal: &SealReport) -> String {
    match &seal.own_key {
        Some(key) if !seal.is_removed => {
            format!("ask a member to run: weir sync --admit {}={key}", one_line(&seal.user, 60))
        }
        _ => "run `weir sync --key` for a new key, and ask a member to admit it".to_owned(),
    }
}

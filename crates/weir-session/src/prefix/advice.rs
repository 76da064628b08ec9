//! What to do about a long first request, the most useful first.

use serde::Serialize;

use super::parts::PartKind;
use super::study::{Prefix, SentPart};
use crate::replay::report::table::number;

/// A part below this many tokens is not worth a command.
const MIN_TOKENS: u64 = 500;
/// A memory file above this many tokens is long.
const LONG_FILE_TOKENS: u64 = 2_000;
/// With fewer sessions, a tool that was not called is not yet an unused one.
const MIN_SESSIONS: usize = 5;

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The command, or what to do where there is none, as an imperative.
    pub what: String,
    pub why: String,
    /// The tokens that each request has less, at most.
    pub tokens: u64,
    /// What that saves in a month, in US dollars.
    pub monthly: Option<f64>,
}

/// Returns what would shorten the first request of a client.
pub fn advice(prefix: &Prefix) -> Vec<Advice> {
    let mut advice: Vec<Advice> = prefix.parts.iter().filter_map(|part| about(prefix, part)).collect();
    advice.extend(setting(prefix));
    advice.sort_by_key(|one| std::cmp::Reverse(one.tokens));
    advice
}

fn about(prefix: &Prefix, sent: &SentPart) -> Option<Advice> {
    let part = &sent.part;
    let tokens = sent.sent.filter(|tokens| *tokens >= MIN_TOKENS)?;
    let all = part.tools.len();
    let sessions = prefix.sessions;
    let (what, why) = match part.kind {
        PartKind::Server if sent.unused.len() == all && sessions >= MIN_SESSIONS => {
            let place = part.settings.as_deref().unwrap_or("the client's settings");
            let why = format!("none of its {all} tools was called in {sessions} sessions");
            (format!("remove `{}` from {place}", part.name), why)
        }
        // A setting is easier to change, and what a client defers costs little.
        PartKind::Server if prefix.defers != Some(false) || prefix.inline.is_some() => return None,
        PartKind::Server => {
            let why = match sessions {
                0 => "no transcript says which of its tools are used".to_owned(),
                _ if sent.unused.len() == all => format!("none of its {all} tools was called in {sessions} sessions"),
                _ => format!("{} of its {all} tools were called in {sessions} sessions", all - sent.unused.len()),
            };
            (format!("weir setup {} --gateway {}", prefix.client.name, part.name), why)
        }
        PartKind::Memory if tokens > LONG_FILE_TOKENS => {
            let less = tokens - LONG_FILE_TOKENS;
            let [has, long] = [tokens, LONG_FILE_TOKENS].map(|tokens| number(tokens as i64));
            let why = format!("it has {has} tokens, and Weir calls it long from {long}");
            return Some(Advice {
                what: format!("shorten {}", part.name),
                why,
                tokens: less,
                monthly: share(sent, less),
            });
        }
        _ => return None,
    };
    Some(Advice { what, why, tokens, monthly: sent.monthly })
}

/// Returns what undoing the setting saves that keeps a client from deferring descriptions.
fn setting(prefix: &Prefix) -> Option<Advice> {
    let cause = prefix.inline.as_ref()?;
    let servers = prefix.parts.iter().filter(|sent| sent.part.kind == PartKind::Server);
    let tokens: u64 = servers.filter_map(|sent| sent.sent).sum::<u64>() + cause.own_tokens;
    let why = format!("{} keeps it from deferring the descriptions of tools", cause.setting);
    Some(Advice { what: cause.fix.clone(), why, tokens, monthly: prefix.monthly(tokens) })
}

/// Returns what some of the tokens of a part cost in a month.
fn share(sent: &SentPart, tokens: u64) -> Option<f64> {
    Some(sent.monthly? * tokens as f64 / sent.sent?.max(1) as f64)
}

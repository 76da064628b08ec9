//! The report on first requests, for people and as data.

use serde_json::{Value, json};
use weir_core::wording::{counted, one_line};
use weir_host::answer::Answer;

use super::advice::advice;
use super::parts::{CountedTool, PartKind};
use super::study::{Prefix, SentPart};
use crate::replay::report::dollars;
use crate::replay::report::table::{Table, number, percent};

const MAX_NAME_CHARS: usize = 48;
const MAX_NAMED_TOOLS: usize = 8;
const MAX_NAMED_SERVERS: usize = 6;
const MAX_ADVICE: usize = 6;

/// What every request repeats, for each client.
pub(super) struct PrefixReport {
    pub prefixes: Vec<Prefix>,
    /// The number of older transcripts that were not read.
    pub left_out: usize,
    /// Transcripts that could not be read, with the reason.
    pub unreadable: Vec<String>,
    pub prices_of: String,
}

impl PrefixReport {
    pub(super) fn answer(&self) -> Answer {
        if self.prefixes.is_empty() {
            let text = "There is nothing to show yet: no client on this machine has transcripts, MCP servers or memory \
                        files that Weir knows. Run this again after a session.";
            return Answer::nothing(text.to_owned(), self.data());
        }
        let mut parts: Vec<String> = self.prefixes.iter().map(section).collect();
        let mut remarks = vec![format!(
            "Tokens are counted with o200k; a model may count more. A month is 30 days at the pace of your transcripts, at the \
             prices of {}.",
            self.prices_of
        )];
        if self.left_out > 0 {
            let older = counted(self.left_out, "older transcript was", "older transcripts were");
            remarks.push(format!("{older} not read: raise --newest."));
        }
        remarks.extend(self.unreadable.iter().map(|problem| format!("Not read: {problem}")));
        parts.push(remarks.join("\n"));
        Answer::new(parts.join("\n\n"), self.data())
    }

    fn data(&self) -> Value {
        json!({
            "clients": self.prefixes.iter().map(data).collect::<Vec<_>>(),
            "left_out": self.left_out,
            "unreadable": self.unreadable,
        })
    }
}

fn section(prefix: &Prefix) -> String {
    let mut blocks = vec![format!("{}\n{}", head(prefix), deferral(prefix))];
    if !prefix.parts.is_empty() || prefix.measured.is_some() {
        blocks.push(table(prefix));
    }
    blocks.extend(unused(prefix));
    let advice = advice(prefix);
    if !advice.is_empty() {
        let mut lines = vec!["What to do:".to_owned()];
        for one in advice.iter().take(MAX_ADVICE) {
            let monthly = one.monthly.map(|monthly| format!(", {} a month", dollars(monthly))).unwrap_or_default();
            lines.push(format!("  {}", one.what));
            lines.push(format!(
                "      up to {} tokens less in each request{monthly}: {}",
                number(one.tokens as i64),
                one.why
            ));
        }
        blocks.push(lines.join("\n"));
    }
    blocks.join("\n\n")
}

/// Says how long the first request is, and what repeating it costs.
fn head(prefix: &Prefix) -> String {
    let version = if prefix.version.is_empty() { String::new() } else { format!(" {}", one_line(&prefix.version, 20)) };
    let mut text = format!("{}{version}: ", prefix.client.title);
    match &prefix.measured {
        None => text.push_str("no transcript says how long its first request is."),
        Some(measured) => text.push_str(&format!(
            "the first request has {} tokens without your message (median of {}{}).",
            number(measured.tokens as i64),
            counted(measured.sessions, "session", "sessions"),
            if measured.in_project { " in this project" } else { "" },
        )),
    }
    if prefix.measured.is_some() {
        text.push_str(&format!("\n{}", pace(prefix)));
    }
    text
}

/// Says how often the first request is repeated, and what that costs.
pub fn pace(prefix: &Prefix) -> String {
    prefix.pace.map_or_else(String::new, |pace| {
        format!(
            "It was repeated in {} requests within {} days, {} of it from the cache, and was {} of what the sessions cost.",
            number(pace.requests as i64),
            pace.days.ceil(),
            percent(pace.cached),
            percent(pace.of_price),
        )
    })
}

/// Says whether the client sends the descriptions of MCP tools in every request.
pub fn deferral(prefix: &Prefix) -> String {
    let tried = prefix.client.defers_tools.tried().map(|tried| format!(" (tried with {tried})")).unwrap_or_default();
    let since = prefix.client.defers_tools.since();
    match (prefix.defers, &prefix.inline, since) {
        (_, Some(cause), _) => {
            format!("It sends the descriptions of all tools in every request, because of {}.", cause.setting)
        }
        (Some(true), ..) => format!("It sends only the names of MCP tools until one is wanted{tried}."),
        (Some(false), ..) => format!("It sends the descriptions of MCP tools in every request{tried}."),
        (None, None, Some(since)) => format!(
            "Before {since}, it sends the descriptions of MCP tools in every request to servers other than its maker's."
        ),
        (None, ..) => "Whether it sends the descriptions of MCP tools in every request is not known.".to_owned(),
    }
}

fn table(prefix: &Prefix) -> String {
    let mut table = Table::new(&["in every request", "tokens", "share", "a month", ""]);
    let whole = prefix.measured.map_or_else(|| prefix.counted(), |measured| measured.tokens).max(1) as f64;
    let money = |monthly: Option<f64>| monthly.map(dollars).unwrap_or_default();
    for sent in &prefix.parts {
        let tokens = sent.sent.map_or_else(|| "?".to_owned(), |tokens| number(tokens as i64));
        let share = sent.sent.map(|tokens| percent(tokens as f64 / whole)).unwrap_or_default();
        table.row([name(sent), tokens, share, money(sent.monthly), note(prefix, sent)]);
    }
    if let Some(rest) = prefix.rest() {
        let tokens = u64::try_from(rest).ok();
        table.row([
            "the rest".into(),
            number(rest),
            tokens.map(|tokens| percent(tokens as f64 / whole)).unwrap_or_default(),
            money(tokens.and_then(|tokens| prefix.monthly(tokens))),
            prefix.about_rest().into(),
        ]);
    }
    table.text()
}

fn name(sent: &SentPart) -> String {
    one_line(&format!("{} {}", sent.part.kind.title(), sent.part.name), MAX_NAME_CHARS)
}

/// Says what else there is to know of a part.
pub fn note(prefix: &Prefix, sent: &SentPart) -> String {
    let part = &sent.part;
    let mut notes = Vec::new();
    if part.kind == PartKind::Server && part.tokens.is_some() {
        notes.push(counted(part.tools.len(), "tool", "tools"));
        if prefix.sessions > 0 {
            let called = part.tools.len() - sent.unused.len();
            notes.push(if called == 0 { "none called".to_owned() } else { format!("{called} called") });
        }
        if let (Some(true), Some(tokens)) = (prefix.defers, part.tokens) {
            notes.push(format!("{} tokens if not deferred", number(tokens as i64)));
        }
    }
    notes.extend(part.note.clone());
    one_line(&notes.join(", "), 100)
}

/// Names the tools that were not called, and the servers that were called from elsewhere.
fn unused(prefix: &Prefix) -> Option<String> {
    let mut lines = Vec::new();
    for sent in prefix.parts.iter().filter(|sent| !sent.unused.is_empty()) {
        let tokens: u64 = sent.unused.iter().map(|tool| tool.tokens).sum();
        lines.push(format!(
            "  {}: {} of {}, described in {} tokens: {}",
            one_line(&sent.part.name, MAX_NAME_CHARS),
            sent.unused.len(),
            sent.part.tools.len(),
            number(tokens as i64),
            unused_names(sent),
        ));
    }
    let title = format!("Not called in {}:", counted(prefix.sessions, "session", "sessions"));
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        blocks.push(format!("{title}\n{}", lines.join("\n")));
    }
    if !prefix.others.is_empty() {
        let names = prefix.others.iter().map(|(name, times)| format!("{} ({times})", one_line(name, MAX_NAME_CHARS)));
        blocks.push(format!(
            "Called, but not in your settings, so that they are part of the rest: {}",
            listed(names, MAX_NAMED_SERVERS)
        ));
    }
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

/// Names the tools of a server that were not called, the longest first.
pub fn unused_names(sent: &SentPart) -> String {
    let mut named: Vec<&CountedTool> = sent.unused.iter().collect();
    named.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    listed(named.iter().map(|tool| one_line(&tool.name, MAX_NAME_CHARS)), MAX_NAMED_TOOLS)
}

/// Lists the first of some names, and says how many more there are.
fn listed(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut shown: Vec<String> = names.take(most).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

fn data(prefix: &Prefix) -> Value {
    let part = |sent: &SentPart| {
        json!({
            "kind": sent.part.kind,
            "name": sent.part.name,
            "tokens": sent.sent,
            "described_in": sent.part.tokens,
            "dollars_a_month": sent.monthly,
            "tools": sent.part.tools.len(),
            "not_called": sent.unused,
            "note": sent.part.note,
        })
    };
    json!({
        "client": prefix.client.name,
        "version": prefix.version,
        "model": prefix.model,
        "defers_tools": prefix.defers,
        "inline_because": prefix.inline.as_ref().map(|cause| &cause.setting),
        "first_request": prefix.measured.map(|measured| json!({
            "tokens": measured.tokens, "sessions": measured.sessions, "in_project": measured.in_project,
        })),
        "parts": prefix.parts.iter().map(part).collect::<Vec<_>>(),
        "rest": prefix.rest(),
        "sessions": prefix.sessions,
        "requests": prefix.pace.map(|pace| pace.requests),
        "days": prefix.pace.map(|pace| pace.days),
        "cached": prefix.pace.map(|pace| pace.cached),
        "share_of_price": prefix.pace.map(|pace| pace.of_price),
        "other_servers": prefix.others.iter().map(|(name, calls)| json!({ "name": name, "calls": calls })).collect::<Vec<_>>(),
        "advice": advice(prefix),
    })
}

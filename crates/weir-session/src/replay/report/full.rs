//! What the report adds if all of it is wanted: a table of sessions, and remarks on what the figures leave out.

use std::collections::BTreeMap;

use weir_core::wording::{counted, one_line};

use super::table::{self, Table, number, percent};
use super::{BARS, MAX_NAME_CHARS, ReplayReport, ReplayTotals, ReplayedSession, dollars};
use crate::replay::figures::CarriedIdentifiers;

const MAX_LISTED_SESSIONS: usize = 30;

/// Returns a table of what each session would have saved and lost, the largest effect first.
pub(super) fn sessions(report: &ReplayReport) -> String {
    let mut sessions: Vec<&ReplayedSession> = report.sessions.iter().collect();
    sessions.sort_by(|one, other| other.effect().total_cmp(&one.effect()));
    let left = sessions.len().saturating_sub(MAX_LISTED_SESSIONS);
    sessions.truncate(MAX_LISTED_SESSIONS);
    let most = sessions.iter().map(|played| played.share(played.effect())).fold(f64::EPSILON, f64::max);
    let mut table = Table::new(&["session", "requests", "touched", "saved", "lost", "net", "money", ""]);
    for played in sessions {
        let judged = &played.judged;
        let shown = |price: f64| if judged.has_cost() { table::signed(played.share(price)) } else { String::new() };
        table.row([
            one_line(&played.name, MAX_NAME_CHARS),
            number(played.requests as i64),
            number(judged.all.touched as i64),
            shown(judged.all.saved),
            shown(-played.lost()),
            shown(judged.net()),
            played.dollars().map(|price| dollars(judged.net() * price)).unwrap_or_default(),
            played.bar(most),
        ]);
    }
    let more = match left {
        0 => String::new(),
        left => format!("\n… and {} with less effect", counted(left, "session", "sessions")),
    };
    format!("{}{more}\n{BARS}", table.text())
}

/// Returns remarks on what Weir adds, on guides, on cut results, and on prices.
pub(super) fn remarks(report: &ReplayReport, sum: &ReplayTotals) -> Vec<String> {
    let mut remarks: Vec<String> = own_tokens(report).into_iter().collect();
    if sum.guides.0 > 0 {
        remarks.push(format!(
            "Guides after compactions: {} tokens, {} of the price; not in the net, because what they save cannot be replayed.",
            number(sum.guides.0 as i64),
            percent(sum.guides.1 / sum.cost.max(1.0)),
        ));
    }
    remarks.extend(carried(&sum.carried));
    if sum.figures.cut > 0 {
        let results = counted(sum.figures.cut as usize, "result", "results");
        remarks.push(format!("For {results}, the client itself had shown only a part; the comparison uses that part."));
    }
    remarks.extend(report.price_remarks(sum));
    remarks
}

/// Describes what Weir itself adds to every request, by client.
fn own_tokens(report: &ReplayReport) -> Option<String> {
    let clients: BTreeMap<&str, u64> =
        report.sessions.iter().map(|played| (played.client.title, played.judged.descriptions.0)).collect();
    let each: Vec<String> =
        clients.iter().map(|(title, tokens)| format!("{title} {}", number(*tokens as i64))).collect();
    let said = || format!("Tokens of tool descriptions in every request: {}.", each.join(", "));
    (!each.is_empty()).then(said)
}

/// Describes what was still known after compactions.
fn carried(carried: &CarriedIdentifiers) -> Option<String> {
    let share = |part: u64| percent(part as f64 / carried.used.max(1) as f64);
    let said = || {
        format!(
            "After {}, the model used {} earlier names that it could not have known otherwise: the client's summary had {} of \
             them, summary and guide together {}.",
            counted(carried.compactions as usize, "compaction", "compactions"),
            number(carried.used as i64),
            share(carried.in_summary),
            share(carried.with_guide),
        )
    };
    (carried.used > 0).then(said)
}

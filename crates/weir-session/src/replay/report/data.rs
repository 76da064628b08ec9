//! The report as JSON. docs/replay.md explains the fields.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use weir_clients::OwnCut;

use super::{ReplayReport, ReplayTotals, ReplayedSession};
use crate::replay::figures::{CarriedIdentifiers, Figures, Lever, UnseenResult};

pub(super) fn of(report: &ReplayReport, sum: &ReplayTotals) -> Value {
    let lever = |lever: &Lever| {
        let figures = sum.levers.get(lever).copied().unwrap_or_default();
        (lever.name().replace(' ', "_"), group(&figures, sum.cost))
    };
    let levers: Map<_, _> = Lever::ALL.iter().map(lever).collect();
    let mut all = group(&sum.figures, sum.cost);
    all["descriptions"] = json!(share(-sum.descriptions, sum.cost));
    all["guides"] = json!({ "tokens": sum.guides.0, "share": share(-sum.guides.1, sum.cost) });
    all["carried"] = carried(&sum.carried);
    all["net"] = json!(share(sum.net, sum.cost));
    all["usd"] = json!({ "sessions": sum.priced, "cost": sum.dollars.0, "net": sum.dollars.1 });
    json!({
        "prices_of": report.prices_of,
        "clients": clients(report),
        "sessions": report.sessions.iter().map(session).collect::<Vec<_>>(),
        "tools": groups(&sum.tools, sum.cost),
        "levers": levers,
        "all": all,
        "copied_requests": report.copied_requests,
        "left_out": report.left_out,
        "skipped_rows": report.skipped_rows,
        "not_transcripts": report.others,
        "unreadable": report.unreadable,
    })
}

/// What the replayed clients do by themselves, and what Weir adds to their requests.
fn clients(report: &ReplayReport) -> Map<String, Value> {
    let client = |played: &ReplayedSession| {
        let cut = |cut: &OwnCut| json!({ "outputs": format!("{:?}", cut.of), "above": cut.above, "head": cut.head, "tail": cut.tail });
        let cuts: Vec<Value> = played.client.cuts.iter().map(cut).collect();
        let about = json!({ "descriptions": played.client.overhead_tokens, "cuts": cuts });
        (played.client.name.to_owned(), about)
    };
    report.sessions.iter().map(client).collect()
}

fn session(played: &ReplayedSession) -> Value {
    let judged = &played.judged;
    let mut data = json!({
        "name": played.name,
        "path": played.path,
        "client": played.client.name,
        "version": played.version,
        "model": played.model,
        "requests": played.requests,
        "results_share": share(judged.results_price, judged.cost),
        "descriptions": share(-judged.descriptions.1, judged.cost),
        "descriptions_tokens": judged.descriptions.0,
        "guides": { "tokens": judged.guides.0, "share": share(-judged.guides.1, judged.cost) },
        "carried": carried(&judged.carried),
        "net": share(judged.net(), judged.cost),
        "cost": judged.cost,
        "usd": played.dollars().map(|dollars| json!({ "cost": judged.cost * dollars, "net": judged.net() * dollars })),
        "tools": groups(&judged.tools, judged.cost),
        "unseen": judged.unseen.iter().map(unseen).collect::<Vec<_>>(),
        "faults": judged.faults,
    });
    if let (Value::Object(data), Value::Object(figures)) = (&mut data, group(&judged.all, judged.cost)) {
        data.extend(figures);
    }
    data
}

fn groups(tools: &BTreeMap<&'static str, Figures>, cost: f64) -> Value {
    tools.iter().map(|(tool, figures)| ((*tool).to_owned(), group(figures, cost))).collect::<Map<_, _>>().into()
}

fn group(figures: &Figures, cost: f64) -> Value {
    json!({
        "results": figures.results,
        "tokens": figures.tokens,
        "cut_by_client": figures.cut,
        "touched": figures.touched,
        "tokens_less": figures.less,
        "used": figures.used,
        "visible": figures.used - figures.unseen,
        "visible_in_head_and_tail": figures.in_ends,
        "asked_again": figures.again,
        "saved": share(figures.saved, cost),
        "asked_again_share": share(-figures.again_price, cost),
    })
}

fn carried(carried: &CarriedIdentifiers) -> Value {
    json!({
        "compactions": carried.compactions,
        "used": carried.used,
        "in_summary": carried.in_summary,
        "with_guide": carried.with_guide,
        "missing_written": carried.missing_written,
    })
}

fn unseen(unseen: &UnseenResult) -> Value {
    json!({
        "tool": unseen.tool,
        "given": unseen.given,
        "tokens": unseen.tokens.0,
        "shown": unseen.tokens.1,
        "used": unseen.used,
        "hidden": unseen.hidden,
        "names": unseen.names,
    })
}

/// Returns a price as a share of a cost, rounded to a ten-thousandth of a percent.
fn share(price: f64, cost: f64) -> f64 {
    (price / cost.max(1.0) * 1e6).round() / 1e6
}

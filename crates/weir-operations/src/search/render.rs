//! Renders the answer of a search. Invariant: every excerpt is in a fence below a line that states its origin, together
//! with the headings above it; what others named is quoted outside of it; corrections to the query, doubts and
//! omissions are stated.

use weir_core::wording::counted;
use weir_core::{Entry, EntryKind, Query, Reference};
use weir_host::answer::{Answer, Budget, fence, fit_items, headline, name, one_line};
use weir_host::face::Face;
use weir_knowledge::mapping::FoundSymbol;
use weir_knowledge::staleness;
use weir_store::{Hit, Unreadable};
use weir_sync::Remarks;

use super::data::SearchData;
use super::{Doubts, QueryResult};
use crate::needs::KnowledgeContext;

const MAX_NAMED_SOURCES: usize = 6;
const MAX_NAMED_OUTPUTS: usize = 4;

pub(super) async fn answer(context: &KnowledgeContext, found: &[QueryResult], budget: Budget) -> Answer<SearchData> {
    let (doubts, remarks) = (doubts(context, found).await, remarks(context, found).await);
    let text =
        text(found, &Facts { doubts: &doubts, remarks: &remarks }, context.face(), context.model_problem(), budget);
    let data = SearchData::of(found, &doubts);
    let nothing = found.iter().all(|one| one.findings.hits.is_empty() && one.symbols.is_empty());
    if nothing { Answer::nothing(text, data) } else { Answer::new(text, data) }
}

/// What is known about the entries found besides their own fields.
struct Facts<'a> {
    doubts: &'a Doubts,
    /// What the team has to do with them.
    remarks: &'a Remarks,
}

fn text(found: &[QueryResult], facts: &Facts<'_>, face: Face, model_problem: Option<&str>, budget: Budget) -> String {
    let (mut seen, mut items) = (Vec::new(), Vec::new());
    for one in found {
        let hits = &one.findings.hits;
        items.extend(corrections(one));
        if found.len() > 1 || (hits.is_empty() && one.symbols.is_empty()) {
            items.push(query_line(one));
        }
        // A symbol with exactly this name is what was meant; others may be.
        items.extend(symbol_lines(one, |symbol| symbol.is_named));
        for hit in hits {
            // A hit that an earlier query has shown is only named.
            let known = (hit.entry.reference, hit.ordinal);
            if seen.contains(&known) {
                items.push(format!("{} (above)", hit.entry.reference));
            } else {
                seen.push(known);
                items.push(show(hit, facts));
            }
        }
        items.extend(symbol_lines(one, |symbol| !symbol.is_named));
    }
    items.extend(meaning_line(model_problem, found));
    if found.iter().any(|one| one.findings.behind) {
        items.push("indexing is not finished: search again for the rest".to_owned());
    }
    if let Some(first) = found.first() {
        items.extend(title_only_line(&first.findings.lost, "is lost"));
        items.extend(title_only_line(&first.findings.unavailable, "cannot be read at the moment"));
        // Hits that do not fit may be left out, but not this.
        items.splice(..0, first.left_out.iter().cloned());
    }
    let more = found.iter().any(|one| one.more);
    let total = items.len();
    let (text, _) = fit_items("", &items, budget, |shown| match (total - shown, more) {
        (0, false) => String::new(),
        (0, true) => format!("more match: raise {} or add words", face.option("limit")),
        (left, _) => format!("{left} more did not fit: raise {} or narrow the search", face.option("budget")),
    });
    text
}

fn corrections(found: &QueryResult) -> Option<String> {
    let mut words: Vec<(&str, Vec<&str>)> = Vec::new();
    for (written, meant) in &found.findings.corrected {
        match words.iter_mut().find(|(word, _)| word == written) {
            Some((_, others)) if others.contains(&meant.as_str()) => {}
            Some((_, others)) => others.push(meant),
            None => words.push((written, vec![meant])),
        }
    }
    let words = words.iter().map(|(written, meant)| format!("`{}` as {}", one_line(written, 40), meant.join(", ")));
    let words = words.collect::<Vec<_>>().join("; ");
    (!words.is_empty()).then(|| format!("not found as written, so also searched for: {words}"))
}

fn symbol_lines(found: &QueryResult, wanted: fn(&FoundSymbol) -> bool) -> Option<String> {
    let line = |it: &FoundSymbol| {
        let signature = one_line(&it.symbol.signature, 140).replace('`', "'");
        format!("symbol {}:{} `{signature}`", name(&it.file, 160), it.symbol.line)
    };
    let lines: Vec<String> = found.symbols.iter().filter(|symbol| wanted(symbol)).map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn query_line(found: &QueryResult) -> String {
    let text = one_line(&found.query.text, 120);
    match (found.findings.hits.len(), found.more) {
        (0, _) => nothing_line(&text, found),
        (n, true) => format!("`{text}`: best {n}"),
        (n, false) => format!("`{text}`: {n}"),
    }
}

/// Suggests what to try next.
fn nothing_line(text: &str, found: &QueryResult) -> String {
    let Query { within, kind, source, since, .. } = &found.query;
    let filtered = within.is_some() || kind.is_some() || source.is_some() || since.is_some();
    if !filtered && found.sources.is_empty() {
        return empty_line(text, found);
    }
    let unknown = &found.findings.unknown;
    let hint = match unknown.as_slice() {
        _ if filtered => "remove a filter or try other words".to_owned(),
        [] => "try other words or part of a word".to_owned(),
        [word] => format!("nothing resembles `{}`; try a synonym", one_line(word, 40)),
        _ => "nothing resembles these words; try synonyms".to_owned(),
    };
    let mut line = format!("nothing found for `{text}`: {hint}");
    if !filtered {
        let named: Vec<String> = found.sources.iter().take(MAX_NAMED_SOURCES).map(|source| name(source, 60)).collect();
        line.push_str(&format!("; kept here, newest first: {}", named.join(", ")));
    }
    line
}

/// Says how little there is to search, and how to change that.
fn empty_line(text: &str, found: &QueryResult) -> String {
    let (what, where_else) = match found.has_history {
        true => ("only what happened in sessions", "; `weir history` lists it"),
        false => ("nothing", ""),
    };
    let how = "add content with `weir index` or `weir fetch`";
    let mut line = format!("nothing found for `{text}`: {what} is kept here yet{where_else}; {how}");
    line.extend(found.moved.iter().map(|hint| format!("; {hint}")));
    line
}

/// States that only words were used, if so. While some chunks have no vector yet, that matters only if nothing was
/// found.
fn meaning_line(model_problem: Option<&str>, found: &[QueryResult]) -> Option<String> {
    let failed = found.iter().find_map(|one| one.no_vector.as_deref());
    if let Some(problem) = model_problem.or(failed) {
        return Some(format!("keyword matches only: {}", one_line(problem, 200)));
    }
    let empty = found.iter().filter(|one| one.findings.hits.is_empty());
    let waiting = empty.map(|one| one.findings.without_vectors).max().unwrap_or_default();
    let waiting = (waiting > 0).then(|| counted(waiting as usize, "chunk is", "chunks are"));
    waiting.map(|waiting| format!("{waiting} found by words only so far, not by meaning"))
}

/// Names entries that a search can find by their titles only, and why.
fn title_only_line(entries: &[Reference], why: &str) -> Option<String> {
    let named: Vec<String> = entries.iter().map(ToString::to_string).collect();
    (!named.is_empty())
        .then(|| format!("matched by title only, because the text {why}: {}; `weir doctor` says more", named.join(" ")))
}

async fn doubts(context: &KnowledgeContext, found: &[QueryResult]) -> Doubts {
    let entries: Vec<&Entry> = found.iter().flat_map(|one| &one.findings.hits).map(|hit| &hit.entry).collect();
    let labels = context.doubts(&entries, staleness::GIT_TIMEOUT).await;
    entries.iter().map(|entry| entry.reference).zip(labels).collect()
}

/// Returns what the team has to do with the entries found. An answer without that is better than none.
async fn remarks(context: &KnowledgeContext, found: &[QueryResult]) -> Remarks {
    let entries: Vec<Entry> = found.iter().flat_map(|one| &one.findings.hits).map(|hit| hit.entry.clone()).collect();
    let scope = context.scope();
    context.with_stores(move |open| weir_sync::remarks(open, &scope, &entries)).await.unwrap_or_default()
}

fn show(hit: &Hit, facts: &Facts<'_>) -> String {
    let is_file = matches!(hit.entry.kind, EntryKind::Document | EntryKind::File);
    let path = hit.entry.source.as_deref().filter(|_| is_file && hit.entry.teammate().is_none());
    let mut head = match path {
        // When a file was indexed says nothing about it; whether it has changed since is a doubt.
        Some(path) => format!("{}:{} {}", name(path, 160), hit.line, hit.entry.reference),
        None => headline(&hit.entry),
    };
    for remark in facts.remarks.get(&hit.entry.reference).into_iter().flatten() {
        head.push_str(&format!("; {remark}"));
    }
    if path.is_none() && (hit.partial || hit.ordinal > 0) {
        head.push_str(&format!(", from line {}", hit.line));
    }
    if hit.by_meaning {
        head.push_str("; similar in meaning");
    }
    if !hit.also.is_empty() {
        let named: Vec<String> = hit.also.iter().take(MAX_NAMED_OUTPUTS).map(ToString::to_string).collect();
        let more = match hit.also.len().saturating_sub(MAX_NAMED_OUTPUTS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        head.push_str(&format!("; also in {}{more}", named.join(", ")));
    }
    for doubt in facts.doubts.get(&hit.entry.reference).into_iter().flatten() {
        head.push_str(&format!("; {doubt}"));
    }
    match hit.unreadable {
        Some(Unreadable::Lost) => format!("{head}; its text is lost"),
        Some(Unreadable::Now) => format!("{head}; its text cannot be read at the moment"),
        // Headings are the text's own words, too.
        None if hit.heading.is_empty() => format!("{head}\n{}", fence(hit.entry.reference, &hit.excerpt)),
        None => {
            let text = format!("under: {}\n{}", one_line(&hit.heading, 100), hit.excerpt);
            format!("{head}\n{}", fence(hit.entry.reference, &text))
        }
    }
}

//! Search: everything that is kept, in one project or in all of them.

mod shown;

use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use weir_core::time::DAY;
use weir_core::{EntryKind, Level, Origin, Query, Timestamp};
use weir_host::answer::counted;
use weir_host::error::CommandError;
use weir_knowledge::staleness::{self, Doubt};
use weir_operations::needs::KnowledgeContext;
use weir_operations::search::{self, FoundHits};
use weir_operations::semantic::{EmbeddedQuery, Searcher};
use weir_pages::Paging;
use weir_pages::search::{Filters, HitKind, Picked, Search};
use weir_store::{Findings, Hit, Store};

use super::answer;
use super::known::ViewedProject;
use super::view::View;

const MAX_HITS: usize = 100;
const PAGE_HITS: usize = 20;
/// The maximum number of projects that a search over all of them reads, the ones used last.
const MAX_SEARCHED_PROJECTS: usize = 10;
const MAX_QUERY_CHARS: usize = 1_000;
/// The periods that can be chosen, in days, as the form sends them.
const PERIODS: [u64; 4] = [1, 7, 30, 365];

const KINDS: [HitKind; 5] = [HitKind::Note, HitKind::Event, HitKind::Output, HitKind::Document, HitKind::Page];

pub(super) async fn page(view: &View<'_>) -> Result<Response, CommandError> {
    if let Some(address) = elsewhere(view) {
        return Ok(answer::redirect(&address));
    }
    let asked = AskedFor::read(view);
    let begun = Instant::now();
    let mut found = if asked.text.is_empty() { Found::default() } else { find(view, &asked).await? };
    found.hits.retain(|(hit, _)| asked.from.is_none_or(|origin| hit.entry.origin == origin));
    let took = begun.elapsed().as_secs_f64() * 1e3;
    let total = found.hits.len() as u64;
    let page = view.fields.number("page").unwrap_or(1).clamp(1, total.div_ceil(PAGE_HITS as u64).max(1));
    let first = (page as usize - 1) * PAGE_HITS;
    let hits = found.hits.iter().skip(first).take(PAGE_HITS);
    let search = Search {
        query: asked.text.as_str().into(),
        filters: filters(view, &asked, &found),
        hits: hits.map(|(hit, doubts)| shown::hit(view, &asked.text, hit, doubts)).collect(),
        pager: Paging { page, size: PAGE_HITS as u64, total },
        has_more: found.has_more,
        remarks: found.remarks.iter().map(|remark| remark.as_str().into()).collect(),
        took: (!asked.text.is_empty()).then_some(took),
        by_meaning: found.by_meaning,
        corrected: found.corrected.map(|(written, taken)| (written.into(), taken.into())),
    };
    Ok(answer::page(StatusCode::OK, search.render(&view.shell)))
}

/// Returns the address of the same search in another project, if one was chosen in the form.
fn elsewhere(view: &View<'_>) -> Option<String> {
    let within = view.fields.get("within")?;
    let query = view.fields.without(&["within"]);
    if within == "all" {
        return view.project.is_some().then(|| format!("/search?{query}"));
    }
    let chosen = view.projects.iter().find(|project| project.address_key() == within)?;
    Some(format!("/in/{}/search?{query}", chosen.address_key()))
}

struct AskedFor {
    text: String,
    kind: Option<HitKind>,
    from: Option<Origin>,
    days: Option<u64>,
    since: Option<Timestamp>,
    now: Timestamp,
}

impl AskedFor {
    fn read(view: &View<'_>) -> Self {
        let text: String = view.fields.get("q").unwrap_or_default().chars().take(MAX_QUERY_CHARS).collect();
        let kind = view.fields.get("kind");
        let days = view.fields.number("since").filter(|days| PERIODS.contains(days));
        let ago = |days: u64| Timestamp(view.clock.now.0 - days as i64 * DAY);
        Self {
            text: text.trim().to_owned(),
            kind: KINDS.into_iter().find(|known| Some(known.word()) == kind),
            from: view.fields.get("from").and_then(Origin::parse),
            days,
            since: days.map(ago),
            now: view.clock.now,
        }
    }

    /// Returns a query for each kind of entry that is wanted.
    fn queries(&self) -> Vec<Query> {
        let kinds: &[Option<EntryKind>] = match self.kind {
            None => &[None],
            Some(HitKind::Note) => &[Some(EntryKind::Note)],
            Some(HitKind::Event) => &[Some(EntryKind::Said), Some(EntryKind::Import)],
            Some(HitKind::Output) => &[Some(EntryKind::Run), Some(EntryKind::File)],
            Some(HitKind::Document) => &[Some(EntryKind::Document)],
            Some(HitKind::Page) => &[Some(EntryKind::Page)],
        };
        let query = |kind: &Option<EntryKind>| Query {
            kind: *kind,
            since: self.since,
            now: Some(self.now),
            ..Query::new(self.text.clone(), MAX_HITS)
        };
        kinds.iter().map(query).collect()
    }
}

/// What was found, the best first.
#[derive(Default)]
struct Found {
    hits: Vec<(Hit, Vec<Doubt>)>,
    has_more: bool,
    by_meaning: bool,
    corrected: Option<(String, String)>,
    remarks: Vec<String>,
}

impl Found {
    /// Adds the hits of one query, whose scores are shares of its best.
    fn add(&mut self, found: FoundHits) {
        let best = found.findings.hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
        let hits = found.findings.hits.into_iter().map(|hit| Hit { score: hit.score / best, ..hit });
        self.hits.extend(hits.zip(found.doubts));
        self.has_more |= found.more;
        self.corrected = self.corrected.take().or(found.findings.corrected.into_iter().next());
        if found.findings.behind {
            self.remark("Some of what was kept last is not indexed yet; searching again finds it.");
        }
        for left_out in &found.left_out {
            self.remark(&format!("Searched {left_out}."));
        }
        if let Some(why) = found.no_vector {
            self.remark(&format!("Meaning was not compared: {why}."));
        }
    }

    fn remark(&mut self, remark: &str) {
        if !self.remarks.iter().any(|known| known == remark) {
            self.remarks.push(remark.to_owned());
        }
    }

    fn count(&self, kind: HitKind, asked: &AskedFor) -> Option<u64> {
        let is_known = !asked.text.is_empty() && !self.has_more && asked.kind.is_none_or(|chosen| chosen == kind);
        let is_of_kind = |(hit, _): &&(Hit, Vec<Doubt>)| shown::kind_of(hit.entry.kind) == kind;
        is_known.then(|| self.hits.iter().filter(is_of_kind).count() as u64)
    }

    /// Puts the best hits of all queries first.
    fn sort(&mut self) {
        self.hits.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
        self.has_more |= self.hits.len() > MAX_HITS;
        self.hits.truncate(MAX_HITS);
    }
}

async fn find(view: &View<'_>, asked: &AskedFor) -> Result<Found, CommandError> {
    let mut found = Found::default();
    match &view.project {
        Some(project) => {
            let visit = project.visit().await;
            let context = KnowledgeContext::of(&visit);
            found.by_meaning = visit.knowledge().model().is_some();
            for query in asked.queries() {
                found.add(search::hits(&context, query).await?);
            }
        }
        None => {
            let mut unread = Vec::new();
            for project in view.projects.iter().take(MAX_SEARCHED_PROJECTS) {
                let read = find_indexed(project, asked, &mut found).await;
                view.if_readable(project, read, &mut unread)?;
            }
            unread.iter().for_each(|problem| found.remark(problem));
            find_of_user(view, asked, &mut found).await?;
            let left_out = view.projects.len().saturating_sub(MAX_SEARCHED_PROJECTS);
            if left_out > 0 {
                let projects = counted(
                    left_out,
                    "project that was not used lately was",
                    "projects that were not used lately were",
                );
                found.remark(&format!("{projects} not searched."));
            }
        }
    }
    found.by_meaning &= found.remarks.iter().all(|remark| !remark.starts_with("Meaning was not"));
    found.sort();
    Ok(found)
}

/// Searches what is already indexed of a project, since a search of many must not wait for one.
async fn find_indexed(project: &ViewedProject, asked: &AskedFor, found: &mut Found) -> Result<(), CommandError> {
    let visit = project.visit().await;
    found.by_meaning |= visit.knowledge().model().is_some();
    let context = KnowledgeContext::of(&visit);
    let searcher = Searcher::new(&context).await?;
    for query in asked.queries() {
        let EmbeddedQuery { query, problem: no_vector } = searcher.embed_query(query).await?;
        let findings = searcher.search(Level::Project, &query, Store::search_indexed).await?;
        let entries: Vec<_> = findings.hits.iter().map(|hit| &hit.entry).collect();
        let doubts = staleness::labels(&visit, &entries, staleness::GIT_TIMEOUT).await;
        let more = findings.hits.len() >= MAX_HITS;
        found.add(FoundHits { findings: as_indexed(findings), no_vector, more, doubts, left_out: Vec::new() });
    }
    Ok(())
}

/// Searches what the user keeps for all projects.
async fn find_of_user(view: &View<'_>, asked: &AskedFor, found: &mut Found) -> Result<(), CommandError> {
    let visit = view.ui.projects.visit().await;
    let context = KnowledgeContext::of(&visit);
    let searcher = Searcher::new(&context).await?;
    for query in asked.queries() {
        let EmbeddedQuery { query, problem: no_vector } = searcher.embed_query(query).await?;
        let findings = searcher.search(Level::User, &query, Store::search_indexed).await?;
        let doubts = vec![Vec::new(); findings.hits.len()];
        found.add(FoundHits { findings: as_indexed(findings), no_vector, more: false, doubts, left_out: Vec::new() });
    }
    Ok(())
}

/// Returns the same findings without a remark on what is not indexed, since a search of many projects indexes nothing.
fn as_indexed(findings: Findings) -> Findings {
    Findings { behind: false, ..findings }
}

fn filters(view: &View<'_>, asked: &AskedFor, found: &Found) -> Filters {
    let pick =
        |value: &str, label: &str, is_chosen: bool| Picked { value: value.into(), label: label.into(), is_chosen };
    let from =
        |origin: Option<Origin>, label: &str| pick(origin.map_or("", Origin::as_str), label, origin == asked.from);
    let here = view.project.as_ref().map_or("all projects", |project| project.name.as_str());
    let mut within = vec![pick("", here, true)];
    if view.project.is_some() {
        within.push(pick("all", "all projects", false));
    }
    let others = view.shell.other_projects.iter();
    within.extend(others.map(|other| Picked { value: other.key.clone(), label: other.name.clone(), is_chosen: false }));
    let since = |days: u64| {
        let label = if days == 1 { "yesterday".to_owned() } else { format!("{days} days ago") };
        pick(&days.to_string(), &label, asked.days == Some(days))
    };
    let mut periods = vec![pick("", "any time", asked.days.is_none())];
    periods.extend(PERIODS.map(since));
    Filters {
        kinds: KINDS.map(|kind| (kind, found.count(kind, asked))).to_vec(),
        kind: asked.kind,
        from: vec![
            from(None, "anyone"),
            from(Some(Origin::User), "the user"),
            from(Some(Origin::Model), "the model"),
            from(Some(Origin::Tool), "tools"),
            from(Some(Origin::Web), "the web"),
            from(Some(Origin::Teammate), "teammates"),
        ],
        within,
        since: periods,
    }
}

//! `ctx_search`: searches the store.

mod data;
mod render;
mod topics;

use std::collections::HashMap;

use weir_context::LockedStores;
use weir_core::{Entry, EntryKind, Level, Query, Reference, written_enum};
use weir_host::answer::{Answer, Budget};
use weir_host::choice::Choice;
use weir_host::error::{CommandError, ErrorKind, without_user_notes};
use weir_host::when;
use weir_knowledge::mapping::{FoundSymbol, SymbolQuery};
use weir_knowledge::staleness::{self, Doubt};
use weir_store::{Findings, HistoryFilter, Hit, Store};

use super::{Declared, Effect, Listing};
use crate::doctor::memory;
use crate::needs::KnowledgeContext;
use crate::schema::silent;
use crate::semantic::{EmbeddedQuery, Searcher};
pub(super) use data::{QueryData, SearchData};

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 1_500;

/// The default number of hits per query.
const DEFAULT_LIMIT: u32 = 5;

/// How many chunks are embedded before a search, so that recently stored text is found by meaning too. Takes about 20
/// ms.
const MAX_CHUNKS_BEFORE_SEARCH: usize = 512;

const MAX_QUERIES: usize = 32;

const MAX_SYMBOLS: usize = 5;

written_enum! {
    /// The kinds of entries that there are to be found.
    pub enum SearchKind {
        /// The output of a run.
        Run = "run",
        /// Something decided or learned.
        Note = "note",
        /// Indexed text.
        Document = "document",
        /// A fetched page.
        Page = "page",
        /// A file that was read.
        File = "file",
        /// What was said or happened in a session.
        Said = "said",
    }
}

impl SearchKind {
    fn kind(self) -> EntryKind {
        match self {
            Self::Run => EntryKind::Run,
            Self::Note => EntryKind::Note,
            Self::Document => EntryKind::Document,
            Self::Page => EntryKind::Page,
            Self::File => EntryKind::File,
            Self::Said => EntryKind::Said,
        }
    }
}

/// Search stored notes, outputs and documents by words and meaning.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub struct Search {
    /// Words to search for; "quoted" words must appear as a phrase
    #[schemars(transform = silent)]
    #[arg(required = true, value_name = "WORDS")]
    queries: Vec<String>,
    /// Only entries of this scope [default: all visible entries]
    #[schemars(transform = silent)]
    #[arg(long)]
    scope: Option<Choice<Level>>,
    /// Only entries of this kind
    #[schemars(transform = silent)]
    #[arg(long)]
    kind: Option<Choice<SearchKind>>,
    /// Only entries from this source and below it
    #[schemars(transform = silent)]
    #[arg(long)]
    source: Option<String>,
    /// Such as 6h, 3d or a date
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Sort by time, oldest first
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long)]
    timeline: bool,
    /// Hits per query
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    #[serde(default = "super::fixed::<DEFAULT_LIMIT>")]
    limit: u32,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for Search {
    type Context = KnowledgeContext;
    type Data = SearchData;

    const TOOL: &'static str = weir_tools::SEARCH.name;
    const COMMAND: Option<&'static str> = Some("search");
    const EFFECT: Effect = weir_tools::SEARCH.effect;
    const LISTING: Listing = Listing::Core;
    const EXAMPLES: &'static str = "\
Examples:
  weir search why is the pool small
  weir search '\"connection refused\"' --kind run --since 2d
  weir search parseHttp            finds parse_http and HttpParser too
  weir search 'deploy*' --scope work
  weir search timeouts --source docs --timeline
  weir search token --kind said --source decision    decisions; also turn, correction, fix, …

Words match by their stems, and misspelt words by the closest known word. Semantic search also finds texts that say \
the same in other words. Exits with 3 if nothing is found.";

    /// Joins the arguments of a shell into one query.
    fn adapt_from_shell(mut self) -> Result<Self, CommandError> {
        self.queries = vec![self.queries.join(" ")];
        Ok(self)
    }

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<SearchData>, CommandError> {
        let now = when::now();
        let since = self.since.as_deref().map(|text| when::parse(text, now)).transpose()?;
        let limit = (self.limit as usize).clamp(1, 100);
        if self.queries.is_empty() {
            return Err(CommandError::usage("no query given").hint(
                context.face().word("pass the words to search for", "pass the words to search for in `queries`"),
            ));
        }
        if self.queries.len() > MAX_QUERIES {
            let message =
                format!("cannot search: {} queries were given, the limit is {MAX_QUERIES}", self.queries.len());
            return Err(CommandError::usage(message).hint("search again for the rest"));
        }
        let query = |text| Query {
            within: self.scope.map(|scope| scope.0),
            kind: self.kind.map(|kind| kind.0.kind()),
            source: self.source.clone(),
            since,
            now: Some(now),
            ..Query::new(text, limit)
        };
        let queries: Vec<Query> = self.queries.into_iter().map(query).collect();
        let mut found = find(context, queries).await?;
        if self.timeline {
            found.iter_mut().for_each(QueryResult::sort_by_time);
        }
        Ok(render::answer(context, &found, Budget::new(self.budget)).await)
    }
}

/// The doubts about the entries found.
type Doubts = HashMap<Reference, Vec<Doubt>>;

struct QueryResult {
    query: Query,
    findings: Findings,
    /// Why the model could not embed the query, if it should have.
    no_vector: Option<String>,
    /// Whether there are more hits than requested.
    more: bool,
    /// Sources that have entries, if nothing was found.
    sources: Vec<String>,
    /// Where the project may have been before, if the store is empty.
    moved: Option<String>,
    /// Whether there are events, if nothing was found.
    has_history: bool,
    /// Symbols of the project's files, best first.
    symbols: Vec<FoundSymbol>,
    /// What could not be searched, and why.
    left_out: Vec<String>,
}

impl QueryResult {
    fn sort_by_time(&mut self) {
        self.findings.hits.sort_by_key(|hit| (hit.entry.at, hit.ordinal));
    }
}

/// The hits of one query, for a face that shows them in its own way.
pub struct FoundHits {
    pub findings: Findings,
    /// Why the model could not embed the query, if it should have.
    pub no_vector: Option<String>,
    /// Whether there are more hits than requested.
    pub more: bool,
    /// The doubts about each hit, in the order of the hits.
    pub doubts: Vec<Vec<Doubt>>,
    /// What could not be searched, and why.
    pub left_out: Vec<String>,
}

pub async fn hits(context: &KnowledgeContext, query: Query) -> Result<FoundHits, CommandError> {
    let unread = refresh(context).await;
    let found = search(&Searcher::new(context).await?, query).await?;
    let QueryResult { findings, no_vector, more, mut left_out, .. } = found;
    left_out.extend(unread);
    let entries: Vec<&Entry> = findings.hits.iter().map(|hit| &hit.entry).collect();
    let doubts = context.doubts(&entries, staleness::GIT_TIMEOUT).await;
    Ok(FoundHits { findings, no_vector, more, doubts, left_out })
}

pub(super) async fn find_and_show(
    context: &KnowledgeContext,
    queries: Vec<Query>,
    budget: Budget,
) -> Result<Answer<SearchData>, CommandError> {
    Ok(render::answer(context, &find(context, queries).await?, budget).await)
}

async fn find(context: &KnowledgeContext, queries: Vec<Query>) -> Result<Vec<QueryResult>, CommandError> {
    let unread = refresh(context).await;
    let searcher = Searcher::new(context).await?;
    let mut all = Vec::with_capacity(queries.len());
    for query in queries {
        let mut found = search(&searcher, query).await?;
        found.left_out.extend(unread.clone());
        all.push(complete(context, found).await?);
    }
    Ok(all)
}

/// Makes the rules and memories of clients searchable as they are now. Returns what there is to say if that fails.
async fn refresh(context: &KnowledgeContext) -> Option<String> {
    let error = context.refresh_named(memory::places).await.err()?;
    Some(format!("rules and memories of clients are not searched as they are now: {}", error.message))
}

/// Adds symbols and notes by their topic to what was found, and to nothing found what there is instead.
async fn complete(context: &KnowledgeContext, mut found: QueryResult) -> Result<QueryResult, CommandError> {
    let (own, scope) = (context.clone(), context.scope());
    let work = move |open: &mut LockedStores<'_>| {
        topics::add(open, &scope, &mut found)?;
        if found.findings.hits.is_empty() {
            found.left_out.extend(open.stray_texts(Level::Project)?);
            if let Some(store) = open.existing(Level::Project)? {
                found.sources = store.sources(&scope)?;
                let newest = HistoryFilter { limit: 1, ..HistoryFilter::default() };
                found.has_history = found.sources.is_empty() && !store.history(&scope, &newest)?.is_empty();
            }
            if found.sources.is_empty() {
                found.moved = own.moved_hint(open);
            }
        }
        with_symbols(&own, open, found)
    };
    context.with_stores(work).await
}

/// Adds the symbols of the project's files that the map contains, unless the search is for something else.
fn with_symbols(
    context: &KnowledgeContext,
    open: &mut LockedStores<'_>,
    mut found: QueryResult,
) -> Result<QueryResult, CommandError> {
    let Query { text, within, kind, since, source, limit, .. } = &found.query;
    if matches!(within, None | Some(Level::Project)) && kind.is_none() && since.is_none() {
        let wanted = SymbolQuery { query: text, below: source.as_deref(), most: MAX_SYMBOLS.min(*limit) };
        found.symbols = context.symbols(open, &wanted)?;
    }
    Ok(found)
}

/// Searches the project's store and the user's, and merges the hits.
async fn search(searcher: &Searcher<'_>, query: Query) -> Result<QueryResult, CommandError> {
    // One more than requested tells whether there are more.
    let asked = Query { limit: query.limit + 1, ..query.clone() };
    let EmbeddedQuery { query: asked, problem: no_vector } = searcher.embed_query(asked).await?;
    let mut findings = match query.within {
        Some(Level::User) => Findings::default(),
        _ => {
            searcher.embed_recent(MAX_CHUNKS_BEFORE_SEARCH).await;
            searcher.search(Level::Project, &asked, Store::search).await?
        }
    };
    let mut left_out = Vec::new();
    if matches!(query.within, None | Some(Level::User)) {
        match searcher.search(Level::User, &asked, Store::search).await {
            Ok(others) => merge(&mut findings, others, &query.text),
            // A project's own knowledge does not depend on the user's.
            Err(error) if query.within.is_none() && error.kind == ErrorKind::Store => {
                left_out.push(without_user_notes(&error));
            }
            Err(error) => return Err(error),
        }
    }
    let more = findings.hits.len() > query.limit;
    findings.hits.truncate(query.limit);
    let (sources, symbols) = (Vec::new(), Vec::new());
    Ok(QueryResult { query, findings, no_vector, more, sources, moved: None, has_history: false, symbols, left_out })
}

/// Merges the hits of two stores. Their scores cannot be compared, because a word is rare or common within each store.
/// So each list is scaled by its own best hit, and a hit of the user's is weighted by its share of the query's words: a
/// few user notes must not displace a project's hits because of one common word. Among equals, the project's hit comes
/// first.
fn merge(findings: &mut Findings, mut others: Findings, text: &str) {
    let normalise = |hits: &mut [Hit]| {
        let best = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
        hits.iter_mut().for_each(|hit| hit.score /= best);
    };
    normalise(&mut findings.hits);
    normalise(&mut others.hits);
    for mut other in others.hits {
        other.score *= coverage(text, &other.excerpt);
        let at = findings.hits.iter().position(|hit| hit.score < other.score).unwrap_or(findings.hits.len());
        findings.hits.insert(at, other);
    }
    // A word is known if one of the stores knows it.
    let known: Vec<String> = others.unknown;
    findings.unknown.retain(|word| known.contains(word));
    findings.corrected.extend(others.corrected);
    findings.without_vectors += others.without_vectors;
    findings.behind |= others.behind;
    findings.lost.extend(others.lost);
    findings.unavailable.extend(others.unavailable);
}

/// Returns the share of a query's words that a text contains, by their first letters, so that endings do not matter.
fn coverage(query: &str, text: &str) -> f64 {
    let text = text.to_lowercase();
    let terms = weir_core::query::terms(query);
    let words: Vec<&String> = terms.iter().filter_map(|term| term.words.first()).collect();
    let stem = |word: &str| word.chars().take(word.chars().count().saturating_sub(2).max(4)).collect::<String>();
    let present = words.iter().filter(|word| text.contains(&stem(word))).count();
    present as f64 / words.len().max(1) as f64
}

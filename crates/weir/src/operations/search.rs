//! `ctx_search`: finds what was kept.

use serde_json::{Value, json};
use weir_core::{EntryKind, Level, Query, Scope};
use weir_store::Hit;

use super::{Declared, Effect};
use crate::answer::{Answer, Budget, fence, fit_items, headline};
use crate::choice::Choice;
use crate::context::{Context, Open};
use crate::error::CommandError;
use crate::faces::schema::silent;
use crate::when;

/// An answer holds so many tokens unless asked otherwise.
const BUDGET: usize = 1_500;

/// Search notes, outputs and documents kept. Any word may match.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Search {
    /// What to look for; "quoted" words stay together
    #[schemars(transform = silent)]
    #[arg(required = true, value_name = "WORDS")]
    queries: Vec<String>,
    /// Only from here [default: all that is seen]
    #[schemars(transform = silent)]
    #[arg(long)]
    scope: Option<Choice<Level>>,
    /// Only this kind
    #[schemars(transform = silent)]
    #[arg(long)]
    kind: Option<Choice<EntryKind>>,
    /// Only from this source
    #[schemars(transform = silent)]
    #[arg(long)]
    source: Option<String>,
    /// Such as 6h, 3d or a date
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Hits per query [default: 5]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N")]
    limit: Option<u16>,
    /// Most tokens to answer [default: 1500]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u32>,
}

impl Declared for Search {
    const TOOL: &'static str = "ctx_search";
    const COMMAND: Option<&'static str> = Some("search");
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "\
Examples:
  weir search why is the pool small
  weir search '\"connection refused\"' --kind run --since 2d
  weir search parseHttp            finds parse_http and HttpParser too
  weir search 'deploy*' --scope work

Exit code 3 means that nothing was found.";

    /// In a shell, the words of one query come as many arguments.
    fn settle(mut self) -> Result<Self, CommandError> {
        self.queries = vec![self.queries.join(" ")];
        Ok(self)
    }

    async fn run(self, context: &Context) -> Result<Answer, CommandError> {
        let since = self.since.as_deref().map(|text| when::parse(text, when::now())).transpose()?;
        let limit = usize::from(self.limit.unwrap_or(5)).clamp(1, 100);
        if self.queries.is_empty() {
            return Err(CommandError::usage("there is no query").hint("pass the words to look for in `queries`"));
        }
        let queries: Vec<Query> = self
            .queries
            .into_iter()
            .map(|text| Query {
                within: self.scope.map(|scope| scope.0),
                kind: self.kind.map(|kind| kind.0),
                source: self.source.clone(),
                since,
                ..Query::new(text, limit)
            })
            .collect();
        find_and_show(context, queries, Budget::new(self.budget, BUDGET)).await
    }
}

/// Searches for each query and shows what was found.
pub(super) async fn find_and_show(
    context: &Context,
    queries: Vec<Query>,
    budget: Budget,
) -> Result<Answer, CommandError> {
    let scope = context.scope();
    let found = context
        .with_stores(move |open| {
            let all = queries.into_iter().map(|query| Ok((search(open, &scope, &query)?, query)));
            all.collect::<Result<Vec<_>, CommandError>>()
        })
        .await?;
    Ok(answer(&found, budget))
}

/// Searches the project's store and the user's, and merges the hits.
fn search(open: &mut Open<'_>, scope: &Scope, query: &Query) -> Result<Vec<Hit>, CommandError> {
    // One more than asked for tells whether there is more.
    let query = Query { limit: query.limit + 1, ..query.clone() };
    let mut hits = match query.within {
        Some(Level::User) => Vec::new(),
        _ => open.project()?.search(scope, &query)?,
    };
    if matches!(query.within, None | Some(Level::User)) {
        let others = open.user()?.search(scope, &query)?;
        merge(&mut hits, others, &query.text);
    }
    Ok(hits)
}

/// Scores of two stores cannot be compared, since a word is rare or common in each by itself. So each list is taken
/// relative to its own best hit, and a hit of the user's counts by the share of the words it has: a few user notes
/// must not push aside a project's hits because they share one word. Of equals, the project's comes first.
fn merge(hits: &mut Vec<Hit>, mut others: Vec<Hit>, text: &str) {
    let normalise = |hits: &mut [Hit]| {
        let best = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
        hits.iter_mut().for_each(|hit| hit.score /= best);
    };
    normalise(hits);
    normalise(&mut others);
    for mut other in others {
        other.score *= coverage(text, &other.excerpt);
        let at = hits.iter().position(|hit| hit.score < other.score).unwrap_or(hits.len());
        hits.insert(at, other);
    }
}

/// The share of a query's words that a text has, by their first letters, so that endings do not matter.
fn coverage(query: &str, text: &str) -> f64 {
    let text = text.to_lowercase();
    let terms = weir_core::query::terms(query);
    let words: Vec<&String> = terms.iter().filter_map(|term| term.words.first()).collect();
    let stem = |word: &str| word.chars().take(word.chars().count().saturating_sub(2).max(4)).collect::<String>();
    let present = words.iter().filter(|word| text.contains(&stem(word))).count();
    present as f64 / words.len().max(1) as f64
}

fn answer(found: &[(Vec<Hit>, Query)], budget: Budget) -> Answer {
    let data: Vec<Value> = found.iter().map(|(hits, query)| describe_query(hits, query)).collect();
    let (mut seen, mut items) = (Vec::new(), Vec::new());
    for (hits, query) in found {
        let shown = &hits[..hits.len().min(query.limit)];
        if found.len() > 1 || shown.is_empty() {
            items.push(query_line(query, shown.len(), hits.len()));
        }
        for hit in shown {
            // A hit that an earlier query has shown is named, not shown again.
            let known = (hit.entry.reference, hit.ordinal);
            if seen.contains(&known) {
                items.push(format!("{} (above)", hit.entry.reference));
            } else {
                seen.push(known);
                items.push(show(hit));
            }
        }
    }
    let more = found.iter().any(|(hits, query)| hits.len() > query.limit);
    let total = items.len();
    let (text, _) = fit_items("", &items, budget, |shown| match (total - shown, more) {
        (0, false) => String::new(),
        (0, true) => "more match: raise `limit` or add words".to_owned(),
        (left, _) => format!("{left} more did not fit: raise `budget` or narrow the search"),
    });
    let nothing = found.iter().all(|(hits, _)| hits.is_empty());
    let data = json!({ "queries": data });
    if nothing { Answer::nothing(text, data) } else { Answer::new(text, data) }
}

fn query_line(query: &Query, shown: usize, found: usize) -> String {
    let text = crate::answer::one_line(&query.text, 120);
    match (shown, found > shown) {
        (0, _) => {
            let filtered =
                query.within.is_some() || query.kind.is_some() || query.source.is_some() || query.since.is_some();
            let hint =
                if filtered { "drop a filter or try other words" } else { "try other words or a part of a word" };
            format!("nothing found for `{text}`: {hint}")
        }
        (n, true) => format!("`{text}`: best {n}"),
        (n, false) => format!("`{text}`: {n}"),
    }
}

fn show(hit: &Hit) -> String {
    let mut head = headline(&hit.entry);
    if hit.partial || hit.ordinal > 0 {
        head.push_str(&format!(", from line {}", hit.line));
    }
    format!("{head}\n{}", fence(hit.entry.reference, &hit.excerpt))
}

fn describe_query(hits: &[Hit], query: &Query) -> Value {
    let shown = &hits[..hits.len().min(query.limit)];
    json!({
        "query": query.text,
        "more": hits.len() > query.limit,
        "hits": shown.iter().map(|hit| json!({
            "reference": hit.entry.reference.to_string(),
            "kind": hit.entry.kind.as_str(),
            "origin": hit.entry.origin.as_str(),
            "title": hit.entry.title,
            "source": hit.entry.source,
            "at": when::show(hit.entry.at),
            "topic": hit.entry.note.as_ref().and_then(|note| note.topic.clone()),
            "superseded_by": hit.entry.superseded_by.map(|reference| reference.to_string()),
            "line": hit.line,
            "excerpt": hit.excerpt,
        })).collect::<Vec<_>>(),
    })
}

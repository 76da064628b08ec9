//! `ctx_get`: returns the text behind a reference.

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;
use weir_context::LockedStores;
use weir_core::run::{Ended, RunFacts};
use weir_core::{Entry, EntryKind, EventKind, Gone, Level, Origin, Reference, WhyGone};
use weir_host::answer::{Answer, Budget, Unbounded, fence, headline, one_line, size};
use weir_host::choice::Choice;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::when;
use weir_knowledge::staleness::{self, Doubt};
use weir_run::background::RunProgress;
use weir_store::{BlobReader, Found, HistoryFilter, Moment};

use super::{Declared, Effect, Listing};
use crate::needs::KnowledgeContext;
use crate::references;
use crate::schema::silent;

mod lines;
mod matching;
mod selected;
use lines::{LineQuery, LineRange, SelectedText};

/// The default budget of an answer, in tokens.
const DEFAULT_BUDGET: u32 = 2_000;
/// How many of the newest entries are looked at for one that was not only indexed.
const MAX_LOOKED_AT: usize = 5_000;
/// How many lines of a run in progress are shown by default.
const DEFAULT_LATEST_LINES: u64 = 100;

/// Get the text behind a reference.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Get {
    /// Reference such as ctx:k7f2m9q4xz, with or without brackets
    #[schemars(transform = silent)]
    #[serde(rename = "ref")]
    #[arg(
        value_name = "REF",
        default_value = "",
        hide_default_value = true,
        help = "Reference such as ctx:k7f2m9q4xz, \
          or its first characters [default: the newest entry]"
    )]
    reference: String,
    /// 10-40, 10-, -20 (last 20), ~120 (around it), b0-4000 (bytes)
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    lines: Option<String>,
    /// Regex: matching lines only
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,
    /// Lines of context around each match
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "LINES")]
    context: Option<u32>,
    /// JSON path (items[].name) or CSV columns (id,total)
    #[serde(default)]
    #[arg(long, value_name = "PATH")]
    select: Option<String>,
    /// What to look for
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["lines", "pattern", "select"])]
    intent: Option<String>,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "TOKENS", help = "Maximum tokens in the answer [default: none; 2000 for a model]")]
    budget: Option<u32>,
    /// Write all stored bytes unchanged
    #[arg(long, conflicts_with_all = ["lines", "pattern", "select", "intent", "budget"])]
    #[serde(skip)]
    raw: bool,
}

impl Declared for Get {
    type Context = KnowledgeContext;
    type Data = GetData;

    const TOOL: &'static str = weir_tools::GET.name;
    const COMMAND: Option<&'static str> = Some("get");
    const EFFECT: Effect = weir_tools::GET.effect;
    const LISTING: Listing = Listing::Core;
    const FOLLOWS_REFERENCES: bool = true;
    const EXAMPLES: &'static str = "\
Examples:
  weir get                          show the newest entry
  weir get k7f2                     the first characters are enough
  weir get k7f2m9q4xz --lines 100-140
  weir get k7f2m9q4xz --lines ~512
  weir get k7f2m9q4xz --pattern 'error|warning' --context 3
  weir get k7f2m9q4xz --select 'items[].{id,name}'
  weir get k7f2m9q4xz --select id,total --lines 1-50
  weir get k7f2m9q4xz --intent 'why was the connection refused'
  weir get k7f2m9q4xz --raw > output.txt

Shows all of the text, on a terminal through $PAGER; a model gets as much as fits a budget. If the entry is gone, the answer says when and why (for example expired, evicted or forgotten). Exits with 3 in that \
case.";

    fn adapt_from_shell(self) -> Result<Self, CommandError> {
        let is_around = self.lines.as_deref().is_some_and(|lines| lines.trim_start().starts_with('~'));
        if self.context.is_some() && self.pattern.is_none() && !is_around {
            return Err(CommandError::usage("cannot use --context alone: it needs a pattern or a line")
                .hint("add --pattern REGEX or --lines ~LINE"));
        }
        Ok(self)
    }

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<GetData>, CommandError> {
        let reference = match self.reference.trim() {
            "" if context.face().is_person() => newest(context).await?,
            text => references::resolve(context, text).await?,
        };
        let lines = self.lines.as_deref().map(LineRange::parse).transpose()?.unwrap_or(LineRange::ALL);
        let pattern = self.pattern.as_deref().map(parse_pattern).transpose()?;
        let is_for_person = context.is_for_person();
        let budget = match self.budget {
            Some(tokens) => Budget::new(tokens),
            None if is_for_person => Budget::for_person(),
            None => Budget::new(DEFAULT_BUDGET),
        };
        let scope = context.scope();
        let around = self.context.map(u64::from);
        if let Some(under_way) = context.run_in_progress(reference)? {
            if self.raw {
                return Err(CommandError::usage(format!("cannot write all of {reference}: it is still running"))
                    .hint("omit --raw to see its output so far"));
            }
            let asked = LineQuery { lines, pattern: pattern.as_ref(), context: around };
            return still_running(reference, &under_way, asked, budget, context.face());
        }
        let face = context.face();
        let found = context.with_stores(move |open| {
            let (entry, text) = find(open, &scope, reference)?;
            let entry = *entry;
            let remarks = weir_sync::remarks(open, &scope, std::slice::from_ref(&entry))?.remove(&reference);
            Ok((entry, text, remarks.unwrap_or_default()))
        });
        let (entry, text, remarks) = found.await?;
        let doubts = context.doubts(&[&entry], staleness::GIT_TIMEOUT).await.concat();
        let level = entry.level;
        let show = move || {
            if self.raw {
                let unbounded = Some(Unbounded::Bytes(text));
                return Ok(Answer { unbounded, ..Answer::new(String::new(), GetData::Raw {}) });
            }
            if let Some(intent) = &self.intent {
                return matching::answer(&entry, &text, intent, budget, face);
            }
            let asked = LineQuery { lines, pattern: pattern.as_ref(), context: around };
            if is_for_person && self.wants_all() && text.bytes() > 0 {
                return all(&entry, NoteFacts { remarks, doubts }, text, face);
            }
            let part = match &self.select {
                Some(path) => selected::read(&text, path, asked, budget.tokens(), face)?,
                None => asked.read(&text, budget.tokens())?,
            };
            Ok(answer(&entry, NoteFacts { remarks, doubts }, part, budget, face))
        };
        context.with_stores(move |open| show().map_err(|error: CommandError| error.in_store(open.folder(level)))).await
    }
}

impl Get {
    /// Whether neither a part of the text nor a limit is asked for.
    fn wants_all(&self) -> bool {
        self.lines.is_none() && self.pattern.is_none() && self.select.is_none() && self.budget.is_none()
    }
}

/// Returns the newest entry, before files that were only indexed.
async fn newest(context: &KnowledgeContext) -> Result<Reference, CommandError> {
    let scope = context.scope();
    let filter = HistoryFilter { kind: Some(EventKind::Kept), limit: MAX_LOOKED_AT, ..HistoryFilter::default() };
    let moments = context.with_stores(move |open| match open.existing(Level::Project)? {
        Some(store) => Ok(store.history(&scope, &filter)?),
        None => Ok(Vec::new()),
    });
    let moments = moments.await?;
    let here = moments.iter().filter(|moment| moment.entry.is_some());
    let is_indexed = |moment: &&&Moment| matches!(moment.entry, Some((EntryKind::Document, _)));
    let newest = here.clone().find(|moment| !is_indexed(&moment)).or_else(|| here.clone().next());
    newest.and_then(|moment| moment.logged.reference).ok_or_else(|| {
        CommandError::new(ErrorKind::NotFound, "nothing is stored here yet")
            .hint("`weir run` and `weir note` store something")
    })
}

/// A stored text, or the part that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GetData {
    /// Part of a stored text.
    Stored {
        kind: Choice<EntryKind>,
        /// Who wrote the text.
        origin: Choice<Origin>,
        /// The size of the complete text.
        bytes: u64,
        /// Facts that speak against the entry.
        doubts: Vec<Doubt>,
        exit_code: Option<i32>,
        #[serde(flatten)]
        part: PartData,
    },
    /// The output so far of a run in progress.
    Running {
        running: bool,
        #[serde(flatten)]
        part: PartData,
    },
    /// What matches an intent.
    Matching { reference: String, matching: u64, text: String },
    /// Nothing, since the text itself is written.
    Raw {},
}

/// The lines shown.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PartData {
    reference: String,
    first_line: u64,
    last_line: u64,
    /// Whether requested lines are left out.
    more: bool,
    text: String,
}

/// Shows the output so far of a background run.
fn still_running(
    reference: Reference,
    under_way: &RunProgress,
    asked: LineQuery<'_>,
    budget: Budget,
    face: Face,
) -> Result<Answer<GetData>, CommandError> {
    let head = format!("{reference} still running: {}", one_line(&under_way.title, 100));
    // Of a run in progress, the end matters most.
    let is_all = asked.lines == LineRange::ALL && asked.pattern.is_none();
    let lines = if is_all { LineRange::Last(DEFAULT_LATEST_LINES) } else { asked.lines };
    let part = LineQuery { lines, ..asked }.read(&under_way.text, budget.tokens())?;
    let (text, part) = shown(&head, reference, part, budget, face);
    Ok(Answer::new(text, GetData::Running { running: true, part }))
}

fn find(
    open: &mut LockedStores<'_>,
    scope: &weir_core::Scope,
    reference: Reference,
) -> Result<(Box<Entry>, BlobReader), CommandError> {
    let (now, mut days) = (open.now, None);
    for level in [Level::Project, Level::User] {
        // A reference that is not in the project's store may be in the user's, so an error there is an error here.
        let Some(store) = open.existing(level)? else { continue };
        days = Some(store.limits().event_days);
        match store.get(scope, reference, now)? {
            Found::Here(entry) => {
                let text = store.text(scope, reference)?.ok_or_else(|| never(reference, days))?;
                return Ok((entry, text));
            }
            Found::Gone(gone) => return Err(tell_gone(reference, gone)),
            Found::Never => {}
        }
    }
    Err(never(reference, days))
}

fn tell_gone(reference: Reference, gone: Gone) -> CommandError {
    let how = match gone.why {
        WhyGone::Expired => "has expired",
        WhyGone::Evicted => "was evicted to stay within the quota",
        WhyGone::Forgotten => "was forgotten on request",
        WhyGone::Replaced => "was replaced by a newer text of the same source",
        WhyGone::Lost => "could no longer be read and was removed",
    };
    let message = format!("{reference} {how} on {}; it was a {}", when::show(gone.at), gone.kind);
    let hint = match gone.why {
        WhyGone::Forgotten => "nothing is left of it",
        _ => "if you need it, run it again; to keep an entry, cite its reference in a note",
    };
    CommandError::new(ErrorKind::NotFound, message).hint(hint)
}

/// Says that nothing is known about a reference. `days` is how long a store remembers what was removed from it.
fn never(reference: Reference, days: Option<u32>) -> CommandError {
    let removed = days.map(|days| format!(", or was removed more than {days} days ago")).unwrap_or_default();
    CommandError::new(ErrorKind::NotFound, format!("{reference} never existed in this project{removed}"))
        .hint("check the ten characters of the reference and the project that it is from, or search for the entry")
}

fn parse_pattern(text: &str) -> Result<Regex, CommandError> {
    regex::RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| {
        CommandError::usage(format!("invalid pattern: {error}"))
            .hint("escape special characters with \\, or use a plain word")
    })
}

/// What is known about an entry besides its own fields.
struct NoteFacts {
    /// What the team has to do with it.
    remarks: Vec<String>,
    doubts: Vec<Doubt>,
}

/// Returns all of a text for a person. A program gets what fits a budget.
fn all(entry: &Entry, facts: NoteFacts, text: BlobReader, face: Face) -> Result<Answer<GetData>, CommandError> {
    let (head, budget) = (head(entry, &facts), Budget::new(DEFAULT_BUDGET));
    let asked = LineQuery { lines: LineRange::ALL, pattern: None, context: None };
    let part = asked.read(&text, budget.tokens())?;
    let bounded = answer(entry, facts, part, budget, face);
    Ok(Answer { text: head, unbounded: Some(Unbounded::Lines(text)), ..bounded })
}

fn head(entry: &Entry, facts: &NoteFacts) -> String {
    let mut head = format!("{}, {}{}", headline(entry), size(entry.bytes), about(entry));
    facts.remarks.iter().for_each(|remark| head.push_str(&format!("; {remark}")));
    facts.doubts.iter().for_each(|doubt| head.push_str(&format!("; {doubt}")));
    head
}

fn answer(entry: &Entry, facts: NoteFacts, part: SelectedText, budget: Budget, face: Face) -> Answer<GetData> {
    let (text, part) = shown(&head(entry, &facts), entry.reference, part, budget, face);
    let doubts = facts.doubts;
    let exit_code = entry.run.as_ref().and_then(|facts| facts.exit_code);
    let (kind, origin, bytes) = (Choice(entry.kind), Choice(entry.origin), entry.bytes);
    Answer::new(text, GetData::Stored { kind, origin, bytes, doubts, exit_code, part })
}

/// Describes how a run ended, how long the entry is kept, and what was redacted.
fn about(entry: &Entry) -> String {
    let mut head = String::new();
    head.push_str(&entry.run.as_ref().map(|facts| format!(", {}", how_it_ended(facts))).unwrap_or_default());
    if let Some(expires) = entry.expires_at {
        head.push_str(&format!(", until {}", when::show(expires)));
    }
    if entry.redactions > 0 {
        head.push_str(&format!(", {} redacted", entry.redactions));
    }
    head
}

fn how_it_ended(facts: &RunFacts) -> String {
    match (facts.ended, facts.exit_code, facts.signal) {
        (Ended::Exited, Some(code), _) => format!("exit {code}"),
        (Ended::Exited, _, Some(signal)) => format!("ended by signal {signal}"),
        (ended, ..) => format!("ended: {ended}"),
    }
}

/// Renders a head, as many lines as fit, and what is left out.
fn shown(head: &str, reference: Reference, mut part: SelectedText, budget: Budget, face: Face) -> (String, PartData) {
    loop {
        let body = match part.text.is_empty() {
            true => part.unmatched.clone().unwrap_or_else(|| "(nothing)".to_owned()),
            false => fence(reference, &part.text),
        };
        let foot = part.foot(face);
        let text = [head, &body, &foot].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let text = text.join("\n");
        let over = weir_tokens::count(&text).saturating_sub(budget.tokens());
        if over == 0 || part.text.is_empty() {
            let SelectedText { first, last, more, .. } = part;
            let reference = reference.to_string();
            return (text, PartData { reference, first_line: first, last_line: last, more, text: part.text });
        }
        part.shorten(over);
    }
}

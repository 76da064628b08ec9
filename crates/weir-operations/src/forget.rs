//! `ctx_forget`: removes entries permanently. Invariant: nothing is removed that a dry run has not shown first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::LockedStores;
use weir_core::wording::quoted;
use weir_core::{Level, Reference, Scope};
use weir_host::answer::{Answer, Budget, counted, fit_items, one_line};
use weir_host::choice::Choice;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::scratch;
use weir_host::when;
use weir_store::{Forgotten, Plan, Selection, StoreError};

use super::{Declared, Effect};
use crate::needs::KnowledgeContext;
use crate::references;
use crate::schema::silent;

/// The budget of an answer, in tokens.
const MAX_TOKENS: u32 = 600;

/// Remove entries permanently: first a dry run, then again with `confirm`.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// References of the entries to remove
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(value_name = "REF")]
    refs: Vec<String>,
    /// All revisions of this topic
    #[schemars(transform = silent)]
    #[arg(long)]
    topic: Option<String>,
    /// Everything from this source and below it
    #[schemars(transform = silent)]
    #[arg(long)]
    source: Option<String>,
    /// Everything from this session
    #[schemars(transform = silent)]
    #[arg(long)]
    session: Option<String>,
    /// Everything since: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Everything before: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    before: Option<String>,
    /// Everything in this project
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long)]
    project: bool,
    /// Code from the dry run
    #[arg(long, value_name = "CONFIRMATION")]
    confirm: Option<String>,
}

impl Declared for Forget {
    type Context = KnowledgeContext;
    type Data = ForgetData;

    const TOOL: &'static str = weir_tools::FORGET.name;
    const COMMAND: Option<&'static str> = Some("forget");
    const EFFECT: Effect = weir_tools::FORGET.effect;
    const ABOUT: Option<&'static str> = Some("Remove entries permanently: first a dry run, then again with --confirm");
    const EXAMPLES: &'static str = "\
Examples:
  weir forget k7f2m9q4xz                      shows what would be removed
  weir forget k7f2m9q4xz --confirm 1a2b3c4d   removes it and verifies that nothing is left
  weir forget --topic db-pool
  weir forget --before 2026-01-01 --source 'cargo test'
  weir forget --project

If you give several conditions, an entry must meet all of them.";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<ForgetData>, CommandError> {
        let now = when::now();
        let selection = Selection {
            references: references::resolve_all(context, &self.refs).await?,
            topic: self.topic,
            source: self.source,
            session: self.session,
            since: self.since.as_deref().map(|text| when::parse(text, now)).transpose()?,
            before: self.before.as_deref().map(|text| when::parse(text, now)).transpose()?,
            everything: self.project,
        };
        if selection == Selection::default() {
            return Err(CommandError::usage("no entries selected")
                .hint("select entries by reference, topic, source, session or time, or select the whole project"));
        }
        let (scope, face) = (context.scope(), context.face());
        context
            .with_stores(move |open| match self.confirm {
                None => dry_run(open, &scope, &selection, face),
                Some(confirmation) => remove(open, &scope, &selection, confirmation.trim()),
            })
            .await
    }
}

/// Returns the stores to search. The user's is excluded for sessions, times and whole projects, which only a project
/// has.
fn levels(selection: &Selection) -> &'static [Level] {
    let of_project =
        selection.session.is_some() || selection.since.is_some() || selection.before.is_some() || selection.everything;
    if of_project { &[Level::Project] } else { &[Level::Project, Level::User] }
}

fn plans(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    selection: &Selection,
) -> Result<Vec<(Level, Plan)>, CommandError> {
    let mut plans = Vec::new();
    for &level in levels(selection) {
        let planned = open.store(level).and_then(|store| Ok(store.plan_to_forget(scope, selection)?));
        match planned {
            Ok(plan) if plan.entries.is_empty() && plan.events == 0 => {}
            Ok(plan) => plans.push((level, plan)),
            // What was found in the project can be forgotten all the same.
            Err(error) if level == Level::User && error.kind == ErrorKind::Store && !plans.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(plans)
}

/// Removes entries that the user has agreed to remove, and says what became of them.
pub fn remove_entries(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    references: Vec<Reference>,
) -> Result<String, CommandError> {
    let selection = Selection { references, ..Selection::default() };
    let confirmation = confirmation_of(&plans(open, scope, &selection)?);
    remove(open, scope, &selection, &confirmation).map(|answer| answer.text)
}

fn confirmation_of(plans: &[(Level, Plan)]) -> String {
    plans.iter().map(|(_, plan)| plan.confirmation.as_str()).collect::<Vec<_>>().join("-")
}

/// What would be removed, or what was.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ForgetData {
    /// What a dry run found.
    Planned {
        entries: usize,
        events: usize,
        /// Present if there is something to remove.
        #[serde(flatten)]
        plan: Option<PlanData>,
    },
    /// What was removed.
    Removed { removed: Vec<RemovedData> },
}

/// The entries that would be removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanData {
    /// The size of their texts.
    bytes: u64,
    references: Vec<String>,
    /// The code that confirms the removal.
    confirm: String,
}

/// What was removed from one store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedData {
    store: Choice<Level>,
    entries: usize,
    events: usize,
    texts: usize,
    /// Texts that stay, because other entries have the same text.
    shared_texts: usize,
    /// What was still found in each part of the store afterwards.
    remaining: BTreeMap<&'static str, usize>,
    /// Whether the write-ahead logs were emptied too.
    logs_emptied: bool,
    index_removed: bool,
    /// Why something is left to do, if it is.
    unfinished: Option<String>,
}

fn dry_run(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    selection: &Selection,
    face: Face,
) -> Result<Answer<ForgetData>, CommandError> {
    let plans = plans(open, scope, selection)?;
    if plans.is_empty() {
        let text = "no entries match; nothing would be removed".to_owned();
        return Ok(Answer::nothing(text, ForgetData::Planned { entries: 0, events: 0, plan: None }));
    }
    let entries: Vec<_> = plans.iter().flat_map(|(_, plan)| &plan.entries).collect();
    let events: usize = plans.iter().map(|(_, plan)| plan.events).sum();
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let title = entry.title.as_deref().map_or("(not visible here)".to_owned(), |title| one_line(title, 80));
            format!("{} {} {title}", entry.reference, entry.kind)
        })
        .collect();
    let confirmation = confirmation_of(&plans);
    let (some_entries, some_events) = (counted(entries.len(), "entry", "entries"), counted(events, "event", "events"));
    let head = format!("would remove {some_entries} ({bytes} bytes) and {some_events}:");
    let (text, _) = fit_items(&head, &lines, Budget::new(MAX_TOKENS), |shown| {
        let hidden = lines.len() - shown;
        let more = if hidden > 0 { format!("… and {hidden} more\n") } else { String::new() };
        let confirm = match face {
            Face::Terminal => format!("--confirm {confirmation}"),
            Face::Mcp | Face::Http => format!("confirm = {confirmation}"),
        };
        format!("{more}nothing was removed yet; to remove, repeat with {confirm}")
    });
    let references = entries.iter().map(|entry| entry.reference.to_string()).collect();
    let plan = Some(PlanData { bytes, references, confirm: confirmation });
    Ok(Answer::new(text, ForgetData::Planned { entries: entries.len(), events, plan }))
}

fn remove(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    selection: &Selection,
    confirmation: &str,
) -> Result<Answer<ForgetData>, CommandError> {
    let plans = plans(open, scope, selection)?;
    if confirmation_of(&plans) != confirmation {
        return Err(StoreError::PlanChanged.into());
    }
    let now = open.now;
    let (mut lines, mut removed) = (Vec::new(), Vec::new());
    for (level, plan) in &plans {
        let folder = open.folder(*level);
        let forgotten = open.store(*level)?.forget(scope, selection, &plan.confirmation, now);
        let forgotten = forgotten.map_err(|error| cannot_forget(error, folder))?;
        folder.ancestors().take(2).for_each(scratch::sweep);
        let references: Vec<Reference> = plan.entries.iter().map(|entry| entry.reference).collect();
        weir_sync::forgotten(open.folder(*level), &references)?;
        lines.push(describe(*level, &forgotten));
        lines.extend(described_older(&scratch::older_stores(folder)));
        removed.push(RemovedData::of(*level, forgotten));
    }
    Ok(Answer::new(lines.join("\n"), ForgetData::Removed { removed }))
}

/// Returns the error for entries that could not be forgotten. On a full disk, advising to forget some would not help.
fn cannot_forget(error: StoreError, folder: &Path) -> CommandError {
    let is_full = matches!(error, StoreError::Full { .. });
    let mut error = CommandError::from(error).in_store(folder);
    if is_full {
        error.hints = vec!["nothing was removed; free a megabyte on this disk, then repeat the command".to_owned()];
    }
    error
}

/// Says which stores that were set aside may still have what was forgotten.
fn described_older(stores: &[PathBuf]) -> Option<String> {
    let named: Vec<String> = stores.iter().map(|store| quoted(&store.display().to_string())).collect();
    (!named.is_empty()).then(|| {
        let (named, store) = (named.join(" "), if named.len() == 1 { "an older store" } else { "older stores" });
        format!("{store} that `weir restore` or `weir adopt` has set aside may still have it; to remove: rm -r {named}")
    })
}

fn describe(level: Level, forgotten: &Forgotten) -> String {
    let mut text = format!(
        "removed from the {level} store: {}, {}, {}",
        counted(forgotten.entries, "entry", "entries"),
        counted(forgotten.events, "event", "events"),
        counted(forgotten.blobs, "text", "texts")
    );
    if forgotten.shared_blobs > 0 {
        let shared = counted(forgotten.shared_blobs, "text", "texts");
        text.push_str(&format!("; kept {shared} that other entries share"));
    }
    let places = forgotten.remaining.iter().map(|(place, count)| format!("{place} {count}"));
    text.push_str(&format!("\nremaining: {}", places.collect::<Vec<_>>().join(", ")));
    if forgotten.index_removed {
        text.push_str("\nthe index was removed too; the next search rebuilds it");
    }
    if let Some(why) = &forgotten.unfinished {
        text.push_str(&format!("\nthe next search removes the rest: {why}"));
    }
    if !forgotten.logs_emptied {
        text.push_str(
            "\nanother process still reads old pages; they are removed when it closes, or by `weir doctor` after that",
        );
    }
    text
}

impl RemovedData {
    fn of(level: Level, forgotten: Forgotten) -> Self {
        Self {
            store: Choice(level),
            entries: forgotten.entries,
            events: forgotten.events,
            texts: forgotten.blobs,
            shared_texts: forgotten.shared_blobs,
            remaining: forgotten.remaining.into_iter().collect(),
            logs_emptied: forgotten.logs_emptied,
            index_removed: forgotten.index_removed,
            unfinished: forgotten.unfinished,
        }
    }
}

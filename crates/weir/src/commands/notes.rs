//! `weir notes`: reviews the notes, suggests which to renew or remove, and confirms those that a model wrote.
//! Invariants: a review changes nothing, and listing a note does not count as using it.

use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::{Entry, Level, Origin, Reference, Timestamp};
use weir_host::answer::{Answer, counted, headline, one_line};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_knowledge::staleness::{self, Doubt};
use weir_operations::forget;
use weir_operations::needs::KnowledgeContext;
use weir_operations::references;
use weir_store::{NoteUse, Store};

/// The maximum number of notes listed, unless all or those of a category are requested.
const MAX_LISTED_NOTES: usize = 20;
/// A note that has not been read for this many milliseconds is worth reviewing.
const UNUSED_AFTER_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;
/// How long a review waits for git: longer than an answer does.
const GIT_TIMEOUT: Duration = staleness::GIT_TIMEOUT.saturating_mul(30);

struct NoteCategory {
    /// The name, as a flag and in JSON.
    flag: &'static str,
    help: &'static str,
    title: &'static str,
    hint: &'static str,
    holds: fn(&ReviewedNote) -> bool,
}

/// The categories, in the order they are listed. A note may be in more than one.
const NOTE_CATEGORIES: &[NoteCategory] = &[
    NoteCategory {
        flag: "stale",
        help: "Only notes that may be out of date",
        title: "may be out of date",
        hint: "if still true: weir note \"…\" --supersedes REF --files …; if not: weir notes --remove REF",
        holds: |note| !note.doubts.is_empty(),
    },
    NoteCategory {
        flag: "superseded",
        help: "Only notes that newer notes replace",
        title: "superseded",
        hint: "kept as history; to remove one: weir notes --remove REF",
        holds: |note| note.seen.entry.superseded_by.is_some(),
    },
    NoteCategory {
        flag: "unused",
        help: "Only notes older than 30 days that were never read",
        title: "never read",
        hint: "to read one: weir get REF; to remove one: weir notes --remove REF",
        holds: |note| note.unused,
    },
];

struct ReviewedNote {
    seen: NoteUse,
    /// What the team has to do with it.
    remarks: Vec<String>,
    doubts: Vec<Doubt>,
    unused: bool,
}

pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new("notes")
        .about("List notes, newest first, and say which may be out of date, superseded or unused")
        .after_long_help(
            "Examples:\n  weir notes\n  weir notes --stale\n  weir notes --confirm k7f2m9q4xz\n  weir notes --remove k7f2m9q4xz\n  \
             weir notes --all --json\n\nModels see whether a note is yours, or theirs and confirmed by you. \
             `weir note … --supersedes REF` replaces a note.",
        )
        .args(NOTE_CATEGORIES.iter().map(|sort| flag(sort.flag, sort.help)))
        .arg(flag("all", "List every note"))
        .arg(
            Arg::new("confirm")
                .long("confirm")
                .value_name("REF")
                .num_args(1..)
                .conflicts_with_all(NOTE_CATEGORIES.iter().map(|sort| sort.flag).chain(["all"]))
                .help("Confirm notes that a model wrote"),
        )
        .arg(
            Arg::new("remove")
                .long("remove")
                .value_name("REF")
                .num_args(1..)
                .conflicts_with_all(NOTE_CATEGORIES.iter().map(|sort| sort.flag).chain(["all", "confirm"]))
                .help("Remove notes for good, after asking"),
        )
        .arg(flag("yes", "Remove without asking").requires("remove"))
}

async fn remove(context: &Context, references: Vec<Reference>, is_agreed: bool) -> Result<Answer, CommandError> {
    let (scope, wanted) = (context.scope(), references.clone());
    let notes = context.with_stores(move |open| {
        let mut notes = Vec::new();
        for reference in wanted {
            let mut found = None;
            for level in [Level::Project, Level::User] {
                let stored = open.existing(level)?.map(|store| store.notes(&scope, usize::MAX)).transpose()?;
                let mut entries = stored.into_iter().flatten().map(|note| note.entry);
                found = found.or_else(|| entries.find(|entry| entry.reference == reference));
            }
            notes.push(found.ok_or_else(|| no_such_note("remove", reference))?);
        }
        Ok(notes)
    });
    let titles = notes.await?.into_iter().map(|entry| format!("{} {}", entry.reference, one_line(&entry.title, 100)));
    let titles = titles.collect::<Vec<_>>().join("\n");
    let question = format!("Remove {} for good?", counted(references.len(), "note", "notes"));
    if !is_agreed && !context.consent(&question, &titles).await? {
        let error = CommandError::new(ErrorKind::Denied, "nothing was removed: you did not confirm it");
        return Err(error.hint("--yes removes notes without asking"));
    }
    let (scope, removed) = (context.scope(), weir_host::answer::references(&references));
    let text = context.with_stores(move |open| forget::remove_entries(open, &scope, references)).await?;
    Ok(Answer::new(text, json!({ "removed": removed })))
}

fn no_such_note(verb: &str, reference: Reference) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("cannot {verb} {reference}: there is no such note"))
        .hint("`weir notes --all` lists the notes")
}

/// Confirms notes in order, up to the first that does not exist.
async fn confirm(context: &Context, references: Vec<Reference>) -> Result<Answer, CommandError> {
    let scope = context.scope();
    let confirmed = context
        .with_stores(move |open| {
            let now = open.now;
            let mut confirmed = Vec::new();
            for reference in references {
                let found = match open.project()?.confirm(&scope, reference, now)? {
                    Some(entry) => Some(entry),
                    None => open.user()?.confirm(&scope, reference, now)?,
                };
                let found = found.ok_or_else(|| no_such_note("confirm", reference))?;
                weir_sync::confirmed(open.folder(Level::Project), reference)?;
                confirmed.push(found);
            }
            Ok(confirmed)
        })
        .await?;
    let text = confirmed.iter().map(|entry| format!("{}: {}", headline(entry), one_line(&entry.title, 100)));
    let data = confirmed.iter().map(|entry| entry.reference.to_string()).collect::<Vec<_>>();
    Ok(Answer::new(text.collect::<Vec<_>>().join("\n"), json!({ "confirmed": data })))
}

/// Runs the review, or confirms the given notes.
pub(crate) async fn review(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let named = |option: &str| arguments.get_many::<String>(option).map(|texts| texts.cloned().collect::<Vec<_>>());
    let knowledge = KnowledgeContext::of(context);
    if let Some(texts) = named("confirm") {
        return confirm(context, references::resolve_all(&knowledge, &texts).await?).await;
    }
    if let Some(texts) = named("remove") {
        let references = references::resolve_all(&knowledge, &texts).await?;
        return remove(context, references, arguments.get_flag("yes")).await;
    }
    let asked: Vec<&NoteCategory> = NOTE_CATEGORIES.iter().filter(|sort| arguments.get_flag(sort.flag)).collect();
    let all = arguments.get_flag("all");
    let (notes, left_out) = look(context).await?;
    let wanted = |note: &&ReviewedNote| all || asked.is_empty() || asked.iter().any(|sort| (sort.holds)(note));
    let data = json!({ "notes": notes.iter().filter(wanted).map(describe).collect::<Vec<_>>() });
    let remark = left_out.map(|left_out| format!("\n{left_out}")).unwrap_or_default();
    if notes.is_empty() {
        let text = format!("no notes yet; add one with `weir note \"…\"`{remark}");
        return Ok(Answer::nothing(text, data));
    }
    if !all && asked.is_empty() {
        return Ok(Answer::new(listing(&notes) + &remark, data));
    }
    let mut parts = vec![overview(&notes)];
    for sort in NOTE_CATEGORIES.iter().filter(|sort| all || asked.iter().any(|one| one.flag == sort.flag)) {
        parts.extend(section(sort, &notes));
    }
    let others: Vec<String> = notes.iter().filter(|note| sorts(note).next().is_none()).map(line).collect();
    if all && !others.is_empty() {
        parts.push(format!("the others:\n{}", others.join("\n")));
    }
    Ok(Answer::new(parts.join("\n\n") + &remark, data))
}

/// Returns the notes of the project and of the user, newest first, with what to report about each. Also says if the
/// user's are left out.
async fn look(context: &Context) -> Result<(Vec<ReviewedNote>, Option<String>), CommandError> {
    let scope = context.scope();
    let (mut notes, mut remarks, left_out, now) = context
        .with_stores(move |open| {
            let mut notes = Vec::new();
            let mut left_out = None;
            for level in [Level::Project, Level::User] {
                let read = |store: &mut Store| Ok(store.notes(&scope, usize::MAX)?);
                notes.extend(open.read_if_usable(level, &mut left_out, read)?.unwrap_or_default());
            }
            let entries: Vec<Entry> = notes.iter().map(|note| note.entry.clone()).collect();
            Ok((notes, weir_sync::remarks(open, &scope, &entries)?, left_out, open.now))
        })
        .await?;
    notes.sort_by_key(|note| std::cmp::Reverse(note.entry.at));
    // A note that was superseded is not relied on anyway.
    let current: Vec<&Entry> = notes.iter().filter(|note| is_current(note)).map(|note| &note.entry).collect();
    let mut doubts = staleness::labels(context, &current, GIT_TIMEOUT).await.into_iter();
    let reviewed = notes.into_iter().map(|seen| {
        let current = is_current(&seen);
        let doubts = if current { doubts.next().unwrap_or_default() } else { Vec::new() };
        let remarks = remarks.remove(&seen.entry.reference).unwrap_or_default();
        ReviewedNote { unused: current && is_unused(&seen, now), seen, remarks, doubts }
    });
    Ok((reviewed.collect(), left_out))
}

fn is_current(note: &NoteUse) -> bool {
    note.entry.superseded_by.is_none()
}

fn is_unused(note: &NoteUse, now: Timestamp) -> bool {
    note.is_unused() && now.0 - note.entry.at.0 > UNUSED_AFTER_MILLIS
}

fn sorts(note: &ReviewedNote) -> impl Iterator<Item = &'static NoteCategory> {
    NOTE_CATEGORIES.iter().filter(|sort| (sort.holds)(note))
}

fn overview(notes: &[ReviewedNote]) -> String {
    let counts = NOTE_CATEGORIES.iter().map(|sort| {
        let count = notes.iter().filter(|note| (sort.holds)(note)).count();
        format!("{count} {}", sort.title)
    });
    format!("{}: {}", counted(notes.len(), "note", "notes"), counts.collect::<Vec<_>>().join(", "))
}

/// Lists the newest notes that hold, each with its doubts, and says which others to look at.
fn listing(notes: &[ReviewedNote]) -> String {
    let current: Vec<&ReviewedNote> = notes.iter().filter(|note| is_current(&note.seen)).collect();
    let mut lines: Vec<String> = current.iter().take(MAX_LISTED_NOTES).map(|note| line(note)).collect();
    if current.len() > MAX_LISTED_NOTES {
        lines.push(format!("… and {} more: weir notes --all", current.len() - MAX_LISTED_NOTES));
    }
    lines.push(String::new());
    lines.push(overview(notes));
    for sort in NOTE_CATEGORIES.iter().filter(|sort| notes.iter().any(|note| (sort.holds)(note))) {
        lines.push(format!("→ {}: weir notes --{}", sort.title, sort.flag));
    }
    lines.join("\n")
}

fn section(sort: &NoteCategory, notes: &[ReviewedNote]) -> Option<String> {
    let of_sort: Vec<&ReviewedNote> = notes.iter().filter(|note| (sort.holds)(note)).collect();
    if of_sort.is_empty() {
        return None;
    }
    let mut lines = vec![format!("{}:", sort.title)];
    lines.extend(of_sort.iter().map(|note| line(note)));
    lines.push(format!("→ {}", sort.hint));
    Some(lines.join("\n"))
}

fn line(note: &ReviewedNote) -> String {
    let entry = &note.seen.entry;
    let mut line = format!("{} {}", entry.reference, when::show(entry.at));
    if let Some(own) = &entry.note {
        line.push_str(&format!(" {}", own.kind));
        if let Some(topic) = &own.topic {
            line.push_str(&format!(" on {}", one_line(topic, 60)));
        }
    }
    if let Some(name) = entry.teammate() {
        line.push_str(&format!(" by {}, {}", one_line(name, 60), entry.teammate_standing()));
    }
    if entry.origin == Origin::Model {
        let confirmed = entry.note.as_ref().is_some_and(|note| note.confirmed_at.is_some());
        line.push_str(if confirmed { " by a model, confirmed" } else { " by a model" });
    }
    line.push_str(&format!(": {}", one_line(&entry.title, 100)));
    if let Some(successor) = entry.superseded_by {
        line.push_str(&format!("\n  superseded by {successor}"));
    }
    line.extend(note.remarks.iter().map(|remark| format!("\n  {remark}")));
    line.extend(note.doubts.iter().map(|doubt| format!("\n  {doubt}")));
    line
}

fn describe(note: &ReviewedNote) -> Value {
    let entry = &note.seen.entry;
    let own = entry.note.as_ref();
    json!({
        "reference": entry.reference.to_string(),
        "at": when::show(entry.at),
        "used_at": when::show(note.seen.used_at),
        "level": entry.level.as_str(),
        "kind": own.map(|own| own.kind.as_str()),
        "topic": own.and_then(|own| own.topic.as_deref()),
        "title": entry.title,
        "origin": entry.origin.as_str(),
        "confirmed_at": own.and_then(|own| own.confirmed_at).map(when::show),
        "sorts": sorts(note).map(|sort| sort.flag).collect::<Vec<_>>(),
        "superseded_by": entry.superseded_by.map(|successor| successor.to_string()),
        "teammate": entry.teammate(),
        "team": note.remarks,
        "doubts": note.doubts,
    })
}

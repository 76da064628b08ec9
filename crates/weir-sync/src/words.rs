//! What is said about notes of a team: whose they are, who confirmed them, and which revisions contradict each other.
//! Invariant: without a team, this costs a look for one file, and for a note with a topic one look-up.

use std::collections::HashMap;
use std::path::Path;

use weir_context::LockedStores;
use weir_core::wording::{counted, one_line};
use weir_core::{Entry, EntryKind, Level, Reference, Scope};
use weir_host::error::CommandError;
use weir_host::when;
use weir_store::{Attribution, TeamDb};

use super::session_end::mark_due;
use super::vault::Vault;

const MAX_NAME_CHARS: usize = 60;

/// What is said about each entry besides its own fields.
pub type Remarks = HashMap<Reference, Vec<String>>;

/// Returns what is to be said about entries: who has confirmed them on the team, and other revisions of their topics.
pub fn remarks(open: &mut LockedStores<'_>, scope: &Scope, entries: &[Entry]) -> Result<Remarks, CommandError> {
    let mut remarks = Remarks::new();
    let notes: Vec<&Entry> = entries.iter().filter(|entry| entry.kind == EntryKind::Note).collect();
    if notes.is_empty() {
        return Ok(remarks);
    }
    let references: Vec<Reference> = notes.iter().map(|entry| entry.reference).collect();
    if let Some(team) = TeamDb::open_existing(open.folder(Level::Project))? {
        for known in team.attributions(&references)? {
            remarks.entry(known.reference).or_default().extend(said_of(&known));
        }
    }
    for entry in notes.iter().filter(|entry| entry.level == Level::Project) {
        let rivals = open.project()?.rivals(scope, entry)?;
        if !rivals.is_empty() {
            remarks.entry(entry.reference).or_default().push(fork_of(&rivals));
        }
    }
    Ok(remarks)
}

/// Erases what the team's database has of entries that were forgotten. The next exchange removes them everywhere.
pub fn forgotten(folder: &Path, references: &[Reference]) -> Result<(), CommandError> {
    if let Some(mut team) = TeamDb::open_existing(folder)? {
        team.erase(references)?;
        mark_due(folder);
    }
    Ok(())
}

/// Notes that the user has confirmed a note, for the next exchange.
pub fn confirmed(folder: &Path, reference: Reference) -> Result<(), CommandError> {
    if let Some(mut team) = TeamDb::open_existing(folder)? {
        team.wish_to_confirm(reference)?;
        mark_due(folder);
    }
    Ok(())
}

/// Describes what the store in a folder shares: with whom, what waits, and how old it is. `None` without a connection.
pub fn standing(folder: &Path) -> Result<Option<Standing>, CommandError> {
    let Some(team) = TeamDb::open_existing(folder)? else { return Ok(None) };
    let Some(connection) = team.connection()? else { return Ok(None) };
    let [waiting, refused, received] = team.counts()?;
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut text = format!(
        "`{}` on {} as {}, last sync {}, {} of others here, {} to be sent",
        one_line(&connection.project, 120),
        one_line(&connection.server, 120),
        one_line(&connection.user, MAX_NAME_CHARS),
        connection.synced_at.map_or_else(|| "never".to_owned(), when::show),
        counted(number(received), "note", "notes"),
        counted(number(waiting), "record waits", "records wait"),
    );
    let vault = Vault::read(folder)?.at(&connection);
    text.push_str(match (vault.is_sealed(), vault.can_seal()) {
        (true, true) => ", sealed",
        (true, false) => ", sealed without a key for this machine: `weir sync` says how to get one",
        (false, _) if vault.is_restricted() => ", to be sealed before a note is sent: `weir sync --seal`",
        (false, _) => "",
    });
    if refused > 0 {
        text.push_str(&format!(", {} refused", counted(number(refused), "record was", "records were")));
    }
    if let Some(problem) = &connection.problem {
        text.push_str(&format!("; the last sync failed: {}", one_line(problem, 300)));
    }
    Ok(Some(Standing { text, is_good: connection.problem.is_none() }))
}

/// What a project shares.
pub struct Standing {
    /// One line about it.
    pub text: String,
    /// Whether the last exchange succeeded.
    pub is_good: bool,
}

fn said_of(known: &Attribution) -> Option<String> {
    let client = Some(one_line(&known.client, MAX_NAME_CHARS)).filter(|client| !client.is_empty() && !known.is_own);
    let client = client.map(|client| format!("written with {client}"));
    let names: Vec<String> = known.confirmed.iter().map(|one| one_line(&one.user, MAX_NAME_CHARS)).collect();
    let confirmed = (!names.is_empty()).then(|| format!("confirmed on the team by {}", names.join(", ")));
    let in_clear = known.is_in_clear.then(|| "not sealed, by the server's word".to_owned());
    let parts: Vec<String> = client.into_iter().chain(confirmed).chain(in_clear).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn fork_of(rivals: &[Entry]) -> String {
    let line = |rival: &Entry| format!("{} by {}, {}", rival.reference, author(rival), when::show(rival.at));
    let named = rivals.iter().map(line).collect::<Vec<_>>().join("; ");
    format!("forked: another current revision of this topic is {named}; a new note on the topic replaces them all")
}

fn author(entry: &Entry) -> String {
    entry.teammate().map_or_else(|| entry.origin.to_string(), |name| one_line(name, MAX_NAME_CHARS))
}

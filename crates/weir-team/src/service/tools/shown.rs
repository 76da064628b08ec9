//! Entries as a model reads them. Invariant: what a note says stands within marks that were drawn for the answer, which
//! its author cannot know; outside of them are words of Weir and names of users, each of which is one word.

use weir_core::wording::{fence, flat};
use weir_core::{Reference, terminal};
use weir_http::problem::Problem;
use weir_records::{Body, HostId, MAX_ABOUT, Record};

use crate::service::Service;
use crate::service::entries::{ShownEntry, ShownFork};

/// How much of a text an answer shows, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 32 << 10;
/// How many other notes a line names.
const MAX_NAMED: usize = 20;
/// The longest name that stands outside of the marks, in characters.
const MAX_NAME_CHARS: usize = 60;

/// Shows an entry: its reference and its record id, who wrote it and who confirmed it, and within marks what it says: its
/// text, or the beginning of it.
pub(super) fn shown(entry: &ShownEntry, mark: Reference) -> String {
    let content = entry.content.as_ref();
    let note_kind = content.and_then(|content| content.note.as_ref()?.get("kind")?.as_str());
    let kind = note_kind.or(content.map(|content| content.kind)).unwrap_or_default();
    let reference = content.map(|content| content.reference.as_str()).unwrap_or_default();
    let names = [reference, &entry.id, kind, &entry.author.user].map(name_of);
    let [reference, id, kind, user] = names;
    let mut head = format!("[ctx:{reference}] {id} {kind} by {user}");
    match entry.confirmed_by.iter().map(|user| name_of(user)).collect::<Vec<_>>().join(", ") {
        nobody if nobody.is_empty() => head.push_str(", not confirmed by a person"),
        users => head.push_str(&format!(", confirmed by {users}")),
    }
    if let Some(newer) = &entry.superseded_by {
        head.push_str(&format!(", superseded by {newer}"));
    }
    if entry.more_about {
        head.push_str(&format!(", going by the newest {MAX_ABOUT} records about it"));
    }
    for other in &entry.fork {
        let (id, user) = (&other.id, name_of(&other.author.user));
        head.push_str(&format!(", fork: {id} by {user} says something else on this topic"));
    }
    let title = flat(content.map(|content| content.title.as_str()).unwrap_or_default(), MAX_TEXT_BYTES);
    let text = entry.text.as_deref().or(entry.excerpt.as_deref()).unwrap_or_default();
    let cut = text.floor_char_boundary(MAX_TEXT_BYTES);
    let clean = terminal::clean(text.as_bytes().get(..cut).unwrap_or_default());
    let said = format!("{title}\n{}", String::from_utf8_lossy(&clean));
    let rest = if cut < text.len() { format!("cut after {cut} of {} bytes\n", text.len()) } else { String::new() };
    format!("{head}\n{}\n{rest}", fence(mark, &said))
}

/// Returns what happened with a record, and to what. Of what is sealed, a server knows the id.
pub(super) fn happened(record: &Record) -> (&'static str, String) {
    match &record.body {
        Body::Kept(kept) => ("noted", format!("[ctx:{}]", kept.reference.as_str())),
        Body::Superseded { old, by } => ("superseded", format!("{old} by {by}")),
        Body::Confirmed { record, .. } => ("confirmed", record.to_string()),
        Body::Removed { record, .. } => ("removed", record.to_string()),
        Body::Sealed(_) => ("sealed", record.id.to_string()),
        Body::Granted(granted) => ("granted", format!("keys to {} members", granted.grants.len())),
    }
}

/// Names other notes by their record ids and users.
pub(super) fn named(others: &[ShownFork]) -> String {
    let one = |other: &ShownFork| format!("{} by {}", other.id, name_of(&other.author.user));
    let mut names: Vec<String> = others.iter().take(MAX_NAMED).map(one).collect();
    if others.len() > MAX_NAMED {
        names.push(format!("and {} more", others.len() - MAX_NAMED));
    }
    names.join(", ")
}

/// Returns a name as it stands outside of the marks: as one word, so that no name reads like a sentence of Weir.
pub(super) fn name_of(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.@+…".contains(letter);
    flat(name, MAX_NAME_CHARS).chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

/// Draws the marks of an answer. The author of a note knows its reference, so that would not do.
pub(super) fn draw(service: &Service) -> Result<Reference, Problem> {
    let drawn = HostId::random().map_err(|error| service.failure(&error))?;
    let [a, b, c, d, e, f, g, h, ..] = *drawn.as_bytes();
    Ok(Reference::from_bits(u64::from_le_bytes([a, b, c, d, e, f, g, h])))
}

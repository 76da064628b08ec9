//! Where transcripts lie, and how they are opened.
//!
//! Invariants: only regular files are opened, and links are not followed below a folder; what is not a transcript is
//! counted and skipped.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::MultiGzDecoder;
use walkdir::WalkDir;
use weir_clients::Client;
use weir_clients::transcript::{self, Reading, Transcript};

use crate::env::Env;
use crate::error::{CommandError, ErrorKind};
use crate::foreign;

/// How deep transcripts may lie below a folder.
const DEPTH: usize = 8;
/// The longest transcript that is inflated, in bytes. More is cut off, and so is its last row.
const INFLATED: u64 = 1 << 30;
/// The largest document of OpenCode's storage, in bytes.
const DOCUMENT: u64 = 32 << 20;

/// Where one transcript lies.
pub(crate) struct Found {
    /// What it is called.
    pub name: String,
    /// The file, or the folder of OpenCode's messages.
    pub path: PathBuf,
    changed: SystemTime,
}

/// The transcripts at these paths, the newest first.
pub(crate) fn named(paths: &[PathBuf]) -> Result<Vec<Found>, CommandError> {
    let mut found = Vec::new();
    for path in paths {
        let about = std::fs::metadata(path).map_err(|error| {
            CommandError::new(ErrorKind::NotFound, format!("cannot read {}: {error}", path.display()))
                .hint("name a transcript, or a folder with transcripts; without a name, those of every client are read")
        })?;
        if about.is_dir() {
            below(path, &mut found);
        } else {
            found.extend(file(path));
        }
    }
    Ok(newest_first(found))
}

/// The transcripts of every client, where it usually writes them, the newest first.
pub(crate) fn of_clients(env: &Env) -> Vec<Found> {
    let mut found = Vec::new();
    for (_, folder) in transcript::folders() {
        if let Some(home) = &env.home {
            below(&home.join(folder), &mut found);
        }
    }
    newest_first(found)
}

/// What clients keep in a form that is not read, in words.
pub(crate) fn unread(env: &Env) -> Vec<String> {
    let there = |path: &str| env.home.as_ref().is_some_and(|home| home.join(path).exists());
    let said = |client: &Client, command: &str| {
        format!(
            "{} keeps sessions in a database that is not read: `{command}` makes a transcript of one.",
            client.title
        )
    };
    let all = transcript::unread().filter(|(_, unread)| there(unread.path));
    all.map(|(client, unread)| said(client, unread.command)).collect()
}

fn newest_first(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    found.dedup_by(|one, other| one.path == other.path);
    found
}

fn below(folder: &Path, found: &mut Vec<Found>) {
    let storage = [folder.to_owned(), folder.join("storage")];
    if let Some(storage) = storage.iter().find(|folder| folder.join("message").is_dir() && folder.join("part").is_dir())
    {
        let sessions = std::fs::read_dir(storage.join("message")).into_iter().flatten().flatten();
        found.extend(sessions.filter_map(|session| file(&session.path())));
        return;
    }
    let files = WalkDir::new(folder).max_depth(DEPTH).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    found.extend(files.filter(|entry| is_transcript(entry.path())).filter_map(|entry| file(entry.path())));
}

/// Whether a file has the name of a transcript. Clients keep other JSON beside theirs.
fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_chat = name.starts_with("session-") && path.parent().is_some_and(|folder| folder.ends_with("chats"));
    name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") || (is_chat && name.ends_with(".json"))
}

fn file(path: &Path) -> Option<Found> {
    let name = path.file_name()?.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).unwrap_or(name).to_owned();
    let changed = std::fs::symlink_metadata(path).and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    Some(Found { name, path: path.to_owned(), changed })
}

impl Found {
    /// Reads it; none when it is not a transcript.
    pub(crate) fn read(&self) -> io::Result<Option<Transcript>> {
        if self.path.is_dir() {
            return stored(&self.path);
        }
        let file = foreign::open_of_user(&self.path)?;
        let input: Box<dyn Read> = match self.path.extension() {
            Some(extension) if extension == "gz" => Box::new(MultiGzDecoder::new(file).take(INFLATED)),
            _ => Box::new(file),
        };
        transcript::read(&mut BufReader::with_capacity(256 << 10, input))
    }
}

/// A session in OpenCode's storage, by the folder of its messages. The parts of each lie apart.
fn stored(messages: &Path) -> io::Result<Option<Transcript>> {
    let mut reading = Reading::default();
    let Some(storage) = messages.parent().and_then(Path::parent) else { return Ok(None) };
    for message in std::fs::read_dir(messages)?.flatten() {
        let path = message.path();
        document(&path, &mut reading);
        let parts = storage.join("part").join(path.file_stem().unwrap_or_default());
        for part in std::fs::read_dir(parts).into_iter().flatten().flatten() {
            document(&part.path(), &mut reading);
        }
    }
    Ok(reading.finish())
}

fn document(path: &Path, to: &mut Reading) {
    let bytes = foreign::open_of_user(path).and_then(|file: File| {
        let mut bytes = Vec::new();
        file.take(DOCUMENT).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match bytes.ok().and_then(|bytes| Some((serde_json::from_slice(&bytes).ok()?, bytes.len()))) {
        Some((row, bytes)) => to.row(row, bytes),
        None => to.skip(),
    }
}

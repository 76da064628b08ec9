//! Finds and opens transcripts.
//!
//! Invariants: only regular files are opened, and links below a folder are not followed; files that are not transcripts
//! are counted and skipped.

mod database;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::MultiGzDecoder;
use walkdir::WalkDir;
use weir_clients::RECIPES;
use weir_clients::json;
use weir_clients::transcript::{self, Part, Reading, Skipped, Transcript};
use weir_core::Timestamp;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;

/// How deep below a folder transcripts may be.
const MAX_DEPTH: usize = 8;
/// The longest transcript that is inflated, in bytes. Anything beyond is cut off, including the row at the cut.
const MAX_INFLATED_BYTES: u64 = 1 << 30;
/// The largest document of OpenCode's storage, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 32 << 20;

pub struct TranscriptLocation {
    pub name: String,
    /// The file, or the folder of OpenCode's messages.
    pub path: PathBuf,
    /// The session in OpenCode's database.
    session: Option<String>,
    changed: SystemTime,
    bytes: u64,
}

/// The transcripts found, newest first, and the paths that could not be read, with the reason.
pub struct Places {
    pub found: Vec<TranscriptLocation>,
    pub unreadable: Vec<String>,
}

/// Finds the transcripts at these paths. Without paths, finds those of every client.
pub fn find(env: &Env, paths: &[PathBuf]) -> Result<Places, CommandError> {
    match paths.is_empty() {
        true => Ok(of_clients(env)),
        false => Ok(Places { found: named(paths)?, unreadable: Vec::new() }),
    }
}

fn named(paths: &[PathBuf]) -> Result<Vec<TranscriptLocation>, CommandError> {
    let mut found = Vec::new();
    for path in paths {
        let about = std::fs::metadata(path).map_err(|error| {
            CommandError::new(ErrorKind::NotFound, format!("cannot read {}: {error}", path.display()))
                .hint("pass a transcript or a folder of transcripts; without a path, the transcripts of every client are read")
        })?;
        if about.is_dir() {
            below(path, &mut found);
        } else if path.extension().is_some_and(|extension| extension == "db") {
            database::sessions(path, &mut found)?;
        } else {
            found.extend(file(path));
        }
    }
    Ok(newest_first(found))
}

/// Finds the transcripts of every client in their usual folders.
fn of_clients(env: &Env) -> Places {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let moved = moved(env);
    for (_, folder) in transcript::folders() {
        let usual = env.home.iter().map(|home| home.join(folder));
        let moved = moved.iter().filter_map(|(from, to)| Some(to.join(Path::new(folder).strip_prefix(from).ok()?)));
        usual.chain(moved).for_each(|folder| below(&folder, &mut found));
    }
    let databases = env.home.iter().flat_map(|home| transcript::databases().map(|path| home.join(path)));
    for database in databases.filter(|path| path.exists()) {
        if let Err(error) = database::sessions(&database, &mut found) {
            unreadable.push(error.message);
        }
    }
    Places { found: newest_first(found), unreadable }
}

/// Returns the folders that variables name for clients, each with the one that it replaces. Sessions from before may
/// still be there.
fn moved(env: &Env) -> Vec<(&'static str, PathBuf)> {
    let moved = RECIPES.iter().filter_map(|recipe| recipe.moved_folder());
    moved.filter_map(|(name, from)| Some((from, env.named_folder(name)?))).collect()
}

fn newest_first(mut found: Vec<TranscriptLocation>) -> Vec<TranscriptLocation> {
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    found.dedup_by(|one, other| (&one.path, &one.session) == (&other.path, &other.session));
    found
}

fn below(folder: &Path, found: &mut Vec<TranscriptLocation>) {
    let storage = [folder.to_owned(), folder.join("storage")];
    if let Some(storage) = storage.iter().find(|folder| folder.join("message").is_dir() && folder.join("part").is_dir())
    {
        let sessions = std::fs::read_dir(storage.join("message")).into_iter().flatten().flatten();
        found.extend(sessions.filter_map(|session| file(&session.path())));
        return;
    }
    let files =
        WalkDir::new(folder).max_depth(MAX_DEPTH).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    found.extend(files.filter(|entry| is_transcript(entry.path())).filter_map(|entry| file(entry.path())));
}

/// Whether a file has the name of a transcript. Clients keep other JSON next to theirs.
fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_chat = name.starts_with("session-") && path.parent().is_some_and(|folder| folder.ends_with("chats"));
    name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") || (is_chat && name.ends_with(".json"))
}

fn file(path: &Path) -> Option<TranscriptLocation> {
    let name = path.file_name()?.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    // Copilot CLI names the folder after the session.
    let name = match path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str()) {
        Some(folder) if name == "events" => folder.to_owned(),
        _ => name.to_owned(),
    };
    let about = std::fs::symlink_metadata(path);
    let changed = about.as_ref().ok().and_then(|about| about.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
    Some(TranscriptLocation {
        name,
        path: path.to_owned(),
        session: None,
        changed,
        bytes: about.map_or(0, |about| about.len()),
    })
}

impl TranscriptLocation {
    /// Returns when the transcript was last written to.
    pub fn changed_at(&self) -> Timestamp {
        let since = self.changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the transcript. Returns `None` if the file is not a transcript.
    pub fn read(&self) -> io::Result<Option<Transcript>> {
        match self.rows()? {
            Some(rows) => Ok(rows.finish()),
            None => transcript::read(&mut self.open()?),
        }
    }

    /// Reads the transcript part by part, until `take` breaks. Returns what was skipped, or `None` if the file is not a
    /// transcript.
    pub fn stream(&self, take: &mut dyn FnMut(Part) -> ControlFlow<()>) -> io::Result<Option<Skipped>> {
        let Some(rows) = self.rows()? else { return transcript::stream(&mut self.open()?, take) };
        let Some((parts, skipped)) = rows.finish_parts() else { return Ok(None) };
        let _ = parts.into_iter().try_for_each(take);
        Ok(Some(skipped))
    }

    /// Returns the rows of a session that is not a file of its own.
    fn rows(&self) -> io::Result<Option<Reading>> {
        match &self.session {
            Some(session) => database::rows(&self.path, session).map(Some),
            None if self.path.is_dir() => stored(&self.path).map(Some),
            None => Ok(None),
        }
    }

    pub fn open(&self) -> io::Result<impl BufRead> {
        let file = foreign::open_user_file(&self.path)?;
        let input: Box<dyn Read> = match self.path.extension() {
            Some(extension) if extension == "gz" => Box::new(MultiGzDecoder::new(file).take(MAX_INFLATED_BYTES)),
            _ => Box::new(file),
        };
        Ok(BufReader::with_capacity(256 << 10, input))
    }
}

/// Reads a session from OpenCode's storage, given the folder of its messages. The parts of each message are stored
/// separately.
fn stored(messages: &Path) -> io::Result<Reading> {
    let mut reading = Reading::default();
    let Some(storage) = messages.parent().and_then(Path::parent) else { return Ok(reading) };
    for message in std::fs::read_dir(messages)?.flatten() {
        let path = message.path();
        document(&path, &mut reading);
        let parts = storage.join("part").join(path.file_stem().unwrap_or_default());
        for part in std::fs::read_dir(parts).into_iter().flatten().flatten() {
            document(&part.path(), &mut reading);
        }
    }
    Ok(reading)
}

fn document(path: &Path, to: &mut Reading) {
    let bytes = foreign::open_user_file(path).and_then(|file: File| {
        let mut bytes = Vec::new();
        file.take(MAX_DOCUMENT_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match bytes.ok().and_then(|bytes| Some((json::parse(&bytes).ok()?, bytes.len()))) {
        Some((row, bytes)) => to.row(row, bytes, 1),
        None => to.skip(1),
    }
}

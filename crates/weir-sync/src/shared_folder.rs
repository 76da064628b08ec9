//! Records as files in a folder of the project, which git carries from one clone to another.
//!
//! Invariants: no two machines write the same file, and none changes once it is written, so that git merges them
//! without conflicts; nothing is read or written through a link that leads out of the project; a file whose text was
//! edited is not taken; what its author has removed does not come back, whatever was merged.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};

use weir_host::error::{CommandError, ErrorKind};
use weir_host::{foreign, user_files};
use weir_records::{Body, ErrorKind as RecordErrorKind, PortError, Record, TextKey};

use super::server::{Downloaded, Page, ReceivedRecord, Server, Uploaded};

/// The folder, from the top of the project.
pub const NOTES_FOLDER: &str = ".weir/notes";
/// The address of a connection that goes through the folder, in place of that of a server.
pub const GIT: &str = "git:.weir/notes";
/// Keeps git from changing the ends of lines, after which a text would not be the one that its record names.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "* -text\n");
const MAX_FILES: usize = 20_000;
/// The largest file that is read, in bytes: the JSON of a record, and a text.
const MAX_FILE_BYTES: u64 = 3 << 20;

/// The folder of a project with the records that its clones share.
pub struct SharedFolder {
    project: PathBuf,
}

impl SharedFolder {
    pub fn of(project: &Path) -> Self {
        Self { project: project.to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.join(NOTES_FOLDER).join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), CommandError> {
        let path = self.path(name);
        if !user_files::stays_inside(&path, &self.project) {
            let message = format!("cannot write {}: it leads out of the project", path.display());
            return Err(CommandError::new(ErrorKind::Failed, message).hint("replace the link by a folder"));
        }
        user_files::write(&path, text, false)
    }

    fn remove(&self, name: &str) -> Result<(), CommandError> {
        let path = self.path(name);
        if user_files::stays_inside(&path, &self.project) { user_files::remove(&path, &[]) } else { Ok(()) }
    }

    /// Returns the names of the files that have records, in order.
    fn names(&self) -> Result<Vec<String>, CommandError> {
        let folder = self.path("");
        let failed = |error: std::io::Error| {
            CommandError::new(ErrorKind::Failed, format!("cannot read {}: {error}", folder.display()))
        };
        let files = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == IoKind::NotFound => return Ok(Vec::new()),
            files => files.map_err(failed)?,
        };
        let mut names = Vec::new();
        for file in files {
            let name = file.map_err(failed)?.file_name();
            names.extend(name.to_str().filter(|name| is_record_name(name)).map(str::to_owned));
        }
        if names.len() > MAX_FILES {
            let message = format!("{} has more than {MAX_FILES} files", folder.display());
            return Err(CommandError::new(ErrorKind::Failed, message).hint("use a team server: docs/team.md"));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Reads a file. Returns `None` if it makes no sense.
    fn read(&self, name: &str) -> Result<Option<(Record, Option<String>)>, CommandError> {
        let below = Path::new(NOTES_FOLDER).join(name);
        let Ok(bytes) = foreign::read_below(&self.project, &below, MAX_FILE_BYTES) else { return Ok(None) };
        let Ok(content) = String::from_utf8(bytes) else { return Ok(None) };
        let Some((json, text)) = parts(&content) else { return Ok(None) };
        let record = match Record::from_json(json) {
            Ok(record) if name == file_name(&record) => record,
            Err(error @ PortError { kind: RecordErrorKind::Newer, .. }) => {
                return Err(CommandError::new(ErrorKind::Failed, error.to_string()).hint("update Weir on this machine"));
            }
            _ => return Ok(None),
        };
        let is_whole = match record.body.kept() {
            Some(kept) => text.is_some_and(|text| TextKey::of(text.as_bytes()) == kept.text),
            None => true,
        };
        Ok(is_whole.then(|| (record, text.map(str::to_owned))))
    }
}

impl Server for SharedFolder {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        self.write(ATTRIBUTES.0, ATTRIBUTES.1)?;
        for json in records {
            let record = Record::from_json(json).map_err(super::outbox::broken)?;
            let text = record.body.kept().and_then(|kept| texts.get(&kept.text.to_string()));
            self.write(&file_name(&record), &written(json, text.map(String::as_str)))?;
            if let Body::Removed { record: target, .. } = &record.body {
                self.remove(&format!("{target}.md"))?;
            }
        }
        Ok(Uploaded::Taken)
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        let (mut found, mut unreadable) = (Vec::new(), 0);
        for name in self.names()? {
            match self.read(&name)? {
                Some(read) => found.push(read),
                None => unreadable += 1,
            }
        }
        let removals = found.iter().filter_map(|(record, _)| match &record.body {
            Body::Removed { record: target, .. } => Some((target.to_string(), record.author.user.clone())),
            _ => None,
        });
        let removals: HashMap<_, _> = removals.collect();
        let is_removed = |record: &Record| removals.get(&record.id.to_string()) == Some(&record.author.user);
        let (removed, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(|(record, _)| is_removed(record));
        // A merge has brought them back.
        for (record, _) in removed {
            self.remove(&file_name(&record))?;
        }
        found.sort_by_key(|(record, _)| (record.time, record.id));
        // What cannot be read has the places after the last record.
        let last = found.len() as u64;
        let next = last + unreadable;
        let positions = last + 1..=next;
        let records = (1..).zip(found).filter(|(position, _)| *position > after);
        let received =
            records.map(|(position, (record, text))| ReceivedRecord { position, record, text, opened: None });
        let records = received.collect();
        Ok(Downloaded::Page(Page { records, unreadable: positions.collect(), next, more: false }))
    }

    fn keeps_order(&self) -> bool {
        false
    }
}

/// Returns the name of the file that has a record.
fn file_name(record: &Record) -> String {
    let kind = if record.body.kept().is_some() { "md" } else { "json" };
    format!("{}.{kind}", record.id)
}

fn is_record_name(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '-';
    let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".json"));
    stem.is_some_and(|stem| stem.chars().all(is_part))
}

/// Returns the content of a file: the record, or the record in a comment above its text.
fn written(json: &str, text: Option<&str>) -> String {
    match text {
        // In JSON, the sign occurs only within strings.
        Some(text) => format!("<!-- {} -->\n\n{text}\n", json.replace('>', "\\u003e")),
        None => format!("{json}\n"),
    }
}

/// Returns the record in a file, and the text below it.
fn parts(content: &str) -> Option<(&str, Option<&str>)> {
    match content.strip_prefix("<!-- ") {
        Some(rest) => {
            let (json, text) = rest.split_once(" -->\n\n")?;
            Some((json, Some(text.strip_suffix('\n')?)))
        }
        None => Some((content, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_back_what_was_written() {
        for (json, text) in [
            ("{\"title\":\"a --> b\"}", Some("one\n\ntwo")),
            ("{}", Some("")),
            ("{}", Some("ends -->\n\nlike a comment\n")),
        ] {
            let content = written(json, text);
            let (read, read_text) = parts(&content).unwrap();
            let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
            assert_eq!((value(read), read_text), (value(json), text), "{content}");
        }
        assert_eq!(parts("{}\n"), Some(("{}\n", None)));
        assert_eq!(parts("<!-- {} -->\r\n\r\ntext\r\n"), None);
    }

    #[test]
    fn only_files_of_records_are_read() {
        for (name, expected) in
            [("0a-1.md", true), ("0a-1.json", true), (".gitattributes", false), ("../a.md", false), ("a.txt", false)]
        {
            assert_eq!(is_record_name(name), expected, "{name}");
        }
    }
}

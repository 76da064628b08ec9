//! Checks the files that clients read at the start of a session: their size, what of them is not read, and paths in
//! them that lead nowhere.
//!
//! Invariants: files are read through the foreign reader, bounded; a path in a project's file is looked up only if it
//! stays in the project; what is not checked is named.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use weir_context::Context;
use weir_core::wording::{counted, one_line};
use weir_host::error::CommandError;
use weir_host::foreign::{self, MAX_SETTINGS_BYTES};
use weir_knowledge::indexing::{NamedFile, NamedFiles};

use super::Check;

const BUILT_IN: &str = include_str!("memory.toml");
/// How the report calls such a file.
const NAME: &str = "memory file";
const MAX_NAMED_PATHS: usize = 3;
const MAX_PATH_CHARS: usize = 80;
const MAX_IMPORTS: usize = 50;
/// The most files of such a folder that are searched.
const MAX_NOTES: usize = 200;
/// The endings by which a word after `@` is taken for the path of a file rather than for a name.
const ENDINGS: [&str; 5] = [".md", ".mdc", ".txt", ".json", ".toml"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFiles {
    /// The day on which the limits were last compared with their sources.
    checked: String,
    files: Vec<KnownFile>,
    folders: Vec<KnownFolder>,
    notes: Vec<NotesFolder>,
}

/// A folder in which a client keeps what it has learned, to read it when it is needed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotesFolder {
    base: FileBase,
    path: String,
}

/// A folder of files that a client describes to its model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownFolder {
    pub(super) readers: Vec<String>,
    pub(super) kind: FolderKind,
    pub(super) base: FileBase,
    pub(super) path: String,
    /// The name of the file in each folder of it; without one, the files are in the folder itself.
    pub(super) file: Option<String>,
}

/// What the files of such a folder describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FolderKind {
    Subagents,
    Skills,
}

/// A file that a client reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFile {
    client: String,
    readers: Vec<String>,
    base: FileBase,
    path: String,
    #[serde(default)]
    imports: bool,
    max_lines: Option<usize>,
    max_bytes: Option<usize>,
    /// The client that has the limit, if others read the file too.
    reader: Option<String>,
    source: Option<String>,
}

/// The folder that a path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileBase {
    Project,
    Home,
    Memory,
}

/// Returns what there is to say of each such file that exists.
pub(super) fn check(context: &Context) -> Vec<Check> {
    let known = match known() {
        Ok(known) => known,
        Err(error) => return vec![Check::bad(NAME, error)],
    };
    let found = known.files.iter().filter_map(|file| {
        let (name, base, read) = read(context, file)?;
        match read {
            Ok(text) => Some(describe(file, &name, &text, &base, &known.checked)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(Check::good(NAME, format!("{name} ({}): not checked: {error}", file.client))),
        }
    });
    found.collect()
}

/// Returns where the rules and memories are that clients keep for a project, whether they exist or not.
pub(crate) fn places(context: &Context) -> NamedFiles {
    let Ok(known) = known() else { return NamedFiles::default() };
    let mut places = NamedFiles::default();
    for file in &known.files {
        let Some(base) = folder_of(context, file.base) else { continue };
        let label = (file.base != FileBase::Project).then(|| short(context, &base, &file.path));
        places.files.push(NamedFile { path: base.join(&file.path), label });
    }
    for folder in &known.notes {
        let Some(base) = folder_of(context, folder.base) else { continue };
        let (folder, label) = (base.join(&folder.path), short(context, &base, &folder.path));
        let label = label.trim_end_matches('/').to_owned();
        let files = folder.read_dir().into_iter().flatten().flatten().map(|file| file.path());
        let is_text = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
        for path in files.filter(is_text).take(MAX_NOTES) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let file = NamedFile { path, label: Some(format!("{label}/{name}")) };
            if places.files.iter().all(|place| place.path != file.path) {
                places.files.push(file);
            }
        }
        places.folders.push(label);
    }
    places
}

/// A memory file, as the first request of its clients has it.
pub(super) struct MemoryFile {
    pub(super) readers: Vec<String>,
    pub(super) name: String,
    /// The tokens that clients read of it, with the files that it imports.
    pub(super) tokens: usize,
    pub(super) imports: usize,
    pub(super) in_project: bool,
}

/// Returns the memory files that exist, and the folders of subagents and skills that may.
pub(super) fn files_and_folders(context: &Context) -> (Vec<MemoryFile>, Vec<KnownFolder>) {
    let Ok(known) = known() else { return Default::default() };
    let found = known.files.into_iter().filter_map(|file| {
        let (name, base, read) = read(context, &file)?;
        let text = read.ok()?;
        let bytes = text.floor_char_boundary(file.max_bytes.unwrap_or(usize::MAX).min(text.len()));
        let lines = file.max_lines.and_then(|most| text.match_indices('\n').nth(most)).map_or(bytes, |(at, _)| at);
        let text = &text[..bytes.min(lines)];
        let mut imported = BTreeMap::new();
        if file.imports {
            let folder = base.join(&file.path).parent().map_or_else(|| base.clone(), Path::to_owned);
            import(text, &folder, file.base, &base, &mut imported);
        }
        Some(MemoryFile {
            readers: file.readers,
            name,
            tokens: weir_tokens::count(text) + imported.values().sum::<usize>(),
            imports: imported.len(),
            in_project: file.base != FileBase::Home,
        })
    });
    (found.collect(), known.folders)
}

/// Adds the tokens of the files that a text imports, and of those that they import.
fn import(text: &str, folder: &Path, kind: FileBase, base: &Path, imported: &mut BTreeMap<PathBuf, usize>) {
    for path in paths_in(text, true).into_iter().filter(|path| path.is_import) {
        let Some(full) = plain(&folder.join(&path.path)) else { continue };
        let read = match (kind, full.strip_prefix(base)) {
            (FileBase::Project, Ok(below)) => foreign::read_below(base, below, MAX_SETTINGS_BYTES),
            (FileBase::Project, Err(_)) => continue,
            (FileBase::Home | FileBase::Memory, _) => foreign::read_user_file(&full, MAX_SETTINGS_BYTES),
        };
        let Ok(bytes) = read else { continue };
        if imported.len() >= MAX_IMPORTS || imported.contains_key(&full) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        imported.insert(full.clone(), weir_tokens::count(&text));
        import(&text, full.parent().unwrap_or(folder), kind, base, imported);
    }
}

/// Returns the project's own memory files, with their texts.
pub(super) fn of_project(context: &Context) -> Vec<(String, String)> {
    let files = known().map(|known| known.files).unwrap_or_default();
    let files = files.iter().filter(|file| file.base == FileBase::Project);
    files.filter_map(|file| read(context, file)).filter_map(|(name, _, read)| Some((name, read.ok()?))).collect()
}

fn known() -> Result<KnownFiles, CommandError> {
    toml::from_str(BUILT_IN).map_err(|error| CommandError::broken(&error.to_string()))
}

/// Reads a file, and returns its name for people, the folder that its path starts from, and its text.
fn read(context: &Context, file: &KnownFile) -> Option<(String, PathBuf, io::Result<String>)> {
    let base = folder_of(context, file.base)?;
    let read = match file.base {
        FileBase::Project => foreign::read_below(&base, Path::new(&file.path), MAX_SETTINGS_BYTES),
        FileBase::Home | FileBase::Memory => foreign::read_user_file(&base.join(&file.path), MAX_SETTINGS_BYTES),
    };
    let name = if file.base == FileBase::Project { file.path.clone() } else { short(context, &base, &file.path) };
    Some((name, base, read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

pub(super) fn folder_of(context: &Context, base: FileBase) -> Option<PathBuf> {
    let root = &context.project().root;
    Some(match base {
        FileBase::Project => root.clone(),
        FileBase::Home => context.env().home.clone()?,
        FileBase::Memory => context.env().home.as_ref()?.join(notes_folder(root)),
    })
}

/// Returns the folder, below the home folder, in which Claude Code keeps its notes about a project.
fn notes_folder(root: &Path) -> PathBuf {
    let name = root.display().to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    Path::new(".claude/projects").join(name).join("memory")
}

pub(super) fn short(context: &Context, base: &Path, path: &str) -> String {
    let full = base.join(path);
    let below = context.env().home.as_ref().and_then(|home| full.strip_prefix(home).ok());
    below.map_or_else(|| full.display().to_string(), |below| format!("~/{}", below.display()))
}

fn describe(file: &KnownFile, name: &str, text: &str, base: &Path, checked: &str) -> Check {
    let size = format!(
        "{name} ({}): {}, {}",
        file.client,
        counted(text.lines().count(), "line", "lines"),
        counted(weir_tokens::count(text), "token", "tokens"),
    );
    let folder = base.join(&file.path).parent().map_or_else(|| base.to_owned(), Path::to_owned);
    let paths = paths_in(text, file.imports);
    let dead: Vec<&NamedPath> = paths.iter().filter(|path| path.is_dead(&folder, base, file.base)).collect();
    let unread = unread(file, text, checked);
    if dead.is_empty() && unread.is_none() {
        return Check::good(NAME, size);
    }
    let fix =
        if unread.is_some() { "shorten the file, or move the rest to files that it names" } else { "correct them" };
    let dead = (!dead.is_empty()).then(|| {
        let shown: Vec<String> = dead.iter().take(MAX_NAMED_PATHS).map(|path| path.shown()).collect();
        let more = dead.len().saturating_sub(MAX_NAMED_PATHS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} nowhere: {}{more}", counted(dead.len(), "path leads", "paths lead"), shown.join(", "))
    });
    let wrong: Vec<String> = unread.into_iter().chain(dead).collect();
    Check::wrong(NAME, format!("{size}; {}", wrong.join("; ")), fix)
}

/// Returns which lines the client does not read, if its limit is known and the file is longer.
fn unread(file: &KnownFile, text: &str, checked: &str) -> Option<String> {
    let by_bytes = file.max_bytes.filter(|most| text.len() > *most).map(|most| {
        let end = text.floor_char_boundary(most);
        (text[..end].lines().count(), format!("{most} bytes"))
    });
    let lines = text.lines().count();
    let by_lines = file.max_lines.filter(|most| lines > *most).map(|most| (most, format!("{most} lines")));
    let (last, limit) = by_bytes.into_iter().chain(by_lines).min_by_key(|(last, _)| *last)?;
    let reader = file.reader.as_deref().unwrap_or(&file.client);
    let source = file.source.as_deref().unwrap_or("unknown source");
    Some(format!("{reader} reads {limit} of it, nothing after line {last} ({source}, checked {checked})"))
}

#[derive(Debug, PartialEq, Eq)]
struct NamedPath {
    path: String,
    /// The line, counted from one.
    line: usize,
    /// Whether the client puts the text of that file in its place.
    is_import: bool,
}

impl NamedPath {
    fn shown(&self) -> String {
        format!("{} (line {})", one_line(&self.path, MAX_PATH_CHARS), self.line)
    }

    /// Whether the path leads nowhere. One that a project's file must not make us look up is not dead.
    fn is_dead(&self, folder: &Path, base: &Path, kind: FileBase) -> bool {
        let Some(full) = plain(&folder.join(&self.path)) else { return false };
        let may_look = kind != FileBase::Project || full.starts_with(base);
        may_look && std::fs::symlink_metadata(full).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }
}

/// Returns a path without `.` and `..`, by its text alone.
pub(super) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Returns the relative paths that a text names by links and, if the client knows them, by imports. Code is left out.
fn paths_in(text: &str, imports: bool) -> Vec<NamedPath> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let imported = prose.split_whitespace().filter_map(|word| word.strip_prefix('@')).filter(|_| imports);
        let imported = imported.map(|word| word.trim_end_matches([',', ';', ':', ')'])).filter(|word| is_import(word));
        let paths = links.map(|link| (link, false)).chain(imported.map(|word| (word, true)));
        found.extend(paths.filter(|(path, _)| is_relative(path)).map(|(path, is_import)| {
            let path = path.split('#').next().unwrap_or(path).to_owned();
            NamedPath { path, line: at + 1, is_import }
        }));
    }
    found
}

fn is_import(word: &str) -> bool {
    word.starts_with("./") || word.starts_with("../") || ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a link is a path below or beside its file, and not an address, an anchor or a pattern.
pub(super) fn is_relative(link: &str) -> bool {
    !link.is_empty() && !link.starts_with(['/', '~', '#', '<']) && !link.contains([':', '*', '{', '$', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<(String, usize)> {
        paths_in(text, true).into_iter().map(|path| (path.path, path.line)).collect()
    }

    #[test]
    fn links_and_imports_are_found_outside_code_only() {
        let text = "See [a](docs/a.md#top) and [web](https://x.y/z), [here](#top).\n\
                    @docs/b.md and @types/node, me@x.org\n\
                    `@docs/c.md`\n```\n@docs/d.md\n```\n@./e";
        let expected = [("docs/a.md", 1), ("docs/b.md", 2), ("./e", 7)];
        assert_eq!(named(text), expected.map(|(path, line)| (path.to_owned(), line)));
    }

    fn checked(text: &str, edit: impl FnOnce(&mut KnownFile)) -> Check {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("docs")).unwrap();
        std::fs::write(place.path().join("docs/a.md"), "a").unwrap();
        let mut file = KnownFile {
            client: "Claude Code".to_owned(),
            readers: vec!["claude".to_owned()],
            base: FileBase::Project,
            path: "CLAUDE.md".to_owned(),
            imports: true,
            max_lines: None,
            max_bytes: None,
            reader: None,
            source: Some("its documentation".to_owned()),
        };
        edit(&mut file);
        describe(&file, "CLAUDE.md", text, place.path(), "2026-11-17")
    }

    #[test]
    fn dead_paths_are_named_and_those_outside_the_project_are_not_looked_up() {
        let good = checked("@docs/a.md and [a](./docs/../docs/a.md), @../../outside.md\n", |_| ());
        assert!(good.good, "{}", good.text);
        let bad = checked("one\n@docs/gone.md\n[x](gone.md)\n", |_| ());
        assert!(!bad.good);
        let named = "2 paths lead nowhere: docs/gone.md (line 2), gone.md (line 3)";
        assert!(bad.text.ends_with(named), "{}", bad.text);
    }

    #[test]
    fn what_is_past_the_limit_is_said_with_its_source() {
        let text = "line\n".repeat(300);
        let bad = checked(&text, |file| file.max_lines = Some(200));
        assert!(bad.text.contains("Claude Code reads 200 lines of it, nothing after line 200"), "{}", bad.text);
        assert!(bad.text.contains("its documentation, checked 2026-11-17"), "{}", bad.text);
        assert!(checked(&text, |file| file.max_lines = Some(300)).good);
        assert!(!checked(&text, |file| file.max_bytes = Some(1_000)).good);
    }

    #[test]
    fn the_built_in_data_can_be_read_and_every_limit_has_a_source() {
        let known: KnownFiles = toml::from_str(BUILT_IN).unwrap();
        let readers = known.files.iter().flat_map(|file| &file.readers);
        for reader in readers.chain(known.folders.iter().flat_map(|folder| &folder.readers)) {
            assert!(weir_clients::find(reader).is_some(), "{reader}");
        }
        for file in &known.files {
            assert_eq!(file.source.is_some(), file.max_lines.or(file.max_bytes).is_some(), "{}", file.path);
        }
    }
}

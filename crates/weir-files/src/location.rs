//! Finds the file that a call names, and checks whether it may be used.
//!
//! Invariant: the path of a [`FileLocation`] contains no link when it is created. [`Folder`](super::Folder) walks the
//! path again without following links, so a link that is put there later has no effect.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use weir_context::Context;
use weir_context::permission::{self, Consent, Deed};
use weir_core::wording::name;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::os;
use weir_policy::gate::{self, Action, Request, Target};

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access<'a> {
    Read,
    /// Change it as the text says.
    Change(&'a str),
    /// Change it, or make it, with this text.
    Create(&'a str),
}

/// The location of a file that exists or could be created.
#[derive(Debug, Clone)]
pub struct FileLocation {
    /// The path, without links.
    pub full: PathBuf,
    /// The path relative to the project, by which a session knows the file. See [`FileLocation::label`].
    pub shown: String,
    /// The face of the call, whose words hints about the file use.
    pub face: Face,
}

impl FileLocation {
    /// Returns the path as answers and questions show it: one line, quoted if it could pass for more than a path.
    pub fn label(&self) -> String {
        name(&self.shown, usize::MAX)
    }

    pub fn folder(&self) -> &Path {
        self.full.parent().unwrap_or(Path::new("/"))
    }

    pub fn name(&self) -> &OsStr {
        self.full.file_name().unwrap_or_default()
    }
}

/// Finds a file, if the tool may access it in this way.
pub async fn permit(
    context: &Context,
    tool: &str,
    named: &str,
    access: Access<'_>,
) -> Result<FileLocation, CommandError> {
    if named.trim().is_empty() {
        return Err(CommandError::usage("no file given"));
    }
    let (asked, place) = find(context, named, access)?;
    let is_read_only = place.full.symlink_metadata().is_ok_and(|about| os::is_read_only(&about));
    let target = Target { named: &asked, path: &place.full, is_read_only };
    let (deed, kind, about) = match access {
        Access::Read => (Deed::Read, gate::Access::Read, place.label()),
        Access::Change(text) | Access::Create(text) => {
            (Deed::Change, gate::Access::Change, format!("{}\n\n{text}", place.label()))
        }
    };
    let request = Request { tool: &permission::client_name(tool), action: Action::File(target, kind) };
    permission::require(context, request, Consent { deed, details: String::new(), about: &about }).await?;
    Ok(place)
}

fn find(context: &Context, named: &str, access: Access<'_>) -> Result<(PathBuf, FileLocation), CommandError> {
    let (here, root) = (&context.env().folder, &context.project().root);
    // Answers name files relative to the root of the project.
    let candidates = [here.join(named), root.join(named)];
    let mut missing = None;
    for asked in &candidates {
        match os::real_path(asked) {
            Ok(full) if full.is_dir() => {
                return Err(
                    CommandError::usage(format!("{} is a folder", name(named, usize::MAX))).hint("name a file in it")
                );
            }
            Ok(full) => return Ok((asked.clone(), place(context, full)?)),
            Err(error) if is_missing(&error) => missing = missing.or(Some(asked)),
            Err(error) => {
                return Err(CommandError::new(
                    ErrorKind::Failed,
                    format!("cannot use {}: {error}", name(named, usize::MAX)),
                ));
            }
        }
    }
    match (access, missing) {
        (Access::Create(_), Some(asked)) => Ok((asked.clone(), place(context, not_yet(asked, named)?)?)),
        _ => Err(CommandError::new(ErrorKind::NotFound, format!("no such file: {}", name(named, usize::MAX)))
            .hint(format!("paths are relative to {}", here.display()))),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns where a missing file would be: below the nearest existing folder.
fn not_yet(asked: &Path, named: &str) -> Result<PathBuf, CommandError> {
    let refused = |why: &str| CommandError::usage(format!("cannot create {}: {why}", name(named, usize::MAX)));
    let mut rest = Vec::new();
    let mut above = asked;
    let folder = loop {
        // Through a broken link, the file would be created somewhere else.
        if above.symlink_metadata().is_ok_and(|about| about.is_symlink()) && !above.exists() {
            return Err(refused("its path contains a broken link"));
        }
        match os::real_path(above) {
            Ok(folder) if folder.is_dir() => break folder,
            Ok(_) => return Err(refused("part of its path is a file")),
            Err(_) => {}
        }
        match above.components().next_back() {
            Some(Component::Normal(name)) => rest.push(name.to_owned()),
            _ => return Err(refused("its path goes through a folder that does not exist")),
        }
        above = above.parent().unwrap_or(Path::new("/"));
    };
    Ok(rest.iter().rev().fold(folder, |path, name| path.join(name)))
}

fn place(context: &Context, full: PathBuf) -> Result<FileLocation, CommandError> {
    let root = &context.project().root;
    let root = os::real_path(root).unwrap_or_else(|_| root.clone());
    let shown = full.strip_prefix(&root).unwrap_or(&full);
    let shown = shown.to_str().ok_or_else(|| CommandError::usage("the file's name is not valid UTF-8"))?.to_owned();
    Ok(FileLocation { full, shown, face: context.face() })
}

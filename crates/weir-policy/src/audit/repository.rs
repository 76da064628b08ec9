//! What git takes for a repository, by its own rule: a folder with a `HEAD` that has `objects` and `refs`, or that
//! names another folder for them in `commondir`. Whether these are files, folders or links does not matter to git.

use std::path::Path;

/// Entries that make a folder with a `HEAD` a repository.
const PARTS: [&str; 3] = ["objects", "refs", "commondir"];

/// Paths below a repository's own folder that run code.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("config", "settings of git that run code"),
    ("config.worktree", "settings of git that run code"),
    ("commondir", "another place for git's settings and hooks"),
    ("hooks", "hooks of git"),
    ("info/attributes", "filters that git runs"),
    ("objects/info/alternates", "another place for git's objects"),
];

/// Entries whose presence decides whether a folder is a repository.
pub(crate) const DECIDING: [&str; 4] = ["HEAD", PARTS[0], PARTS[1], PARTS[2]];

/// Returns whether a folder is a repository to git. `has` says whether it has an entry of a name, of any type.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

pub(crate) fn is_repository_at(folder: &Path) -> bool {
    is_repository(|name| folder.join(name).symlink_metadata().is_ok())
}

/// Returns whether writing a file may make a folder around it a repository, or change what git runs in one.
pub(crate) fn is_part_of_repository(path: &Path, project: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(project));
    folders.any(|folder| {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let Ok(below) = path.strip_prefix(folder) else { return false };
        let is = |name: &str| below.as_os_str().eq_ignore_ascii_case(name);
        let is_in = |place: &str| is_at(below, Path::new(place));
        // Folders called `config`, `hooks` or `objects` are common, so on their own they mean nothing.
        let would_make = PARTS.iter().any(|part| has(part)) && ["HEAD", "config", "commondir"].into_iter().any(is);
        let would_complete = has("HEAD") && PARTS.into_iter().any(is_in);
        would_make || would_complete || (is_repository(has) && SETTINGS.iter().any(|(place, _)| is_in(place)))
    })
}

/// Returns whether a path begins with another, whatever the case of its letters.
fn is_at(path: &Path, place: &Path) -> bool {
    let mut parts = path.iter();
    place.iter().all(|wanted| parts.next().is_some_and(|part| part.eq_ignore_ascii_case(wanted)))
}

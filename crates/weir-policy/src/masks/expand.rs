//! Turns rules and defaults into paths that exist.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::GlobBuilder;

use super::secrets::{DEPENDENCIES, ENVIRONMENTS, FOLDERS, HOME, PROJECT, PUBLIC, SYSTEM, Secret, VENDORED};
use super::{EntryKind, MaskProblem, Masks, Tree, interest, is_protected};
use crate::audit::is_looked_into;
use crate::rules::{PathPattern, Places, Rules, Subject, Verdict, denied_programs};

pub(super) fn expand(tree: &mut Tree, rules: &Rules, places: &Places, now: SystemTime) -> Masks {
    let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let places = Places {
        home: canonical(&places.home),
        project: canonical(&places.project),
        folder: canonical(&places.folder),
    };
    let mut masks = Masks { programs: denied_programs(rules), ..Masks::default() };
    if let Err(error) = tree.refresh(&places.project, &interest(rules), now) {
        masks.problems.push(MaskProblem { path: places.project.clone(), wrong: format!("{error}."), refuse: true });
        return masks;
    }
    let mut work = Work { tree, places: &places, now, masks, hidden: BTreeSet::new(), read_only: BTreeSet::new() };
    work.defaults(rules);
    work.denials(rules);
    work.finish()
}

struct Work<'a> {
    tree: &'a mut Tree,
    places: &'a Places,
    now: SystemTime,
    masks: Masks,
    hidden: BTreeSet<PathBuf>,
    read_only: BTreeSet<PathBuf>,
}

impl Work<'_> {
    /// The lists of secrets and of names that run code later.
    fn defaults(&mut self, rules: &Rules) {
        let places = self.places;
        let lifted = |path: &Path| rules.readable().iter().any(|pattern| pattern.covers(path, places));
        let mut hidden: Vec<PathBuf> = below_all(&places.home, HOME.iter().map(|secret| secret.pattern));
        let system = SYSTEM.iter().map(|secret| PathBuf::from(secret.pattern));
        hidden.extend(system.filter(|path| can_be_read(path)));
        let mut protected = Vec::new();
        for (folder, entry) in self.tree.kept() {
            let name = entry.name.to_string_lossy();
            let dependency = in_dependencies(folder, &places.project);
            let is_hidden = match entry.kind {
                EntryKind::Folder => !dependency && is_secret_folder(&folder.join(&entry.name)),
                _ if dependency => in_vendored(folder, &places.project) && is_listed(ENVIRONMENTS, &name),
                _ => is_secret(&name),
            };
            if is_hidden {
                hidden.push(folder.join(&entry.name));
            }
            // Protecting the outermost folder protects what is in it.
            if is_protected(folder, &name) && is_looked_into(folder, &places.project) {
                protected.push(folder.join(&entry.name));
            }
        }
        // What cannot be listed could hold anything, and a run could make it readable.
        hidden.extend_from_slice(self.tree.unreadable());
        for path in hidden.into_iter().filter(|path| !lifted(path)) {
            self.hide(&path, Origin::Default);
        }
        for path in protected {
            self.protect(&path);
        }
    }

    /// The user's rules about reading and changing.
    fn denials(&mut self, rules: &Rules) {
        for rule in rules.iter().filter(|rule| rule.verdict > Verdict::Allow) {
            match &rule.subject {
                // All reading is what no run can do without: the verdict asks, and nothing is masked.
                Subject::Read(pattern) if pattern.is_everything() => {}
                Subject::Read(pattern) => {
                    for path in self.matching(pattern) {
                        self.hide(&path, Origin::Rule);
                    }
                }
                Subject::Edit(pattern) if pattern.is_everything() => self.protect(&self.places.project.clone()),
                Subject::Edit(pattern) => {
                    for path in self.matching(pattern) {
                        self.protect(&path);
                    }
                }
                Subject::Command(_) | Subject::Tool(_) => {}
            }
        }
    }

    /// What exists of a pattern.
    fn matching(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        if let Some(exact) = pattern.exact(self.places) {
            return exact.into_iter().filter(|path| fs::symlink_metadata(path).is_ok()).collect();
        }
        let places = self.places;
        if let Some(levels) = pattern.levels() {
            let levels = levels.join("/");
            let found = pattern.starts(places).into_iter().flat_map(|start| below(&start, &levels));
            return found.filter(|path| pattern.matches(path, places)).collect();
        }
        let mut found = Vec::new();
        for start in self.roots(pattern) {
            match self.tree.other(&start, self.now) {
                Ok(tree) => {
                    let paths = tree.kept().map(|(folder, entry)| folder.join(&entry.name));
                    found.extend(paths.filter(|path| pattern.matches(path, places)));
                }
                Err(error) => {
                    let wrong = format!("{error}, so a rule about what is in it cannot be kept.");
                    self.masks.problems.push(MaskProblem { path: start, wrong, refuse: true });
                }
            }
        }
        found
    }

    /// The folders to look through for a pattern that goes to any depth.
    fn roots(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        let places = self.places;
        let mut roots = BTreeSet::new();
        for start in pattern.starts(places) {
            if start.starts_with(&places.project) {
                roots.insert(places.project.clone());
            } else if start == Path::new("/") {
                // The whole machine is too much to look through before every run.
                self.problem(start, "A rule about the whole machine is kept in the project and at home only.", false);
                roots.extend([places.project.clone(), places.home.clone()]);
            } else if fs::symlink_metadata(&start).is_ok() {
                roots.insert(start);
            }
        }
        roots.into_iter().collect()
    }

    /// Hides a path. A link cannot be mounted over, so its target is hidden, where that is ours to hide.
    fn hide(&mut self, path: &Path, origin: Origin) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let Some(real) = real_path(path) else { return };
        if !metadata.is_symlink() {
            if self.places.project.starts_with(&real) {
                self.problem(real.clone(), "A rule hides the whole project, so nothing can run in it.", true);
            }
            self.hidden.insert(real);
            return;
        }
        let Ok(target) = fs::canonicalize(path) else { return };
        let near = target.starts_with(&self.places.project) || target.starts_with(&self.places.home);
        if self.places.project.starts_with(&target) || self.places.home.starts_with(&target) {
            self.problem(real, "It is a link to a folder around the project or home, which cannot be hidden.", true);
        } else if near || origin == Origin::Rule {
            self.hidden.insert(target);
        }
    }

    fn protect(&mut self, path: &Path) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let real = if metadata.is_symlink() { fs::canonicalize(path).ok() } else { real_path(path) };
        self.read_only.extend(real);
    }

    fn problem(&mut self, path: PathBuf, wrong: &str, refuse: bool) {
        self.masks.problems.push(MaskProblem { path, wrong: wrong.to_owned(), refuse });
    }

    fn finish(mut self) -> Masks {
        self.masks.hidden = outermost(self.hidden);
        self.masks.read_only = outermost(self.read_only);
        let linked = self.masks.hidden.iter().filter(|path| has_second_name(path)).cloned();
        self.masks.hard_linked = linked.collect();
        self.masks
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Default,
    Rule,
}

/// A path with its parent made canonical, and its own name kept.
fn real_path(path: &Path) -> Option<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return fs::canonicalize(path).ok() };
    fs::canonicalize(parent).ok().map(|parent| parent.join(name))
}

/// The paths that lie below no other of them.
pub(super) fn outermost(paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        // Sorted by parts, a folder comes right before all that is in it.
        if !kept.last().is_some_and(|last| path.starts_with(last)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(unix)]
fn has_second_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
}

#[cfg(not(unix))]
fn has_second_name(_: &Path) -> bool {
    false
}

/// Whether a folder is one that tools fill, or lies in one.
pub(crate) fn in_dependencies(folder: &Path, root: &Path) -> bool {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    below.iter().any(|part| DEPENDENCIES.iter().any(|name| part == *name))
}

/// Whether a folder lies in none of those that tools fill, but for [`VENDORED`].
fn in_vendored(folder: &Path, root: &Path) -> bool {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let filled = |part: &OsStr| DEPENDENCIES.iter().any(|name| part == *name);
    !below.iter().any(|part| filled(part) && !VENDORED.iter().any(|name| part == *name))
}

/// Whether a path is a secret by its name or by that of a folder above it in the project, as [`super::Masks`] has it.
pub(super) fn is_secret_path(path: &Path, project: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let name = name.to_string_lossy();
    if !path.starts_with(project) {
        return is_secret(&name);
    }
    if in_dependencies(folder, project) {
        return in_vendored(folder, project) && is_listed(ENVIRONMENTS, &name);
    }
    let mut folders = path.ancestors().take_while(|above| *above != project);
    is_secret(&name) || folders.any(is_secret_folder)
}

fn is_secret(name: &str) -> bool {
    is_listed(ENVIRONMENTS, name) || is_listed(PROJECT, name)
}

fn is_listed(list: &[Secret], name: &str) -> bool {
    let name = name.to_lowercase();
    let matches = |pattern: &str| stars_match(pattern, &name);
    list.iter().any(|secret| matches(secret.pattern)) && !PUBLIC.iter().any(|pattern| matches(pattern))
}

/// Whether a folder holds secrets. A Python environment may have the same name.
fn is_secret_folder(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let is_environment = || ["pyvenv.cfg", "bin/python", "Scripts", "conda-meta"].iter().any(|n| path.join(n).exists());
    FOLDERS.iter().any(|folder| folder.pattern == name) && path.is_dir() && !is_environment()
}

/// Whether a file can be opened, or a folder listed.
fn can_be_read(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::read_dir(path).is_ok(),
        Ok(about) if about.is_file() => fs::File::open(path).is_ok(),
        _ => false,
    }
}

/// Whether a name matches a pattern in which `*` stands for any text; both in small letters.
pub(crate) fn stars_match(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What exists of many patterns below a folder, most of which do not exist.
pub(super) fn below_all<'a>(base: &Path, patterns: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    // Looking for every one of them takes longer than to list the folder once. One that cannot be listed says nothing.
    let listed = fs::read_dir(base).ok();
    let names: Option<HashSet<OsString>> = listed.map(|all| all.flatten().map(|entry| entry.file_name()).collect());
    let may_be = |pattern: &&str| match (&names, pattern.split('/').next()) {
        (Some(names), Some(first)) if !first.contains('*') => names.contains(OsStr::new(first)),
        _ => true,
    };
    patterns.filter(may_be).flat_map(|pattern| below(base, pattern)).collect()
}

/// What exists of a pattern below a folder, level by level.
pub(super) fn below(base: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![base.to_path_buf()];
    for part in pattern.split('/') {
        found = found.into_iter().flat_map(|folder| named(&folder, part)).collect();
    }
    found
}

fn named(folder: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains(['*', '?', '[', '{', '\\']) {
        let path = folder.join(part);
        return if fs::symlink_metadata(&path).is_ok() { vec![path] } else { Vec::new() };
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    // A name with stars needs no glob, which takes longer to make than to use.
    if !part.contains(['?', '[', '{', '\\']) && part != "**" {
        return names.filter(|name| stars_match(part, &name.to_string_lossy())).map(|name| folder.join(name)).collect();
    }
    let Ok(glob) = GlobBuilder::new(part).literal_separator(true).build() else { return Vec::new() };
    let glob = glob.compile_matcher();
    names.filter(|name| glob.is_match(name)).map(|name| folder.join(name)).collect()
}

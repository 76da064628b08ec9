//! Turns rules and defaults into existing paths.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::below::{Listings, below_all};
use super::secrets::{DEPENDENCIES, ENVIRONMENTS, FOLDERS, HOME, PROJECT, PUBLIC, SYSTEM, Secret, VENDORED};
use super::{EntryKind, MaskProblem, Masks, Tree, interest, is_protected};
use crate::audit::{REPOSITORY_SETTINGS, is_looked_into, is_repository_at};
use crate::names::stars_match;
use crate::rules::{PathPattern, PathRules, Places, Rule, Rules, Subject, Verdict, denied_programs};

pub(super) fn expand(tree: &mut Tree, rules: &Rules, places: &Places, now: SystemTime) -> Masks {
    let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let places = Places {
        home: canonical(&places.home),
        project: canonical(&places.project),
        folder: canonical(&places.folder),
    };
    let mut masks = Masks { programs: denied_programs(rules), ..Masks::default() };
    if rules.iter().any(is_deep_denial) {
        // A denial at any depth requires a search at any depth.
        tree.look_at_nearest(None);
    }
    if let Err(error) = tree.refresh(&places.project, &interest(rules), now) {
        masks.problems.push(MaskProblem { path: places.project.clone(), wrong: format!("{error}."), refuse: true });
        return masks;
    }
    masks.left_out = tree.left_out();
    let mut builder = MaskBuilder {
        tree,
        places: &places,
        now,
        listings: Listings::default(),
        real_folders: HashMap::new(),
        masks,
        hidden: BTreeSet::new(),
        read_only: BTreeSet::new(),
    };
    builder.defaults(rules);
    builder.denials(rules);
    builder.finish()
}

struct MaskBuilder<'a> {
    tree: &'a mut Tree,
    places: &'a Places,
    now: SystemTime,
    listings: Listings,
    /// Folders without their links, or `None` for those that cannot be reached.
    real_folders: HashMap<PathBuf, Option<PathBuf>>,
    masks: Masks,
    hidden: BTreeSet<PathBuf>,
    read_only: BTreeSet<PathBuf>,
}

impl MaskBuilder<'_> {
    /// Applies the default lists of secrets and of names that run code later.
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
            // Protecting the outermost folder protects its contents.
            if is_protected(folder, &name) && is_looked_into(folder, &places.project) {
                protected.push(folder.join(&entry.name));
            }
            // A bare repository, or one whose work tree names it in a `.git` file.
            if name.eq_ignore_ascii_case("HEAD") && is_repository_at(folder) {
                protected.extend(REPOSITORY_SETTINGS.iter().map(|(place, _)| folder.join(place)));
            }
        }
        // A folder that cannot be listed could contain anything, and a run could make it readable.
        hidden.extend_from_slice(self.tree.unreadable());
        for path in hidden.into_iter().filter(|path| !lifted(path)) {
            self.hide(&path, MaskOrigin::Default);
        }
        for path in protected {
            self.protect(&path);
        }
    }

    /// Applies the user's rules about reading and changing.
    fn denials(&mut self, rules: &Rules) {
        let mut deep: BTreeSet<PathBuf> = BTreeSet::new();
        for rule in rules.iter().filter(|rule| rule.verdict > Verdict::Allow) {
            match &rule.subject {
                // No run works without any reading, so nothing is masked and the verdict asks instead.
                Subject::Read(pattern) if pattern.is_everything() => {}
                Subject::Edit(pattern) if pattern.is_everything() => self.protect(&self.places.project.clone()),
                Subject::Read(pattern) | Subject::Edit(pattern) if is_deep(pattern) => deep.extend(self.roots(pattern)),
                Subject::Read(pattern) | Subject::Edit(pattern) => {
                    for path in self.matching(pattern) {
                        self.apply_rule(rule, &path);
                    }
                }
                Subject::Command(_) | Subject::Tool(_) => {}
            }
        }
        self.deep_denials(rules, deep);
    }

    /// Applies rules that match at any depth below these folders. Each name is checked once, however many rules there
    /// are.
    fn deep_denials(&mut self, rules: &Rules, roots: BTreeSet<PathBuf>) {
        let index = PathRules::of(rules, self.places, is_deep_denial);
        for root in roots {
            match self.tree.other(&root, self.now) {
                Ok(tree) => {
                    let paths = tree.kept().map(|(folder, entry)| folder.join(&entry.name));
                    let found: Vec<_> = paths.map(|path| (index.matching(rules, &path), path)).collect();
                    for (rule, path) in
                        found.iter().flat_map(|(rules, path)| rules.iter().map(move |rule| (rule, path)))
                    {
                        self.apply_rule(rule, path);
                    }
                }
                Err(error) => {
                    let wrong = format!("{error}, so a rule about its content cannot be enforced.");
                    self.masks.problems.push(MaskProblem { path: root, wrong, refuse: true });
                }
            }
        }
    }

    fn apply_rule(&mut self, rule: &Rule, path: &Path) {
        match rule.subject {
            Subject::Read(_) => self.hide(path, MaskOrigin::Rule),
            _ => self.protect(path),
        }
    }

    /// Returns the existing paths of a pattern that does not match at any depth.
    fn matching(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        let places = self.places;
        if let Some(exact) = pattern.exact(places) {
            return exact.into_iter().filter(|path| fs::symlink_metadata(path).is_ok()).collect();
        }
        let levels = pattern.levels().unwrap_or_default().join("/");
        let starts = pattern.starts(places).into_iter();
        let found = starts.flat_map(|start| self.listings.below(&start, &levels));
        found.filter(|path| pattern.matches(path, places)).collect()
    }

    /// Returns the folders to search for a pattern that matches at any depth.
    fn roots(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        let places = self.places;
        let mut roots = BTreeSet::new();
        for start in pattern.starts(places) {
            if start.starts_with(&places.project) {
                roots.insert(places.project.clone());
            } else if start == Path::new("/") {
                // The whole machine is too much to search before every run.
                self.problem(
                    start,
                    "A rule about the whole machine is enforced only in the project and the home folder.",
                    false,
                );
                roots.extend([places.project.clone(), places.home.clone()]);
            } else if fs::symlink_metadata(&start).is_ok() {
                roots.insert(start);
            }
        }
        roots.into_iter().collect()
    }

    /// Hides a path. A link cannot be mounted over, so its target is hidden instead: always for a rule, and for a
    /// default only if the target is in the project or the home folder.
    fn hide(&mut self, path: &Path, origin: MaskOrigin) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let Some(real) = self.real_path(path) else { return };
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
            self.problem(
                real,
                "It is a link to a folder that contains the project or the home folder, which cannot be hidden.",
                true,
            );
        } else if near || origin == MaskOrigin::Rule {
            self.hidden.insert(target);
        }
    }

    fn protect(&mut self, path: &Path) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let real = if metadata.is_symlink() { fs::canonicalize(path).ok() } else { self.real_path(path) };
        self.read_only.extend(real);
    }

    /// Returns a path with its parent made canonical and its own name unchanged.
    fn real_path(&mut self, path: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return fs::canonicalize(path).ok() };
        let real = self.real_folders.entry(parent.to_owned()).or_insert_with(|| fs::canonicalize(parent).ok());
        real.as_ref().map(|real| real.join(name))
    }

    fn problem(&mut self, path: PathBuf, wrong: &str, refuse: bool) {
        self.masks.problems.push(MaskProblem { path, wrong: wrong.to_owned(), refuse });
    }

    fn finish(mut self) -> Masks {
        self.masks.hidden = outermost(self.hidden);
        self.masks.read_only = outermost(self.read_only);
        self.masks
    }
}

/// Returns whether a rule denies or asks about paths at any depth.
fn is_deep_denial(rule: &Rule) -> bool {
    match &rule.subject {
        Subject::Read(pattern) | Subject::Edit(pattern) => rule.verdict > Verdict::Allow && is_deep(pattern),
        Subject::Command(_) | Subject::Tool(_) => false,
    }
}

/// Returns whether a pattern matches at any depth.
fn is_deep(pattern: &PathPattern) -> bool {
    pattern.levels().is_none()
}

#[derive(Clone, Copy, PartialEq)]
enum MaskOrigin {
    Default,
    Rule,
}

/// Returns the paths that are not below another of them.
pub(super) fn outermost(paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        // Sorted by components, a folder comes right before its contents.
        if !kept.last().is_some_and(|last| path.starts_with(last)) {
            kept.push(path);
        }
    }
    kept
}

pub(crate) fn in_dependencies(folder: &Path, root: &Path) -> bool {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    below.iter().any(|part| DEPENDENCIES.iter().any(|name| part == *name))
}

/// Returns whether the dependency folders above a folder, if any, are all in [`VENDORED`].
fn in_vendored(folder: &Path, root: &Path) -> bool {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let filled = |part: &OsStr| DEPENDENCIES.iter().any(|name| part == *name);
    !below.iter().any(|part| filled(part) && !VENDORED.iter().any(|name| part == *name))
}

/// Returns whether a path is a secret because of its name or a folder above it in the project, by the rules of
/// [`super::Masks`].
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

/// Returns whether a folder holds secrets. A Python environment may have the same name.
fn is_secret_folder(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let is_environment = || ["pyvenv.cfg", "bin/python", "Scripts", "conda-meta"].iter().any(|n| path.join(n).exists());
    FOLDERS.iter().any(|folder| folder.pattern == name) && path.is_dir() && !is_environment()
}

/// Returns whether a file can be opened, or a folder listed.
fn can_be_read(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::read_dir(path).is_ok(),
        Ok(about) if about.is_file() => fs::File::open(path).is_ok(),
        _ => false,
    }
}

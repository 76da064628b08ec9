//! Patterns of paths, as in `Read(~/.ssh/**)`: written as in ignore files and anchored at a folder.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::join_lexically;
use crate::names::{SPECIAL, stars_match};

/// The folders that patterns are relative to.
#[derive(Debug, Clone)]
pub struct Places {
    pub home: PathBuf,
    pub project: PathBuf,
    pub folder: PathBuf,
}

#[derive(Debug, Clone)]
pub struct PathPattern {
    anchor: Anchor,
    /// The folders before the first component with a `*`, `?` or class.
    fixed: Vec<String>,
    /// The components after them, where `**` stands for any number of folders. Empty if the whole pattern is fixed.
    parts: Vec<String>,
    /// These components as a glob, if they contain more than stars.
    glob: Option<LazyGlob>,
    /// The last component, used to select names before whole paths are checked.
    last: String,
}

/// A glob and its matcher, which is compiled on first use: compiling takes far longer than parsing.
#[derive(Debug, Clone)]
struct LazyGlob {
    glob: Glob,
    made: OnceLock<GlobMatcher>,
}

impl LazyGlob {
    fn is_match(&self, path: &Path) -> bool {
        self.made.get_or_init(|| self.glob.compile_matcher()).is_match(path)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Anchor {
    /// A known folder: the root, or the folder of the settings.
    Folder(PathBuf),
    Home,
    /// The folder of the run and the project, so a run in a subfolder is under the same rules.
    Run,
}

impl PathPattern {
    /// Parses a pattern. `//x` starts at the root, `~/x` at the home folder, `/x` at the folder of the settings, and
    /// `x/y` and `./x` at the folder of the run. A bare name matches at any depth below that. A folder covers
    /// everything in it.
    pub fn parse(text: &str, base: &Path) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("The pattern is empty.".to_owned());
        }
        if text.starts_with('!') {
            return Err("Patterns with `!` are not supported.".to_owned());
        }
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Anchor::Folder(PathBuf::from("/")), rest)
        } else if text == "~" || text.starts_with("~/") {
            (Anchor::Home, text[1..].trim_start_matches('/'))
        } else if let Some(rest) = text.strip_prefix('/') {
            (Anchor::Folder(base.to_path_buf()), rest)
        } else {
            (Anchor::Run, text)
        };
        let anywhere = anchor == Anchor::Run && !text.trim_end_matches('/').contains('/') && text != "." && text != "~";
        Self::build(anchor, rest, anywhere)
    }

    fn build(anchor: Anchor, rest: &str, anywhere: bool) -> Result<Self, String> {
        // A pattern that covers everything in a folder is read as the folder itself.
        let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        while matches!(parts.last(), Some(&"**" | &"*")) && (parts.len() > 1 || !anywhere) {
            parts.pop();
        }
        if matches!(parts[..], ["**" | "*"]) {
            parts.clear();
        }
        let anywhere = anywhere && !parts.is_empty();
        let is_fixed = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
        let count = if anywhere { 0 } else { parts.iter().take_while(is_fixed).count() };
        let fixed: Vec<String> = parts[..count].iter().map(|part| (*part).to_owned()).collect();
        let above = anywhere.then_some("**");
        let rest: Vec<String> = above.into_iter().chain(parts[count..].iter().copied()).map(str::to_owned).collect();
        let mut last = parts.last().map_or("*", |last| if *last == "**" { "*" } else { last });
        let mut glob = None;
        if rest.iter().any(|part| part.contains(&SPECIAL[1..])) {
            let read = |text: &str| GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
            let whole = read(&rest.join("/")).map_err(|error| format!("Invalid pattern: {}.", error.kind()))?;
            glob = Some(LazyGlob { glob: whole, made: OnceLock::new() });
            // A choice such as `{a,b/c}` may end with any of its names.
            if rest.iter().any(|part| read(part).is_err()) {
                last = "*";
            }
        }
        Ok(Self { anchor, fixed, parts: rest, glob, last: last.to_owned() })
    }

    /// Returns the last component of the pattern, as a glob over names.
    pub(crate) fn last(&self) -> &str {
        &self.last
    }

    /// Returns the folders that the pattern starts from, including its fixed folders.
    pub(crate) fn starts(&self, places: &Places) -> Vec<PathBuf> {
        let mut starts = match &self.anchor {
            Anchor::Folder(folder) => vec![folder.clone()],
            Anchor::Home => vec![places.home.clone()],
            Anchor::Run => vec![places.folder.clone(), places.project.clone()],
        };
        for start in &mut starts {
            *start = join_lexically(start, &self.fixed.join("/"));
        }
        starts.dedup();
        starts
    }

    /// Returns the paths themselves, if the pattern has no `*`, `?` or class.
    pub(crate) fn exact(&self, places: &Places) -> Option<Vec<PathBuf>> {
        self.is_exact().then(|| self.starts(places))
    }

    /// Returns whether the pattern has no `*`, `?` or class.
    pub(super) fn is_exact(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the components after the fixed folders, if each matches exactly one level.
    pub(crate) fn levels(&self) -> Option<&[String]> {
        let is_level = |part: &String| !part.contains("**") && (self.glob.is_none() || Glob::new(part).is_ok());
        self.parts.iter().all(is_level).then_some(&self.parts)
    }

    /// Returns whether the pattern covers the whole file system.
    pub(crate) fn is_everything(&self) -> bool {
        self.parts.is_empty()
            && self.fixed.is_empty()
            && matches!(&self.anchor, Anchor::Folder(folder) if folder == Path::new("/"))
    }

    /// Returns whether the pattern matches a path or a folder above it.
    pub fn covers(&self, path: &Path, places: &Places) -> bool {
        self.starts(places).iter().any(|start| path.strip_prefix(start).is_ok_and(|rest| self.covers_below(rest)))
    }

    pub fn matches(&self, path: &Path, places: &Places) -> bool {
        self.starts(places).iter().any(|start| path.strip_prefix(start).is_ok_and(|rest| self.matches_below(rest)))
    }

    /// Returns whether the pattern matches a path that is relative to one of its starts.
    pub(crate) fn matches_below(&self, rest: &Path) -> bool {
        match &self.glob {
            Some(glob) => !rest.as_os_str().is_empty() && glob.is_match(rest),
            None => self.steps(rest).last() == Some(true),
        }
    }

    /// Like [`Self::matches_below`], for the path or a folder above it.
    fn covers_below(&self, rest: &Path) -> bool {
        match &self.glob {
            Some(_) => rest.ancestors().any(|above| self.matches_below(above)),
            None => self.steps(rest).any(|matches| matches),
        }
    }

    /// Returns whether the components match the empty path, then the first name of a path, then the first two, and so
    /// on.
    fn steps<'a>(&'a self, rest: &'a Path) -> impl Iterator<Item = bool> + 'a {
        // reached[n]: the first n components can match the names so far.
        let mut reached = vec![false; self.parts.len() + 1];
        reached[0] = true;
        self.skip_any_depth(&mut reached);
        let first = reached[self.parts.len()];
        let rest = rest.iter().map(move |name| {
            let name = name.to_string_lossy();
            let mut next = vec![false; reached.len()];
            for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| reached[*at]) {
                if part == "**" {
                    next[at] = true;
                } else if stars_match(part, &name) {
                    next[at + 1] = true;
                }
            }
            self.skip_any_depth(&mut next);
            reached = next;
            reached[self.parts.len()]
        });
        std::iter::once(first).chain(rest)
    }

    /// Lets a `**` match no folder at all.
    fn skip_any_depth(&self, reached: &mut [bool]) {
        for (at, part) in self.parts.iter().enumerate() {
            if reached[at] && part == "**" {
                reached[at + 1] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expected: bool) {
        let places = Places { home: "/home/u".into(), project: "/home/u/p".into(), folder: "/home/u/p/sub".into() };
        let pattern = PathPattern::parse(pattern, Path::new("/home/u/base")).unwrap();
        assert_eq!(pattern.covers(Path::new(path), &places), expected, "{pattern:?} {path}");
    }

    #[test]
    fn patterns_are_anchored_where_their_first_characters_say() {
        check("//etc/passwd", "/etc/passwd", true);
        check("//etc/**", "/etc/ssl/cert", true);
        check("~/.ssh/**", "/home/u/.ssh/id_rsa", true);
        check("~/.ssh", "/home/u/.ssh/id_rsa", true);
        check("~/.ss", "/home/u/.ssh/id_rsa", false);
        check("/secrets", "/home/u/base/secrets/a", true);
        check("/secrets", "/home/u/p/secrets/a", false);
        check("./secrets/*.txt", "/home/u/p/sub/secrets/a.txt", true);
        check("secrets/*.txt", "/home/u/p/secrets/a.txt", true);
        check("secrets/*.txt", "/home/u/p/x/secrets/a.txt", false);
    }

    #[test]
    fn bare_names_match_at_any_depth_and_folders_cover_what_is_in_them() {
        check(".env", "/home/u/p/a/b/.env", true);
        check(".env", "/home/u/p/.env.local", false);
        check(".env.*", "/home/u/p/.env.local", true);
        check("**/private", "/home/u/p/a/private/b/c", true);
        check("private/", "/home/u/p/a/private/b/c", true);
        check("a/**/z", "/home/u/p/a/b/c/z", true);
        check("a/?", "/home/u/p/a/b", true);
        check("a/[bc].rs", "/home/u/p/a/c.rs", true);
        check("a/*", "/home/u/p/a/b/c", true);
        check("*.pem", "/home/u/p/a/b.pem", true);
        check("**", "/home/u/p/a", true);
        check("//**", "/anything", true);
    }

    /// Returns all sequences of these components, up to a length.
    fn sequences(parts: &[&str], most: usize) -> Vec<String> {
        let mut all: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let mut last = all.clone();
        for _ in 1..most {
            last = last.iter().flat_map(|start| parts.iter().map(move |part| format!("{start}/{part}"))).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn stars_match_as_globs_do() {
        let places = Places { home: "/h".into(), project: "/p".into(), folder: "/p".into() };
        let paths = sequences(&["a", "b", "ab"], 4);
        for text in sequences(&["a", "*", "**", "a*", "*b", "a**b"], 3) {
            // A folder covers everything in it, so these endings have no effect.
            if matches!(text.rsplit('/').next(), Some("*" | "**")) {
                continue;
            }
            let pattern = PathPattern::parse(&format!("/{text}"), Path::new("/p")).unwrap();
            let glob = GlobBuilder::new(&text).literal_separator(true).build().unwrap().compile_matcher();
            for path in &paths {
                let full = Path::new("/p").join(path);
                assert_eq!(pattern.matches(&full, &places), glob.is_match(path), "{text} with {path}");
                let covers = Path::new(path).ancestors().any(|above| glob.is_match(above));
                assert_eq!(pattern.covers(&full, &places), covers, "{text} over {path}");
            }
        }
    }

    #[test]
    fn a_choice_of_paths_is_looked_for_by_all_of_its_names() {
        check("{a,b/c}", "/home/u/p/a/x", true);
        check("{a,b/c}", "/home/u/p/b/c", true);
        let pattern = PathPattern::parse("x/{a,b/c}", Path::new("/")).unwrap();
        assert_eq!((pattern.last(), pattern.levels()), ("*", None));
    }

    #[test]
    fn what_cannot_be_understood_is_an_error() {
        assert!(PathPattern::parse("[", Path::new("/")).is_err());
        assert!(PathPattern::parse("", Path::new("/")).is_err());
        assert!(PathPattern::parse("!x", Path::new("/")).is_err());
    }
}

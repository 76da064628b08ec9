//! Patterns of paths, as in `Read(~/.ssh/**)`: written like those of ignore files, anchored at a folder.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::join_lexically;

/// The folders that patterns are relative to.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's home folder.
    pub home: PathBuf,
    /// The root of the project.
    pub project: PathBuf,
    /// The folder the run starts in.
    pub folder: PathBuf,
}

/// A pattern of paths.
#[derive(Debug, Clone)]
pub struct PathPattern {
    anchor: Anchor,
    /// The folders before the first part with a `*`, `?` or class.
    fixed: Vec<String>,
    /// The rest, as a glob over the path relative to the anchor and its fixed folders; nothing when all is fixed.
    glob: Option<GlobMatcher>,
    /// The parts of that rest.
    parts: Vec<String>,
    /// The last part, by which names are chosen before whole paths are looked at.
    last: String,
    /// Whether the pattern has no slash and so matches at any depth.
    anywhere: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Anchor {
    /// A folder that is known: the root, or the folder of the settings.
    Folder(PathBuf),
    Home,
    /// The folder of the run, and the project as well: a run in a subfolder is under the same rules.
    Run,
}

impl PathPattern {
    /// Reads a pattern. `//x` starts at the root, `~/x` at home, `/x` at the folder of the settings, `x/y` and `./x` at
    /// the folder of the run; a bare name matches at any depth below it. A folder covers everything in it.
    pub fn parse(text: &str, base: &Path) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("The pattern is empty.".to_owned());
        }
        if text.starts_with('!') {
            return Err("A pattern that takes back others with `!` is not understood.".to_owned());
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
        // Whatever covers all that is in a folder is read as the folder itself.
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
        let globbed = parts[count..].join("/");
        let glob = if globbed.is_empty() {
            None
        } else {
            let whole = if anywhere { format!("**/{globbed}") } else { globbed };
            let glob = GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build();
            Some(glob.map_err(|error| format!("The pattern is not understood: {}.", error.kind()))?.compile_matcher())
        };
        let rest = parts[count..].iter().map(|part| (*part).to_owned()).collect();
        let last = parts.last().map_or("*", |last| if *last == "**" { "*" } else { last }).to_owned();
        Ok(Self { anchor, fixed, glob, parts: rest, last, anywhere })
    }

    /// The last part of the pattern, as a glob over names.
    pub(crate) fn last(&self) -> &str {
        &self.last
    }

    /// The folders that the pattern starts from, its fixed folders included.
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

    /// The paths themselves, when the pattern has no `*`, `?` or class.
    pub(crate) fn exact(&self, places: &Places) -> Option<Vec<PathBuf>> {
        self.glob.is_none().then(|| self.starts(places))
    }

    /// The parts after the fixed folders, when each is about one level of folders.
    pub(crate) fn levels(&self) -> Option<&[String]> {
        (!self.anywhere && !self.parts.iter().any(|part| part.contains("**"))).then_some(&self.parts)
    }

    /// Whether the pattern is about a whole anchor: the root, home or the project.
    pub(crate) fn is_everything(&self) -> bool {
        self.glob.is_none()
            && self.fixed.is_empty()
            && matches!(&self.anchor, Anchor::Folder(folder) if folder == Path::new("/"))
    }

    /// Whether the pattern matches a path or a folder above it.
    pub fn covers(&self, path: &Path, places: &Places) -> bool {
        path.ancestors().any(|path| self.matches(path, places))
    }

    /// Whether the pattern matches a path itself.
    pub fn matches(&self, path: &Path, places: &Places) -> bool {
        self.starts(places).iter().any(|start| match (&self.glob, path.strip_prefix(start)) {
            (_, Err(_)) => false,
            (None, Ok(rest)) => rest.as_os_str().is_empty(),
            (Some(glob), Ok(rest)) => !rest.as_os_str().is_empty() && glob.is_match(rest),
        })
    }

    /// Whether the pattern has no slash.
    pub fn is_anywhere(&self) -> bool {
        self.anywhere
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

    #[test]
    fn what_cannot_be_understood_is_an_error() {
        assert!(PathPattern::parse("[", Path::new("/")).is_err());
        assert!(PathPattern::parse("", Path::new("/")).is_err());
        assert!(PathPattern::parse("!x", Path::new("/")).is_err());
    }
}

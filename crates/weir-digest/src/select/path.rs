//! Paths into JSON: JSON pointers, and the notations people write.

use super::NotSelected;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A key of an object, or an index of an array if it is a number.
    Name(String),
    Every,
    /// Some fields of an object, as an object of their own: `{number,title}`.
    Fields(Vec<String>),
}

/// Reads several paths that differ only in their last names, `[].number,[].title`, as one: `[].{number,title}`.
pub(super) fn joined(text: &str) -> Option<String> {
    if text.contains(['{', '"', '\'', '/']) || !text.contains(',') {
        return None;
    }
    let paths = || text.split(',').map(str::trim);
    let parent = |path: &'_ str| path.rfind('.').map_or(0, |dot| dot + 1);
    let first = paths().next()?;
    let base = &first[..parent(first)];
    let is_alike = |path: &str| path[..parent(path)] == *base && path.len() > base.len() && !path.ends_with(']');
    let names: Vec<&str> = paths().filter(|path| is_alike(path)).map(|path| &path[base.len()..]).collect();
    (names.len() == paths().count()).then(|| format!("{base}{{{}}}", names.join(",")))
}

/// Reads `/items/3/name`, `items[3].name`, `$.items[*].name`, `.items[]["a.b"]`.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, NotSelected> {
    let text = text.trim();
    if let Some(pointer) = text.strip_prefix('/') {
        let name = |part: &str| Step::Name(part.replace("~1", "/").replace("~0", "~"));
        return Ok(pointer.split('/').map(name).collect());
    }
    let wrong = || NotSelected::NoPath(text.to_owned());
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        if let Some(inner) = rest.strip_prefix(".{").or_else(|| rest.strip_prefix('{')) {
            let names = inner.strip_suffix('}').ok_or_else(wrong)?;
            let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
            if names.iter().any(String::is_empty) || names.iter().any(|name| name.contains(['{', '}'])) {
                return Err(wrong());
            }
            (step, rest) = (Step::Fields(names), "");
        } else if let Some(inner) = rest.strip_prefix("[\"").or_else(|| rest.strip_prefix("['")) {
            let quote = &rest[1..2];
            let (name, after) = inner.split_once(&format!("{quote}]")).ok_or_else(wrong)?;
            (step, rest) = (Step::Name(name.to_owned()), after);
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (name, after) = inner.split_once(']').ok_or_else(wrong)?;
            (step, rest) = (name_or_every(name.trim()), after);
        } else {
            let bare = rest.strip_prefix('.').unwrap_or(rest);
            let end = bare.find(['.', '[', '{']).unwrap_or(bare.len());
            rest = &bare[end..];
            if end == 0 {
                continue;
            }
            step = name_or_every(&bare[..end]);
        }
        steps.push(step);
    }
    Ok(steps)
}

fn name_or_every(name: &str) -> Step {
    if name.is_empty() || name == "*" { Step::Every } else { Step::Name(name.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_people_write_paths() {
        let name = |name: &str| Step::Name(name.to_owned());
        for (text, expected) in [
            ("/items/3/a~1b", vec![name("items"), name("3"), name("a/b")]),
            ("items[3].name", vec![name("items"), name("3"), name("name")]),
            ("$.items[*].name", vec![name("items"), Step::Every, name("name")]),
            (".items[][\"a.b\"]", vec![name("items"), Step::Every, name("a.b")]),
            ("", vec![]),
            (".", vec![]),
            ("é.ü", vec![name("é"), name("ü")]),
            ("items[].{a, b}", vec![name("items"), Step::Every, Step::Fields(vec!["a".to_owned(), "b".to_owned()])]),
            ("{a}", vec![Step::Fields(vec!["a".to_owned()])]),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        assert!(parse("a[").is_err() && parse("a['b").is_err());
        assert!(parse("a.{b").is_err() && parse("{a,}").is_err() && parse("{a}.b").is_err());
    }

    #[test]
    fn paths_that_differ_in_their_last_names_are_one() {
        assert_eq!(joined("[].number, [].title").as_deref(), Some("[].{number,title}"));
        assert_eq!(joined("number,title").as_deref(), Some("{number,title}"));
        assert_eq!(joined("[].number,title"), None);
        assert_eq!(joined("[].number"), None);
    }
}

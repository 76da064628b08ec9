//! The form of a text, which decides how it is cut.
//!
//! Invariant: a wrong guess only affects where the text is cut.

use crate::EntryKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines and paragraphs.
    Plain,
    Markdown,
    /// A program, cut by its symbols.
    Source,
    /// One JSON value, or one on each line.
    Json,
    /// A conversation, with a chunk for each turn.
    Turns,
}

/// Size of the head of a text that is examined, in bytes.
const MAX_HEAD_BYTES: usize = 8 << 10;

const MARKDOWN: &[&str] = &["md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd"];
const JSON: &[&str] = &["json", "jsonl", "ndjson", "geojson", "ipynb", "webmanifest", "har", "sarif", "jsonc", "json5"];
const PLAIN: &[&str] =
    &["txt", "log", "csv", "tsv", "text", "rst", "adoc", "org", "tex", "diff", "patch", "srt", "svg"];
const SOURCE: &[&str] = &[
    "rs", "py", "pyi", "pyx", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "java", "kt", "kts", "c",
    "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "cs", "fs", "fsx", "vb", "rb", "rake", "php", "swift", "scala", "sc",
    "clj", "cljs", "ex", "exs", "erl", "hrl", "hs", "ml", "mli", "lua", "pl", "pm", "r", "jl", "dart", "nim", "zig",
    "v", "sv", "vhd", "d", "pas", "f90", "m", "mm", "groovy", "gradle", "sh", "bash", "zsh", "fish", "ps1", "bat",
    "sql", "proto", "graphql", "gql", "thrift", "tf", "hcl", "nix", "vue", "svelte", "css", "scss", "less", "sass",
    "toml", "yaml", "yml", "ini", "cfg", "conf", "cmake", "mk", "sol", "el", "lisp", "scm", "rkt", "tcl", "awk", "cu",
    "cl", "glsl", "wgsl", "hlsl", "prisma", "bzl", "bazel", "star", "wit", "elm", "purs", "cr", "hx",
];
const SOURCE_NAMES: &[&str] =
    &["makefile", "dockerfile", "rakefile", "gemfile", "justfile", "cmakelists.txt", "build", "workspace"];

impl Form {
    /// Determines the form of a text by the file extension of its source, otherwise by its beginning.
    pub fn of(kind: EntryKind, source: Option<&str>, head: &[u8]) -> Self {
        let head = &head[..head.len().min(MAX_HEAD_BYTES)];
        match kind {
            EntryKind::Import => Self::Turns,
            // The source is a command, and the output of a program is Markdown only by chance.
            EntryKind::Run if looks_like_json(head) => Self::Json,
            EntryKind::Run => Self::Plain,
            // Pages were converted to Markdown, whatever their address ends with.
            EntryKind::Page if looks_like_json(head) => Self::Json,
            EntryKind::Page => Self::Markdown,
            EntryKind::Note | EntryKind::Document | EntryKind::File | EntryKind::Said => {
                source.and_then(by_ending).unwrap_or_else(|| by_look(head))
            }
        }
    }
}

fn by_ending(source: &str) -> Option<Form> {
    let name = source.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    if SOURCE_NAMES.contains(&name.as_str()) {
        return Some(Form::Source);
    }
    let (_, ending) = name.rsplit_once('.')?;
    [(MARKDOWN, Form::Markdown), (JSON, Form::Json), (PLAIN, Form::Plain), (SOURCE, Form::Source)]
        .into_iter()
        .find_map(|(endings, form)| endings.contains(&ending).then_some(form))
}

fn by_look(head: &[u8]) -> Form {
    if looks_like_json(head) {
        Form::Json
    } else if head.starts_with(b"#!") {
        Form::Source
    } else if looks_like_markdown(head) {
        Form::Markdown
    } else {
        Form::Plain
    }
}

/// Returns whether there is a heading between blank lines, or a fence. A comment in a configuration file begins with
/// `#` too, but the next line is not blank.
fn looks_like_markdown(head: &[u8]) -> bool {
    let mut is_apart = true;
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).peekable();
    while let Some(line) = lines.next() {
        let marks = line.iter().take_while(|&&byte| byte == b'#').count();
        let is_title = (1..=6).contains(&marks) && line.get(marks) == Some(&b' ');
        let ends_apart = lines.peek().is_none_or(|next| next.is_empty());
        if line.starts_with(b"```") || (is_apart && is_title && ends_apart) {
            return true;
        }
        is_apart = line.is_empty();
    }
    false
}

/// Returns whether the head could be JSON, or JSON Lines.
fn looks_like_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return false;
    }
    let (mut at, mut depth, mut before) = (0, 0_usize, b',');
    while let Some(&byte) = text.get(at) {
        let takes_value = matches!(before, b'{' | b'[' | b',' | b':');
        let Some(length) = token(&text[at..]) else { return false };
        at += length;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b'{' | b'[' if takes_value => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' if depth > 0 && !takes_value => {}
            b':' if before == b'"' => {}
            b'{' | b'[' | b'}' | b']' | b',' | b':' => return false,
            _ if !takes_value => return false,
            _ => {}
        }
        // The next value may begin where one has ended.
        before = if depth == 0 { b',' } else { byte };
    }
    true
}

/// Returns the length of the token that `text` begins with. A token that continues past the head counts as valid.
fn token(text: &[u8]) -> Option<usize> {
    let is_word = |word: &[u8]| text.starts_with(word) || word.starts_with(text);
    match text.first()? {
        b' ' | b'\t' | b'\r' | b'\n' | b'{' | b'}' | b'[' | b']' | b',' | b':' => Some(1),
        b'"' => string(text),
        b'-' | b'0'..=b'9' => {
            let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
            Some(text.iter().take_while(is_part).count())
        }
        b't' if is_word(b"true") => Some(4),
        b'f' if is_word(b"false") => Some(5),
        b'n' if is_word(b"null") => Some(4),
        _ => None,
    }
}

fn string(text: &[u8]) -> Option<usize> {
    let mut is_escaped = true;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' => return None,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_form_is_told_by_the_source_or_by_a_look() {
        use crate::EntryKind::{Document, File, Import, Page, Run};
        let cases = [
            (File, Some("docs/a.MD"), ""),
            (File, Some("src/a.rs"), "{}"),
            (File, Some("a.json"), ""),
            (File, Some("Makefile"), ""),
            (File, Some("a.txt"), "# T\n\nx"),
            (File, Some("a.html"), "# T\n\nx"),
            (File, None, "#!/bin/sh\n"),
            (Document, Some("v1.2"), "plain words"),
            (Document, Some("notes"), "Some text\n\n## Title\n\nmore"),
            (Document, None, "# a comment\nkey = 1\n"),
            (Document, None, "{\"a\": [1, true, null]}"),
            (Import, Some("a.md"), "# T"),
            (Page, Some("https://a.example/b.html"), "words"),
            (Page, None, "[{\"a\":1}]"),
            (Run, Some("cat a.md"), "# T\n\nwords"),
            (Run, None, "{\"a\":1}\n{\"a\":2}\n"),
            (Run, None, "[INFO] started"),
            (Run, None, "[12:01:02] started"),
            (Run, None, "{ not json }"),
            (Run, None, "[1, -2.5e3, \"x\\\"y\"]"),
            (Run, None, "[2026-11-15] a"),
            (Run, None, "[test] x"),
        ];
        let shown: String = cases
            .iter()
            .map(|(kind, source, head)| {
                format!(
                    "{:<8} {kind} {} {head:?}\n",
                    format!("{:?}", Form::of(*kind, *source, head.as_bytes())),
                    source.unwrap_or("-")
                )
            })
            .collect();
        expect![[r##"
        Markdown file docs/a.MD ""
        Source   file src/a.rs "{}"
        Json     file a.json ""
        Source   file Makefile ""
        Plain    file a.txt "# T\n\nx"
        Markdown file a.html "# T\n\nx"
        Source   file - "#!/bin/sh\n"
        Plain    document v1.2 "plain words"
        Markdown document notes "Some text\n\n## Title\n\nmore"
        Plain    document - "# a comment\nkey = 1\n"
        Json     document - "{\"a\": [1, true, null]}"
        Turns    import a.md "# T"
        Markdown page https://a.example/b.html "words"
        Json     page - "[{\"a\":1}]"
        Plain    run cat a.md "# T\n\nwords"
        Json     run - "{\"a\":1}\n{\"a\":2}\n"
        Plain    run - "[INFO] started"
        Plain    run - "[12:01:02] started"
        Plain    run - "{ not json }"
        Json     run - "[1, -2.5e3, \"x\\\"y\"]"
        Plain    run - "[2026-11-15] a"
        Plain    run - "[test] x"
    "##]]
        .assert_eq(&shown);
    }
}

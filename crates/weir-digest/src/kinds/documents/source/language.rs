//! Detects the language of a file, and what a line of it defines. It works on lines, not on a grammar, which is good
//! enough to list the definitions.

use super::define;
use crate::kinds::shared::stamp;
use crate::sample::Sample;
use crate::text::starts;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Language {
    #[default]
    Python,
    Rust,
    Script,
    Go,
    Java,
    C,
    Shell,
}

/// The sort of a definition. Its number is its index among the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionKind {
    Type = 0,
    Function = 1,
    Constant = 2,
}

pub(super) enum LineItem<'a> {
    Import(&'a str),
    Definition(DefinitionKind, &'a str),
}

const ALL: [Language; 7] =
    [Language::Python, Language::Rust, Language::Script, Language::Go, Language::Java, Language::C, Language::Shell];

/// Returns the language of an output that is a source file.
pub(super) fn of(sample: &Sample<'_>) -> Option<Language> {
    let first = sample.full_lines().next()?;
    if starts(first, &["diff ", "commit ", "---", "+++", "@@", "{", "[", "<", "$ ", "error", "warning"]) {
        return None;
    }
    let mut seen = LineStats::default();
    sample.full_lines().for_each(|line| seen.line(line));
    // A script declares itself in its first line.
    let shebang = first.starts_with("#!");
    if !(if shebang { seen.other * 20 <= seen.lines } else { seen.is_source() }) {
        return None;
    }
    let mut scores = [0_usize; ALL.len()];
    for line in sample.full_lines() {
        for (score, language) in scores.iter_mut().zip(ALL) {
            *score += language.points(line);
        }
    }
    let (place, &best) = scores.iter().enumerate().max_by_key(|(place, score)| (**score, usize::MAX - place))?;
    let language = ALL.get(place).copied()?;
    let needed = if language == Language::Shell && !shebang { 6 } else { 3 };
    let defined =
        sample.full_lines().filter(|line| !line.starts_with([' ', '\t']) && language.find(line).is_some()).count();
    let enough = best >= needed && best * 100 >= seen.lines && (defined >= 2 || shebang && defined >= 1);
    enough.then_some(language)
}

/// Statistics about the lines, whatever the language.
#[derive(Default)]
struct LineStats {
    lines: usize,
    like: usize,
    /// Lines that are not indented, and those of them that look like code.
    outer: usize,
    outer_like: usize,
    /// Lines that other programs print: with a time, a marker of a test run, or a number before code.
    other: usize,
}

impl LineStats {
    fn line(&mut self, line: &str) {
        self.lines += 1;
        let like = is_code(line);
        self.like += usize::from(like);
        if !line.starts_with([' ', '\t']) {
            self.outer += 1;
            self.outer_like += usize::from(like);
        }
        self.other += usize::from(is_printed(line));
    }

    /// Returns whether the lines are those of a source file. Comments and strings belong to it too, but most lines are
    /// code, especially those that are not indented.
    fn is_source(&self) -> bool {
        self.lines >= 5
            && self.like * 100 >= self.lines * 70
            && self.outer_like * 100 >= self.outer * 75
            && self.other * 50 <= self.lines
    }
}

/// Returns whether a line is one that programs print and hardly any source file contains.
fn is_printed(line: &str) -> bool {
    let text = line.trim_start();
    let marks = ["✓", "✔", "✕", "✗", "×", "●", "❯", "⎯", "PASS ", "FAIL ", "ok ", "$ ", "^", "➜", "│", "├", "└"];
    if marks.iter().any(|mark| text.starts_with(mark)) {
        return true;
    }
    // `> 12 | code` and `12: code`
    let digits = text.trim_start_matches(['>', ' ']);
    let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after.len() < digits.len() && (after.starts_with([':', '|']) || after.starts_with(" |"));
    numbered || stamp::of(line).is_some()
}

/// Returns whether a line looks like code: it is indented, or begins or ends like a statement.
fn is_code(line: &str) -> bool {
    const WORDS: [&str; 20] = [
        "import ", "from ", "use ", "package ", "export ", "fi", "done", "esac", "else", "then", "def ", "class ",
        "fn ", "func ", "if ", "for ", "while ", "return", "case ", "echo ",
    ];
    let text = line.trim();
    line.starts_with("  ")
        || line.starts_with('\t')
        || text.ends_with(['{', '}', ';', ':', ',', '(', ')', '[', ']', '\\', '`'])
        || text.starts_with(['#', '/', '*', '@', '}', ')', '"', '\'', ']'])
        || WORDS.iter().any(|word| text.starts_with(word))
        || text.contains(" = ")
}

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::Script => "JavaScript or TypeScript",
            Self::Go => "Go",
            Self::Java => "Java or similar",
            Self::C => "C or C++",
            Self::Shell => "shell",
        }
    }

    /// Scores how strongly a line indicates this language: only what neither prose nor any other language has counts.
    fn points(self, line: &str) -> usize {
        let text = line.trim();
        usize::from(match self {
            Self::Python => is_python(text),
            Self::Rust => is_rust(text),
            Self::Script => is_script(text),
            Self::Go => is_go(text),
            Self::Java => is_java(text),
            Self::C => is_c(text),
            Self::Shell => is_shell(text),
        })
    }

    pub(super) fn is_comment(self, text: &str) -> bool {
        match self {
            Self::Python | Self::Shell => text.starts_with('#'),
            _ => text.starts_with("//") || text.starts_with("/*") || text.starts_with('*'),
        }
    }

    pub(super) fn find(self, line: &str) -> Option<LineItem<'_>> {
        let text = line.trim();
        let top = !line.starts_with([' ', '\t']);
        match self {
            Self::Python => define::python(text, top),
            Self::Rust => define::rust(text),
            Self::Script => define::script(text, line),
            Self::Go => define::go(text, top),
            Self::Java => define::java(text),
            Self::C => define::c(text, top),
            Self::Shell => define::shell(text),
        }
    }
}

fn is_python(text: &str) -> bool {
    (starts(text, &["def ", "async def ", "class "]) && text.ends_with([':', '(', ',']))
        || (starts(text, &["from "]) && text.contains(" import "))
        || (starts(text, &["import "]) && !text.ends_with([';', '\'', '"', '(', '{']) && !text.contains(" from "))
        || starts(text, &["elif ", "except ", "except:", "@property", "self.", "if __name__"])
}

fn is_rust(text: &str) -> bool {
    starts(text, &["use ", "pub use ", "mod ", "pub mod "]) && text.ends_with([';', '{'])
        || starts(text, &["fn ", "pub fn ", "async fn ", "impl ", "impl<", "#[", "let mut ", "pub(", "pub struct "])
        || starts(text, &["pub enum ", "pub trait ", "pub const ", "//! ", "match ", "Some(", "if let "])
        || text.contains("&mut ")
        || text.contains("&self")
}

fn is_script(text: &str) -> bool {
    starts(text, &["import "]) && (text.contains(" from ") || text.ends_with(['\'', '"']))
        || starts(
            text,
            &["export ", "function ", "async function ", "interface ", "module.exports", "console.", "this."],
        ) && !text.ends_with('.')
        || starts(text, &["const ", "let ", "var "])
            && text.contains(" = ")
            && !text.contains("::")
            && !text.contains(": &")
        || text.contains(" === ")
        || text.contains("require(")
}

fn is_go(text: &str) -> bool {
    starts(text, &["package ", "func ", "type ", "defer ", "go func"]) && !text.ends_with(['.', ';'])
        || text.contains(" := ")
        || text == "import ("
        || text.starts_with("if err != nil")
}

fn is_java(text: &str) -> bool {
    starts(text, &["package ", "import "]) && text.ends_with(';') && !text.contains(['\'', '"', '{'])
        || starts(
            text,
            &["public ", "private ", "protected ", "@Override", "static final ", "internal ", "namespace ", "using "],
        ) && text.ends_with(['{', ';', '(', ',', ')', 'e'])
}

fn is_c(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: [&str; 13] = [
        "#include", "#define ", "#ifndef", "#ifdef", "#endif", "typedef ", "static ", "struct ", "template<",
        "template <", "extern ", "std::", "namespace ",
    ];
    starts(text, &STARTS) && !text.ends_with('.')
}

fn is_shell(text: &str) -> bool {
    starts(
        text,
        &["#!/", "fi", "done", "esac", "set -", "echo ", "if [", "elif [", "local ", "export ", "for ", "while "],
    ) && !text.ends_with(['.', ';', '{', ':'])
        || text.ends_with("() {")
        || text.ends_with("; then")
        || text.ends_with("; do")
}

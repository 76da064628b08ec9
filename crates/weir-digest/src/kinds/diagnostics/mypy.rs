//! Diagnostics of Python's type checkers: mypy, plain and pretty, and pyright.

use super::diagnostic::{Diagnostic, Diagnostics, MAX_LINE_BYTES, Severity, named, place};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::{About, Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Mypy>("mypy", opens);

const MAX_EXPLANATION_BYTES: usize = 700;
const MAX_FOLLOWING_LINES: usize = 40;

fn opens(text: &str, _: About<'_>) -> bool {
    head(text).is_some() || total(text).is_some() || pyright_file(text)
}

/// Returns whether a line is certainly a diagnostic, and not possibly the name of a file.
pub(crate) fn is_finding(text: &str, _: About<'_>) -> bool {
    head(text).is_some()
}

/// The first line of a diagnostic.
struct Head<'a> {
    file: &'a str,
    place: &'a str,
    severity: Severity,
    message: &'a str,
    pyright: bool,
}

/// Reads `a.py:1: error: m  [code]` and `  /x/a.py:1:2 - error: m (code)`.
fn head(text: &str) -> Option<Head<'_>> {
    if let Some(inner) = text.strip_prefix("  ").filter(|inner| !inner.starts_with(' ')) {
        let (place, said) = inner.split_once(" - ")?;
        let file = place.rsplitn(3, ':').nth(2)?;
        let (severity, message) = severity(said)?;
        return is_python(file).then_some(Head { file, place, severity, message, pyright: true });
    }
    let place = place(text)?;
    let (severity, message) = severity(place.rest)?;
    is_python(place.path).then_some(Head { file: place.path, place: place.whole, severity, message, pyright: false })
}

fn is_python(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".pyi") || path.ends_with(".ipynb")
}

fn severity(said: &str) -> Option<(Severity, &str)> {
    let (word, message) = said.split_once(": ")?;
    let severity = match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "note" | "information" => Severity::Note,
        _ => return None,
    };
    Some((severity, message))
}

fn code(message: &str) -> (&str, &str) {
    let marked = [("  [", ']'), (" (report", ')')];
    for (open, close) in marked {
        let Some(inner) = message.strip_suffix(close) else { continue };
        let Some((before, _)) = inner.rsplit_once(open) else { continue };
        let code = inner.get(before.len()..).unwrap_or_default().trim_start_matches([' ', '[', '(']);
        if code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
            return (code, before);
        }
    }
    ("", message)
}

/// Returns the number of files checked, according to the last line.
fn total(text: &str) -> Option<u64> {
    if let Some(rest) = text.strip_prefix("Success: no issues found in ") {
        let (files, rest) = number(rest)?;
        return rest.starts_with(" source file").then_some(files);
    }
    if text.starts_with("Found ") {
        let (_, checked) = text.split_once(" (checked ")?;
        let (files, rest) = number(checked)?;
        return rest.starts_with(" source file").then_some(files);
    }
    // pyright does not state it.
    let (_, rest) = number(text)?;
    let words = rest.starts_with(" error") && rest.contains(" warning") && rest.contains(" information");
    (words && text.len() < 80).then_some(0)
}

/// Recognises the name of a file, alone on its line, under which pyright lists its findings.
fn pyright_file(text: &str) -> bool {
    text.starts_with('/') && is_python(text) && !text.contains(": ")
}

#[derive(Default)]
struct Mypy {
    found: Diagnostics,
    block: Option<MypyBlock>,
    checked: Option<u64>,
    pyright: bool,
}

#[derive(Default)]
struct MypyBlock {
    severity: Severity,
    file: String,
    place: String,
    text: String,
    more: String,
    complete: bool,
    /// The rule, if a later line names it.
    rule: String,
    /// The number of lines that followed it.
    follow: usize,
}

impl Stretch for Mypy {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line.text);
        if !belongs {
            self.flush();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.flush();
        let name = if self.pyright { "pyright" } else { "mypy" };
        let checked = match self.checked {
            None | Some(0) => String::new(),
            Some(files) => format!("; {} checked", named(files, "source file", "source files")),
        };
        let [.., notes] = self.found.counts;
        let notes = if notes > 0 { format!("; {}", named(notes, "note", "notes")) } else { String::new() };
        let mut page = Page::new(format!("{name}: {}{notes}{checked}", self.found.counted()));
        self.found.write(&mut page, name);
        page
    }
}

impl Mypy {
    fn belongs(&mut self, text: &str) -> bool {
        if let Some(head) = head(text) {
            self.pyright |= head.pyright;
            if head.severity == Severity::Note && self.block.as_ref().is_some_and(|block| block.file == head.file) {
                self.found.counts[2] += 1;
                // A note has the place of its error, and a link does not explain anything.
                if !head.message.starts_with("See https://") {
                    self.more(&format!("  note: {}", head.message));
                }
                return true;
            }
            self.flush();
            let complete = head.pyright || head.message.ends_with(']');
            let (file, place) = (clip(head.file, MAX_LINE_BYTES), clip(head.place, MAX_LINE_BYTES));
            let text = clip(text.trim_start(), 2 * MAX_LINE_BYTES);
            let severity = head.severity;
            self.block = Some(MypyBlock { severity, file, place, text, complete, ..MypyBlock::default() });
            return true;
        }
        if let Some(checked) = total(text) {
            self.flush();
            self.checked = Some(self.checked.unwrap_or_default().saturating_add(checked));
            return true;
        }
        let is_file = pyright_file(text) || self.pyright && is_python(text) && !text.contains(' ');
        if is_file || text.trim().is_empty() {
            self.flush();
            return true;
        }
        self.goes_on(text)
    }

    /// Takes a line that pretty output adds: the rest of a long message, the code, and markers under it.
    fn goes_on(&mut self, text: &str) -> bool {
        let Some(block) = &mut self.block else { return false };
        block.follow += 1;
        if block.follow > MAX_FOLLOWING_LINES {
            return false;
        }
        if self.pyright && text.starts_with("  ") {
            // The last of these lines names the rule.
            let rule = text.trim_end().strip_suffix(')').and_then(|inner| inner.rsplit_once(" (report"));
            if let Some((_, rule)) = rule.filter(|_| !block.text.ends_with(')')) {
                block.rule = format!("report{}", clip(rule, 80));
            }
            self.more(text);
            return true;
        }
        if text.starts_with("    ") {
            // The code is not shown, since the place says where it is.
            return true;
        }
        if block.complete {
            return false;
        }
        block.text.push(' ');
        block.text.push_str(&clip(text, MAX_LINE_BYTES));
        block.complete = text.ends_with(']') || block.text.len() > 2 * MAX_LINE_BYTES;
        true
    }

    fn more(&mut self, text: &str) {
        if let Some(block) = self.block.as_mut().filter(|block| block.more.len() < MAX_EXPLANATION_BYTES) {
            block.more.push_str(&clip(text.trim_end(), 300));
            block.more.push('\n');
        }
    }

    fn flush(&mut self) {
        let Some(block) = self.block.take() else { return };
        let (_, said) = block.text.split_once(": ").unwrap_or(("", &block.text));
        let (code, message) = code(said);
        let code = if code.is_empty() { block.rule.as_str() } else { code };
        self.found.add(&Diagnostic {
            number: None,
            severity: block.severity,
            file: &block.file,
            place: &block.place,
            code,
            message,
            text: &block.text,
            more: block.more.trim_end(),
        });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn errors_stand_with_their_notes() {
        let raw = r#"stock/cli.py:2: error: Library stubs not installed for "yaml"  [import-untyped]
stock/cli.py:2: note: Hint: "python3 -m pip install types-PyYAML"
stock/cli.py:2: note: See https://mypy.readthedocs.io/en/stable/running_mypy.html#missing-imports
stock/cli.py:13:5: error: Incompatible types in assignment (expression has
type "Article", variable has type "Zone")  [assignment]
        zone: Zone = article
        ^~~~~~~~~~~~~~~~~~~~
Found 2 errors in 1 file (checked 28 source files)
"#;
        check(raw, 500).shows(&expect![[r#"
            mypy: 2 errors in 1 file; 2 notes; 28 source files checked
            == mypy errors: 2
            stock/cli.py:2: error: Library stubs not installed for "yaml"  [import-untyped]
              note: Hint: "python3 -m pip install types-PyYAML"
            stock/cli.py:13:5: error: Incompatible types in assignment (expression has type "Article", variable has type "Zone")  [assignment]"#]]);
    }

    #[test]
    fn pyright_is_read() {
        let raw = "/srv/a.py\n  /srv/a.py:54:54 - error: Argument of type \"str\" cannot be assigned to parameter \"n\"\n    \"str\" is not assignable to \"int\" (reportArgumentType)\n  /srv/a.py:60:1 - warning: Import \"x\" could not be resolved (reportMissingImports)\n1 error, 1 warning, 0 informations\n";
        check(raw, 500).shows(&expect![[r#"
            pyright: 1 error, 1 warning in 1 file
            == pyright errors: 1
            /srv/a.py:54:54 - error: Argument of type "str" cannot be assigned to parameter "n"
                "str" is not assignable to "int" (reportArgumentType)
            == pyright warnings: 1
            /srv/a.py:60:1 - warning: Import "x" could not be resolved (reportMissingImports)"#]]);
    }

    #[test]
    fn other_lines_are_not_claimed() {
        for raw in ["a.c:1: error: x\n", "a.py:1:import os\n", "2 errors, 1 warning\n"] {
            assert!(!digest(raw, 300).contains("mypy:"), "{raw}");
        }
    }
}

//! Findings of eslint in the formats stylish, unix and compact, and of linters that print like it (stylelint, next
//! lint).

use super::diagnostic::{Diagnostic, Diagnostics, MAX_LINE_BYTES, Severity};
use crate::kinds::fold::Fold;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Eslint>("eslint", opens);

const MAX_TOTALS: usize = 40;

fn opens(text: &str, _: About<'_>) -> bool {
    match text.as_bytes().first() {
        Some(b' ' | b'0'..=b'9') => row(text).is_some(),
        Some(b'/' | b'.' | b'A'..=b'Z' | b'a'..=b'z') => is_file(text) || one_line(text).is_some(),
        // The first byte of the cross that begins the last line.
        Some(0xe2) => total(text).is_some(),
        _ => false,
    }
}

/// Returns whether a line is certainly a finding, and not possibly the name of a file.
pub(crate) fn is_finding(text: &str, _: About<'_>) -> bool {
    row(text).is_some() || one_line(text).is_some()
}

/// A finding: its place in the file, its severity, its message and its rule.
struct Row<'a> {
    place: &'a str,
    severity: Severity,
    message: &'a str,
    rule: &'a str,
}

/// Reads `  12:5  error  message  rule`.
fn row(text: &str) -> Option<Row<'_>> {
    let inner = text.trim_start();
    let (_, after) = number(inner)?;
    let (_, rest) = number(after.strip_prefix(':')?)?;
    let place = inner.get(..inner.len() - rest.len())?;
    // Only one space follows a time of day.
    let rest = rest.strip_prefix("  ")?.trim_start();
    let (word, rest) = rest.split_once(' ')?;
    let severity = match word {
        "error" | "Error:" | "✖" | "×" => Severity::Error,
        "warning" | "Warning:" | "⚠" | "‼" => Severity::Warning,
        _ => return None,
    };
    let said = rest.trim();
    let (message, rule) = match said.rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') => (message.trim_end(), rule),
        _ => (said, ""),
    };
    Some(Row { place, severity, message, rule })
}

/// Returns whether a line is only the name of a file that such linters check.
fn is_file(text: &str) -> bool {
    const ENDS: &[&str] = &[
        ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".json", ".css",
        ".scss", ".less", ".md", ".mdx", ".html", ".yml", ".yaml",
    ];
    let path = text.trim_end();
    let absolute = path.starts_with('/') || path.starts_with("./") || path.get(1..3) == Some(":\\");
    let relative = !path.contains([' ', '(', '\'', '"']) && path.contains('/');
    path.len() < 300 && (absolute || relative) && !path.contains(": ") && ENDS.iter().any(|end| path.ends_with(end))
}

/// Reads `/a.js:1:2: message [Error/rule]` and `/a.js: line 1, col 2, Error - message (rule)`.
fn one_line(text: &str) -> Option<(&str, Row<'_>)> {
    if let Some(inner) = text.strip_suffix(']') {
        let place = super::diagnostic::place(text)?;
        let (_, mark) = inner.rsplit_once(" [")?;
        let (severity, rule) = mark.split_once('/').unwrap_or((mark, ""));
        let message = place.rest.strip_suffix(text.get(inner.len() - mark.len() - 2..)?)?;
        return Some((place.path, Row { place: place.whole, severity: severity_of(severity)?, message, rule }));
    }
    let (file, rest) = text.split_once(": line ")?;
    let (position, rest) = rest.split_once(", ").and_then(|(_, rest)| rest.split_once(", "))?;
    if !position.starts_with("col ") || file.len() > 300 {
        return None;
    }
    let (severity, message) = rest.split_once(" - ")?;
    let severity = severity_of(severity)?;
    let ruled = message.strip_suffix(')').and_then(|inner| inner.rsplit_once(" ("));
    let (message, rule) = ruled.unwrap_or((message, ""));
    let place = text.split(", Error - ").next().unwrap_or_default().split(", Warning - ").next().unwrap_or_default();
    Some((file, Row { place, severity, message, rule }))
}

fn severity_of(word: &str) -> Option<Severity> {
    match word {
        "Error" => Some(Severity::Error),
        "Warning" => Some(Severity::Warning),
        _ => None,
    }
}

/// Returns the number of problems in the last line: `✖ 57 problems (40 errors, 17 warnings)`.
fn total(text: &str) -> Option<u64> {
    let (count, rest) = number(text.trim_start_matches(['✖', '×', '⚠', ' ']))?;
    let rest = rest.strip_prefix(" problem")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    (rest.is_empty() || rest.starts_with(" (")).then_some(count)
}

#[derive(Default)]
struct Eslint {
    found: Diagnostics,
    /// The file whose findings are being read.
    file: String,
    /// The line that named it, until a finding confirms that it is a file.
    unsure: Option<(u64, String)>,
    totals: Vec<Item>,
    /// Lines that looked like the name of a file but were not.
    strays: Fold,
    text: String,
}

impl Stretch for Eslint {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line);
        if !belongs {
            self.stray();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.stray();
        let mut page = match self.found.is_empty() {
            true => Page::default(),
            false => Page::new(format!("eslint: {}", self.found.counted())),
        };
        page.push(Part::new("eslint totals", Weight::Fact, self.totals));
        self.found.write(&mut page, "eslint");
        self.strays.put(&mut page);
        page
    }
}

impl Eslint {
    fn belongs(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(row) = row(text).filter(|_| !self.file.is_empty()) {
            self.unsure = None;
            self.text.clear();
            self.text.push_str(&self.file);
            self.text.push(':');
            self.text.push_str(row.place);
            let place_end = self.text.len();
            self.text.push_str(if row.severity == Severity::Error { " error " } else { " warning " });
            self.text.push_str(row.message);
            if !row.rule.is_empty() {
                self.text.push_str("  ");
                self.text.push_str(row.rule);
            }
            let Row { severity, message, rule: code, .. } = row;
            let (file, text) = (self.file.as_str(), self.text.as_str());
            let place = text.get(..place_end).unwrap_or_default();
            self.found.add(&Diagnostic { number: None, severity, file, place, code, message, text, more: "" });
            return true;
        }
        if let Some((file, Row { place, severity, message, rule: code })) = one_line(text) {
            self.stray();
            self.found.add(&Diagnostic { number: None, severity, file, place, code, message, text, more: "" });
            return true;
        }
        if is_file(text) {
            self.stray();
            self.file = clip(text.trim_end(), MAX_LINE_BYTES);
            self.unsure = Some((line.number, self.file.clone()));
            return true;
        }
        if text.trim().is_empty() {
            return true;
        }
        if total(text).is_some() || (text.contains(" fixable with the `--fix`") && text.starts_with("  ")) {
            self.stray();
            if self.totals.len() < MAX_TOTALS {
                self.totals.push(Item::plain(clip(text.trim(), MAX_LINE_BYTES)));
            }
            return true;
        }
        // The message may continue on indented lines below.
        !self.found.is_empty() && self.unsure.is_none() && text.starts_with("      ")
    }

    /// Treats the line that looked like the name of a file as something else.
    fn stray(&mut self) {
        if let Some((number, text)) = self.unsure.take() {
            self.file.clear();
            self.strays.take(&Line { number, text: &text, left_out: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn findings_stand_with_their_file() {
        let raw = r"
/srv/app/src/archive.ts
   1:22  error    'Result' is defined but never used        no-unused-vars
  15:35  warning  Unexpected console statement              no-console
  18:1   error    Parsing error: Unexpected token

/srv/app/src/main.ts
  6:3  error  Unexpected 'debugger' statement  no-debugger

✖ 4 problems (3 errors, 1 warning)
  1 error and 0 warnings potentially fixable with the `--fix` option.
";
        check(raw, 500).shows(&expect![[r#"
            eslint: 3 errors, 1 warning in 2 files
            == eslint totals: 2
            ✖ 4 problems (3 errors, 1 warning)
            1 error and 0 warnings potentially fixable with the `--fix` option.
            == eslint errors: 3
            /srv/app/src/archive.ts:1:22 error 'Result' is defined but never used  no-unused-vars
            /srv/app/src/archive.ts:18:1 error Parsing error: Unexpected token
            /srv/app/src/main.ts:6:3 error Unexpected 'debugger' statement  no-debugger
            == eslint warnings: 1
            /srv/app/src/archive.ts:15:35 warning Unexpected console statement  no-console"#]]);
    }

    #[test]
    fn one_line_formats_are_read() {
        let raw = "/srv/a.ts:4:3: Unexpected var, use let or const instead. [Error/no-var]\n\
                   /srv/a.ts: line 10, col 36, Warning - Expected '===' and instead saw '=='. (eqeqeq)\n\n2 problems\n";
        check(raw, 400).shows(&expect![[r#"
            eslint: 1 error, 1 warning in 1 file
            == eslint totals: 1
            2 problems
            == eslint errors: 1
            /srv/a.ts:4:3: Unexpected var, use let or const instead. [Error/no-var]
            == eslint warnings: 1
            /srv/a.ts: line 10, col 36, Warning - Expected '===' and instead saw '=='. (eqeqeq)"#]]);
    }

    #[test]
    fn names_of_files_alone_are_not_findings() {
        let text = digest("/srv/app/a.js\nsome text\n/srv/app/b.js\n12:30  error  at noon\n", 400);
        assert!(text.contains("/srv/app/a.js") && text.contains("some text"), "{text}");
    }
}

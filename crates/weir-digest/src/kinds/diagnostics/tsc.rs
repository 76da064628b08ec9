//! Diagnostics of the TypeScript compiler, plain and pretty.

use super::block::{DiagnosticBlock, Head};
use super::diagnostic::{Diagnostics, MAX_LINE_BYTES, Severity, named};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::{About, Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Tsc>("tsc", opens);

const MAX_EXPLANATION_BYTES: usize = 900;
const MAX_FOLLOWING_LINES: usize = 60;

pub(crate) fn opens(text: &str, _: About<'_>) -> bool {
    // Other tools state the number of errors in the same words, but not the number of files.
    diagnostic(text).is_some() || found_total(text).is_some_and(|(_, files)| files.is_some())
}

/// Reads `src/a.ts(1,2): error TS1: m`, `src/a.ts:1:2 - error TS1: m` and `error TS1: m`.
fn diagnostic(text: &str) -> Option<Head<'_>> {
    // Nearly every line of any output is rejected here.
    let at = memchr::memmem::find(text.as_bytes(), b" TS").map(|at| at + 1).filter(|&at| at < 600)?;
    let (code, message) = text.get(at..)?.split_once(": ")?;
    if code.len() > 9 || !code.bytes().skip(2).all(|byte| byte.is_ascii_digit()) || code.len() < 3 {
        return None;
    }
    let before = text.get(..at - 1)?;
    let (before, severity) = match before.strip_suffix("error") {
        Some(before) => (before, Severity::Error),
        None => match before.strip_suffix("warning") {
            Some(before) => (before, Severity::Warning),
            None => (before.strip_suffix("message").or_else(|| before.strip_suffix("suggestion"))?, Severity::Note),
        },
    };
    if before.is_empty() {
        return Some(Head { file: "", place: "", severity, code, message });
    }
    if let Some(place) = before.strip_suffix("): ") {
        let (file, position) = place.rsplit_once('(')?;
        number(position)?;
        let place = before.get(..place.len() + 1)?;
        return Some(Head { file, place, severity, code, message });
    }
    // A pretty diagnostic may follow the marker of a build tool.
    let position = before.strip_suffix(" - ")?;
    let file = position.rsplitn(3, ':').nth(2)?;
    Some(Head { file, place: position, severity, code, message })
}

/// Returns the totals at the end: errors and, if stated, files.
fn found_total(text: &str) -> Option<(u64, Option<u64>)> {
    // In watch mode, a time precedes it.
    let text = text.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(text, |(_, rest)| rest);
    let (errors, rest) = number(text.strip_prefix("Found ")?)?;
    let rest = rest.strip_prefix(" error")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    match rest.strip_prefix(" in ") {
        Some(rest) => match number(rest) {
            Some((files, " files." | " file.")) => Some((errors, Some(files))),
            // Another type checker ends with the same words and adds what it checked.
            Some(_) => None,
            None => Some((errors, Some(1))),
        },
        None => (rest == "." || rest.starts_with(". Watching")).then_some((errors, None)),
    }
}

#[derive(Default)]
struct Tsc {
    found: Diagnostics,
    block: Option<DiagnosticBlock>,
    /// The sum of the totals printed: a build of several projects prints several.
    said: u64,
    said_files: u64,
    /// Whether the table of files at the end is being read.
    in_table: bool,
}

impl Stretch for Tsc {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line);
        if !belongs {
            self.flush();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.flush();
        let said = match (self.said, self.said_files) {
            (0, _) => String::new(),
            (said, _) if said == self.found.counts[0] => String::new(),
            (said, 0) => format!(", {said} by its own count"),
            (said, files) => format!(", {said} in {} by its own count", named(files, "file", "files")),
        };
        let mut page = Page::new(format!("tsc: {}{said}", self.found.counted()));
        self.found.write(&mut page, "tsc");
        page
    }
}

impl Tsc {
    fn belongs(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(head) = diagnostic(text) {
            self.flush();
            self.in_table = false;
            self.block = Some(DiagnosticBlock::of(line.number, &head, clip(text, MAX_LINE_BYTES)));
            return true;
        }
        if let Some((errors, files)) = found_total(text) {
            self.flush();
            self.said = self.said.saturating_add(errors);
            self.said_files = self.said_files.saturating_add(files.unwrap_or_default());
            return true;
        }
        if text.starts_with("Errors  Files") {
            self.flush();
            self.in_table = true;
            return true;
        }
        if self.in_table && number(text.trim_start()).is_some_and(|(_, rest)| rest.starts_with("  ")) {
            return true;
        }
        self.explains(text)
    }

    /// Takes the lines after the first line of a diagnostic.
    fn explains(&mut self, text: &str) -> bool {
        let inner = text.trim();
        if inner.is_empty() {
            return true;
        }
        let Some(block) = &mut self.block else { return false };
        let indented = text.starts_with(' ');
        // Pretty output shows the line of code with its number, and markers below it.
        let code = number(text).is_some_and(|(_, rest)| rest.starts_with(' ') || rest.is_empty());
        let code = code && block.text.contains(" - ");
        block.follow += 1;
        if (!indented && !code) || block.follow > MAX_FOLLOWING_LINES {
            return false;
        }
        let drawn = inner.bytes().all(|byte| byte == b'~' || byte == b' ');
        if !drawn && block.more.len() < MAX_EXPLANATION_BYTES {
            block.more.push_str(&clip(text.trim_end(), 300));
            block.more.push('\n');
        }
        true
    }

    fn flush(&mut self) {
        let Some(block) = self.block.take() else { return };
        self.found.add(&block.found());
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn plain_and_pretty_diagnostics_are_read() {
        let raw = r#"src/a.ts(10,3): error TS2322: Type 'A | undefined' is not assignable to type 'A'.
  Type 'undefined' is not assignable to type 'A'.
error TS18003: No inputs were found in config file 'tsconfig.json'.
src/b.ts:5:15 - error TS2551: Property 'nam' does not exist on type 'A'. Did you mean 'name'?

5   const y = a.nam;
                ~~~

  src/b.ts:2:27
    2 interface A { name: string }
                    ~~~~
    'name' is declared here.


Found 3 errors in 2 files.

Errors  Files
     1  src/a.ts:10
     1  src/b.ts:5
"#;
        check(raw, 600).shows(&expect![[r#"
            tsc: 3 errors in 2 files
            == tsc errors: 3
            1: src/a.ts(10,3): error TS2322: Type 'A | undefined' is not assignable to type 'A'.
              Type 'undefined' is not assignable to type 'A'.
            error TS18003: No inputs were found in config file 'tsconfig.json'.
            4: src/b.ts:5:15 - error TS2551: Property 'nam' does not exist on type 'A'. Did you mean 'name'?
            5   const y = a.nam;
              src/b.ts:2:27
                2 interface A { name: string }
                'name' is declared here."#]]);
    }

    #[test]
    fn text_about_errors_is_not_claimed() {
        for raw in [
            "see error TS2322 for more\n",
            "Found 3 errors.\n",
            "Found 3 errors in 2 files (checked 4 source files)\n",
            "Files: many\n",
        ] {
            assert!(!digest(raw, 300).contains("tsc:"), "{raw}");
        }
    }
}

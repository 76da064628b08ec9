//! Markdown documents: the beginning, warnings and notes, the outline, what is said only once, and what repeats.

use std::io;

use super::outline::{LineNumbers, Outline};
use super::passages::{Paragraph, Passages, USUAL, counted};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::sample::Sample;
use crate::text::{clip, shorten};
use crate::{Item, Line, Lines, Page, Part, Source, Weight};

mod blocks;
mod detect;
mod marks;

use blocks::Blocks;
use marks::{
    fence, heading, is_asked_for, is_contents, is_separator, is_underline, list_item, note_label, task, worth,
};

pub(crate) const KIND: Kind = Kind::whole("markdown", detect::is, read);

const MAX_ITEMS: usize = 40;
/// The maximum number of first entries of a changelog.
const MAX_NEWEST_ENTRIES: usize = 12;
const MAX_LINE_BYTES: usize = 420;

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut document = Document::default();
    Lines::each(source, |line| document.line(line))?;
    Ok(Some(document.page()))
}

#[derive(Default)]
enum LineContext {
    #[default]
    Text,
    /// Between the marks at the beginning. It ends with the same mark.
    FrontMatter(&'static str),
    /// Between fences: the byte of the fence, and how many of it.
    Code(u8, usize),
    Comment,
}

#[derive(Default)]
struct Document {
    inside: LineContext,
    outline: Outline,
    paragraph: Paragraph,
    passages: Passages,
    front: KeptItems<MAX_ITEMS>,
    beginning: Vec<Item>,
    /// List items under the first versions of a changelog.
    newest: Vec<Item>,
    notes: KeptItems<MAX_ITEMS>,
    /// Whether lines belong to a preceding `> [!NOTE]`.
    in_note: bool,
    open_tasks: KeptItems<MAX_ITEMS>,
    done_tasks: u64,
    /// Code by its language, and tables by their header.
    code: Blocks,
    tables: Blocks,
    rows: u64,
    /// The previous line, which may be the header of a table.
    before: String,
    in_table: bool,
    links: u64,
    images: u64,
    /// Whether the section is one that readers look for.
    asked_for: bool,
}

impl Document {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim();
        match self.inside {
            LineContext::FrontMatter(mark) => self.front_matter(line, mark),
            LineContext::Code(byte, length) => {
                if fence(text).is_some_and(|(mark, long, info)| mark == byte && long >= length && info.is_empty()) {
                    self.inside = LineContext::Text;
                } else {
                    self.code.line(line);
                    self.passages.add(Some(line.number), text, USUAL * 9 / 10);
                }
            }
            LineContext::Comment => {
                if text.contains("-->") {
                    self.inside = LineContext::Text;
                }
            }
            LineContext::Text => self.text(line, text),
        }
    }

    fn front_matter(&mut self, line: &Line<'_>, mark: &str) {
        if line.text.trim_end() == mark {
            self.inside = LineContext::Text;
            return;
        }
        self.front.add(|| Item::at(line.number, clip(line.text.trim_end(), 200)));
    }

    fn text(&mut self, line: &Line<'_>, text: &str) {
        if line.number == 1 && matches!(text, "---" | "+++") {
            self.inside = LineContext::FrontMatter(if text == "---" { "---" } else { "+++" });
            return;
        }
        self.count_links(text);
        let bar = self.in_table || text.starts_with('|');
        if !bar {
            self.in_table = false;
        }
        if text.is_empty() {
            self.end_paragraph();
            self.in_note = false;
            self.in_table = false;
        } else if let Some((mark, length, info)) = fence(text) {
            self.end_paragraph();
            self.inside = LineContext::Code(mark, length);
            let language = info.split([' ', ',', '{', ':']).next().unwrap_or_default();
            self.code.begin(if language.is_empty() { "no language" } else { language }, None);
        } else if let Some((level, title)) = heading(line.text) {
            self.end_paragraph();
            self.asked_for = is_asked_for(title);
            self.outline.add(line.number, level, title);
        } else if is_underline(text) && self.paragraph.lines() == 1 {
            let title = shorten(self.paragraph.text(), 200);
            let level = if text.starts_with('=') { 1 } else { 2 };
            self.outline.add(self.paragraph.line(), level, &title);
            self.paragraph.clear();
        } else if text.starts_with("<!--") {
            if !text.contains("-->") {
                self.inside = LineContext::Comment;
            }
        } else if is_separator(text) {
            self.begin_table(line.number);
        } else if self.in_table && text.contains('|') {
            self.rows += 1;
            self.tables.line(line);
            self.passages.add(Some(line.number), text, USUAL * 9 / 10);
        } else {
            self.in_table = false;
            self.outline.dated(line.number, text);
            self.other(line, text);
        }
        self.before.clear();
        self.before.push_str(text.get(..text.floor_char_boundary(200)).unwrap_or_default());
    }

    fn begin_table(&mut self, number: u64) {
        // What looked like a paragraph was the header of a table.
        if self.paragraph.lines() <= 1 {
            self.paragraph.clear();
        }
        if !self.before.contains('|') {
            return;
        }
        self.in_table = true;
        self.tables.begin(&self.before, Some(number.saturating_sub(1)));
    }

    fn other(&mut self, line: &Line<'_>, text: &str) {
        if let Some(item) = list_item(text) {
            self.end_paragraph();
            self.outline.entry();
            if let Some((done, task)) = task(item) {
                self.task(line, text, task, done);
            } else if !is_contents(item) {
                // In a changelog, readers look for what is new.
                if (1..=3).contains(&self.outline.version_total) && self.newest.len() < MAX_NEWEST_ENTRIES {
                    self.newest.push(Item::at(line.number, clip(text, 240)));
                }
                self.paragraph.push(line.number, text);
            }
            return;
        }
        let quoted = text.trim_start_matches(['>', ' ']);
        if note_label(quoted) {
            self.end_paragraph();
            self.in_note = true;
            self.notes.add(|| Item::at(line.number, clip(text, MAX_LINE_BYTES)));
            self.passages.cover(text);
        } else if self.in_note {
            if let Some(note) = self.notes.items.last_mut().filter(|note| note.text.len() < MAX_LINE_BYTES) {
                note.text.push(' ');
                note.text.push_str(&clip(quoted, MAX_LINE_BYTES));
            }
            self.passages.cover(text);
        } else {
            self.paragraph.push(line.number, if text.starts_with('>') { quoted } else { text });
        }
    }

    fn task(&mut self, line: &Line<'_>, text: &str, task: &str, done: bool) {
        if done {
            self.done_tasks += 1;
            self.passages.add(Some(line.number), task, USUAL / 2);
            return;
        }
        self.open_tasks.add(|| Item::at(line.number, clip(text, 200)));
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let is_first = self.beginning.is_empty()
            && !self.paragraph.text().starts_with(['<', '[', '!'])
            && list_item(self.paragraph.text()).is_none();
        let mut worth = worth(self.paragraph.text());
        if self.asked_for {
            worth = worth * 3 / 2;
        }
        if self.paragraph.text().starts_with("[![") || self.paragraph.text().starts_with('<') {
            worth = USUAL / 5;
        }
        for (place, (number, sentence)) in self.paragraph.sentences().enumerate() {
            if is_first && place < 2 {
                self.passages.cover(sentence);
                self.beginning.push(Item::at(number, shorten(sentence, MAX_LINE_BYTES)));
            } else {
                self.passages.add(Some(number), sentence, worth.max(marks::worth(sentence)));
            }
        }
        self.paragraph.clear();
    }

    fn count_links(&mut self, text: &str) {
        let mut from = 0;
        for at in memchr::memmem::find_iter(text.as_bytes(), b"](") {
            // Where nothing opens after the previous address, that address is of an image in the text of a link.
            let start = std::mem::replace(&mut from, at + "](".len());
            let opens = text.get(start..at).and_then(|before| before.rfind('[')).map(|open| start + open);
            let image = opens.is_some_and(|open| text.get(..open).is_some_and(|before| before.ends_with('!')));
            if image { self.images += 1 } else { self.links += 1 }
        }
    }

    fn page(mut self) -> Page {
        self.end_paragraph();
        let mut page = Page::new(self.what());
        let Self { outline, mut passages, front, notes, open_tasks, code, tables, beginning, .. } = self;
        page.push(front.part("front matter", Weight::Fact));
        page.push(Part::new("beginning", Weight::Fact, beginning));
        page.push(notes.part("notes and warnings", Weight::Failure));
        if outline.has_versions() {
            for item in &self.newest {
                passages.cover(&item.text);
            }
            page.push(Part::new("first entries", Weight::Fact, self.newest));
        }
        let headings = outline.parts(&mut passages, LineNumbers::Yes);
        page.parts.extend(headings);
        page.push(open_tasks.part("open tasks", Weight::Fact));
        page.push(tables.rare("tables of their own kind", &mut passages));
        page.push(code.rare("code of its own kind", &mut passages));
        page.push(passages.part("most telling passages", Weight::Fact));
        let mut repeated = tables.repeated();
        repeated.extend(code.repeated());
        page.push(Part::new("repeated headers and languages", Weight::Shape, repeated));
        page
    }

    fn what(&self) -> String {
        let tasks = self.open_tasks.total + self.done_tasks;
        let mut parts = vec![format!("markdown: {}", counted(self.outline.total, "heading"))];
        let counts = [
            (self.code.total, "code block"),
            (self.tables.total, "table"),
            (self.links, "link"),
            (self.images, "image"),
            (tasks, "task"),
        ];
        for (count, name) in counts.into_iter().filter(|(count, _)| *count > 0) {
            let more = match name {
                "table" => format!(" with {}", counted(self.rows, "row")),
                "task" => format!(", {} of them open", self.open_tasks.total),
                _ => String::new(),
            };
            parts.push(counted(count, name) + &more);
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_manual_is_shown_by_what_it_says_once() {
        let mut text = String::from(
            "---\ntitle: Heron\n---\n# Heron\n\nHeron keeps queues. It is small.\n\n> **Warning:** 1.x cannot be read.\n\n\
             - [ ] write the guide\n- [x] release it\n\n## Install\n\n```sh\ncargo install heron\n```\n\n\
             | Code | Meaning |\n|---|---|\n| 9 | the store is damaged |\n\n",
        );
        for name in ["save", "list", "drop", "copy", "move"] {
            text.push_str(&format!(
                "## heron {name}\n\n### Options of {name}\n\nThe command `{name}` works on a store.\n\n"
            ));
        }
        check(&text, 600).shows(&expect![[r#"
            markdown: 12 headings, 1 code block, 1 table with 1 row, 2 tasks, 1 of them open
            == front matter: 1
            2: title: Heron
            == beginning: 1
            6: Heron keeps queues. It is small.
            == notes and warnings: 1
            8: > **Warning:** 1.x cannot be read.
            == headings, 7 in all, rows: 1
            4 Heron; 13 Install; 23 heron save; 29 heron list; 35 heron drop; 41 heron copy; 47 heron move
            == lower headings, 5 in all, rows: 1
            25 Options of save; 31 Options of list; 37 Options of drop; 43 Options of copy; 49 Options of move
            == open tasks: 1
            10: - [ ] write the guide
            == tables of their own kind: 1
            19: | Code | Meaning |
            | 9 | the store is damaged |
            == code of its own kind: 1
            16: cargo install heron
            == most telling passages: 8, 2 shown
            11: release it
            27: The command `save` works on a store."#]]);
    }

    #[test]
    fn an_image_in_a_link_is_one_image_and_one_link() {
        let badge = |name: &str| format!("[![{name}](https://a.example/{name}.svg)](https://a.example/{name})");
        let text = format!(
            "# Shop\n\n{} {}\n\nSells things. See [the manual](manual.md).\n\n![a shelf](shelf.png)\n",
            badge("build"),
            badge("docs")
        );
        let told = digest(&text, 400);
        assert!(told.contains("markdown: 1 heading, 3 links, 3 images; "), "{told}");
    }

    #[test]
    fn a_changelog_is_shown_by_its_versions() {
        let text = "# Changelog\n\n## [2.1.0] - 2026-03-04\n\n### Added\n\n- a new thing\n- another one\n\n### Fixed\n\n\
                    - the old thing\n\n## [2.0.0] - 2026-01-02\n\n- **Breaking:** everything\n\n## 1.0.0\n\n- first\n";
        check(text, 400).shows(&expect![[r#"
            markdown: 6 headings
            == first entries: 5
            7: - a new thing
            8: - another one
            12: - the old thing
            16: - **Breaking:** everything
            20: - first
            == versions with their entries, 3 in all: the first, the last, then rows of those between: 3
            3: [2.1.0] - 2026-03-04: 3 entries (Added 2, Fixed 1)
            18: 1.0.0: 1 entry
            14 [2.0.0] - 2026-01-02: 1
            == headings, 1 in all, rows: 1
            1 Changelog"#]]);
    }

    #[test]
    fn what_is_no_markdown_is_left_alone() {
        let script = "#!/bin/sh\n# Make it.\n# Then run it.\nset -e\nfor x in a b; do\n  echo $x\ndone\n";
        let config = "# The port.\nport 22\n# The host.\nhost 0.0.0.0\n# Who may come in.\nusers all\n".repeat(5);
        let log = "# started\n\n2026-01-02 03:04:05 INFO one\n2026-01-02 03:04:06 INFO two\n- a\n- b\n- c\n**x**\n";
        let diff = "diff --git a/x.md b/x.md\n--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-# One\n+# Two\n";
        for text in [script, &config, log, diff] {
            assert!(!digest(text, 600).contains("markdown:"), "{text}");
        }
    }

    #[test]
    fn versions_have_the_dates_below_them_and_headings_no_targets() {
        let mut text = String::from("# [Log](log.html \"The log\")[¶](#log \"Permalink\")\n\n");
        for number in (1..=9).rev() {
            text.push_str(&format!(
                "## [3.{number}](https://example.org/v3.{number})\n\nReleased 2025-05-0{number}\n\n- a fix\n\n"
            ));
        }
        let digest = digest(&text, 400);
        assert!(digest.contains("3.9 (2025-05-09): 1 entry") && digest.contains("\n1 Log\n"), "{digest}");
        assert!(digest.contains("3.5 (2025-05-05): 1"), "{digest}");
    }
}

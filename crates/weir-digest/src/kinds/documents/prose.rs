//! Plain text for people: the beginning, sections, labelled lines, and what is said only once.

use std::io;

use super::passages::{Paragraph, Passages, USUAL, counted};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::joined;
use crate::kinds::shared::counts::Tally;
use crate::kinds::shared::stamp;
use crate::sample::Sample;
use crate::text::{clip, shorten};
use crate::trouble;
use crate::{Item, Line, Lines, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("prose", is, read);

const MAX_ITEMS: usize = 40;
const MAX_LINE_BYTES: usize = 600;
const MAX_TITLE_BYTES: usize = 90;

/// Returns whether this is text for people: paragraphs of sentences, and hardly a line that a program would print.
fn is(sample: &Sample<'_>) -> bool {
    let (mut bytes, mut in_sentences, mut lines, mut other, mut joined, mut ends) = (0, 0, 0, 0, 0, 0);
    let (mut open, mut before, mut levels) = (false, 0, 0);
    for line in sample.lines() {
        let text = line.trim();
        if text.is_empty() {
            open = false;
            continue;
        }
        lines += 1;
        bytes += if is_rule(text) { 0 } else { text.len() };
        let sentence = is_sentence(text);
        if sentence {
            in_sentences += text.len();
            // A line that continues the sentence of the previous line belongs to a paragraph.
            let goes_on = text.starts_with(char::is_lowercase) || before >= 60;
            joined += usize::from(open && goes_on);
            let ended = text.ends_with(['.', '!', '?', ':', '"', '”', '’', ')']) && !text.ends_with("...");
            ends += usize::from(ended || text.len() > 200);
        } else {
            other += usize::from(!is_title(text) && !is_rule(text) && label(text).is_none());
        }
        if stamp::of(line).is_some() {
            return false;
        }
        levels += usize::from(trouble::level(line).is_some());
        before = text.len();
        open = sentence && !text.ends_with('.');
    }
    lines >= 5
        && bytes >= 400
        && in_sentences * 100 >= bytes * 70
        && other * 10 <= lines
        && levels * 50 <= lines
        && ends * 20 >= lines
        && (joined * 6 >= lines || ends * 2 >= lines)
}

/// Returns whether a line is part of a sentence: many words of letters, and little punctuation.
fn is_sentence(text: &str) -> bool {
    let (mut words, mut letters, mut plain) = (0, 0, 0);
    for word in text.split_ascii_whitespace() {
        words += 1;
        let bare = word.trim_matches(|c: char| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\'' | '“' | '”' | '’' | '—' | '–' | '*' | '_'
            )
        });
        let of_letters = !bare.is_empty() && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
        letters += usize::from(of_letters);
        plain += usize::from(of_letters && bare.chars().next().is_some_and(char::is_lowercase));
    }
    words >= 4 && letters * 4 >= words * 3 && plain * 2 >= words
}

/// Returns whether a line may be a title: short, and without a closing punctuation mark.
fn is_title(text: &str) -> bool {
    text.len() <= MAX_TITLE_BYTES
        && !text.ends_with(['.', ';', ',', '{', '}'])
        && text.chars().next().is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
        && text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count() * 10 >= text.chars().count() * 6
}

/// Recognises `2. Staff and training`.
fn is_point(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    text.len() <= 60 && rest.len() < text.len() && rest.starts_with([' ', ')']) && text.split(' ').count() <= 9
}

/// Recognises a line of one repeated character: `=====`.
fn is_rule(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    text.len() >= 3
        && matches!(first, b'=' | b'-' | b'*' | b'_' | b'~' | b'#')
        && text.bytes().all(|byte| byte == first)
}

/// Returns the words before the colon of `ACTION: …`, `Next meeting: …` and `DECISION 7: …`.
fn label(text: &str) -> Option<&str> {
    let end = text.as_bytes().iter().take(32).position(|byte| *byte == b':')?;
    let name = text.get(..end)?;
    let after = text.get(end + 1..)?;
    let named = name.starts_with(|c: char| c.is_uppercase())
        && name.split(' ').count() <= 3
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '/'));
    (named && (after.is_empty() || after.starts_with(' '))).then_some(name)
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut text = Text::default();
    Lines::each(source, |line| text.line(line))?;
    Ok(Some(text.page()))
}

#[derive(Default)]
struct Text {
    paragraph: Paragraph,
    passages: Passages,
    beginning: Vec<Item>,
    /// Titles that are underlined or in capitals.
    sections: Sections,
    /// Numbered titles, without their number.
    points: Tally<500>,
    titles: Sections,
    labels: Tally<500>,
    /// Paragraphs with a label in capitals.
    labelled: Vec<(Item, String)>,
    paragraphs: u64,
    words: u64,
}

#[derive(Default)]
struct Sections {
    kept: Vec<Item>,
    last: Option<Item>,
    total: u64,
}

impl Sections {
    fn add(&mut self, line: u64, title: &str) {
        self.total += 1;
        let item = Item::at(line, clip(title, 160));
        if self.kept.len() < MAX_ITEMS {
            self.kept.push(item);
        } else {
            self.last = Some(item);
        }
    }

    fn part(mut self, name: &str) -> Part {
        // The first and the last show the range.
        let last = self.last.take().or_else(|| if self.kept.len() > 2 { self.kept.pop() } else { None });
        let first = (!self.kept.is_empty()).then(|| self.kept.remove(0));
        let mut items: Vec<Item> = first.into_iter().chain(last).collect();
        let between = self.kept.iter().map(|item| format!("{} {}", item.line.unwrap_or(0), item.text));
        items.extend(joined(between, "; ", 120));
        let name = format!("{name}, {} in all: the first, the last, then rows of those between", self.total);
        Part::new(name, Weight::Fact, items)
    }
}

impl Text {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim();
        self.words += text.split_ascii_whitespace().count() as u64;
        if text.is_empty() {
            self.end_paragraph();
        } else if is_rule(text) {
            let is_title = self.paragraph.lines() == 1 && self.paragraph.text().len() <= 2 * MAX_TITLE_BYTES;
            if is_title && !self.beginning.is_empty() {
                self.sections.add(self.paragraph.line(), self.paragraph.text());
                self.paragraph.clear();
            } else {
                self.end_paragraph();
            }
        } else {
            if label(text).is_some() {
                self.end_paragraph();
            }
            self.paragraph.push(line.number, text);
        }
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let mut paragraph = std::mem::take(&mut self.paragraph);
        let text = paragraph.text();
        let line = paragraph.line();
        if self.beginning.is_empty() {
            self.passages.cover(text);
            self.beginning.push(Item::at(line, shorten(text, MAX_LINE_BYTES)));
        } else if paragraph.lines() == 1
            && label(text).is_none()
            && (is_point(text) || is_title(text) && !is_sentence(text))
        {
            match is_capitals(text) {
                true => self.sections.add(line, text),
                false => {
                    self.points.add(text.trim_start_matches(|c: char| !c.is_alphabetic()));
                    self.titles.add(line, text);
                }
            }
        } else if let Some(name) = label(text) {
            self.labelled(line, name, text);
        } else {
            self.paragraphs += 1;
            for (number, sentence) in paragraph.sentences() {
                self.passages.add(Some(number), sentence, worth(sentence));
            }
        }
        // Its buffer is reused.
        paragraph.clear();
        self.paragraph = paragraph;
    }

    fn labelled(&mut self, line: u64, name: &str, text: &str) {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        self.labels.add(name);
        if is_capitals(name) && self.labelled.len() < 5 * MAX_ITEMS {
            self.labelled.push((Item::at(line, shorten(text, MAX_LINE_BYTES)), name.to_owned()));
        } else {
            self.passages.add(Some(line), text, worth(text));
        }
    }

    fn page(mut self) -> Page {
        self.end_paragraph();
        let counts = [(self.words, "word"), (self.sections.total, "section"), (self.paragraphs, "paragraph")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| counted(*count, name));
        let mut page = Page::new(format!("text: {}", counts.collect::<Vec<_>>().join(", ")));
        let Self { mut passages, beginning, sections, points, titles, labels, mut labelled, .. } = self;
        page.push(Part::new("beginning", Weight::Fact, beginning));
        // A rare label marks something more important.
        labelled.sort_by_key(|(item, name)| (labels.get(name), item.line));
        let total = labelled.iter().map(|(_, name)| name.as_str()).collect::<std::collections::BTreeSet<_>>();
        let total: u64 = total.iter().map(|name| labels.get(name)).sum();
        for (item, _) in &labelled {
            passages.cover(&item.text);
        }
        let items: Vec<Item> = labelled.into_iter().map(|(item, _)| item).take(MAX_ITEMS).collect();
        page.push(Part::new("paragraphs with a label, rare labels first", Weight::Failure, items).of(total));
        page.push(sections.part("sections"));
        let repeats = points.names() as u64 * 2 <= titles.total;
        if !repeats {
            page.push(titles.part("titles"));
        }
        let telling = passages.part("most telling sentences", Weight::Fact);
        page.push(telling);
        if repeats && points.names() > 0 {
            let items = vec![Item::plain(shorten(&points.in_line(30), 800))];
            page.push(Part::new("titles below sections, with counts", Weight::Shape, items).of(1));
        }
        if labels.names() > 0 {
            let items = vec![Item::plain(shorten(&labels.in_line(20), 500))];
            page.push(Part::new("labels, with counts", Weight::Shape, items).of(1));
        }
        page
    }
}

fn is_capitals(text: &str) -> bool {
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    letters().count() >= 2 && letters().all(|c| !c.is_lowercase())
}

/// Returns the worth of a sentence. Decisions, tasks, failures and numbers raise it.
fn worth(text: &str) -> u64 {
    #[rustfmt::skip]
    const WORDS: [&str; 16] = [
        "decided", "agreed", "must ", "cannot", "deadline", "approved", "rejected", "because", "conclu", "therefore",
        "shall ", "recommend", "result", "important", "failed", "in total",
    ];
    let said = WORDS.iter().any(|word| text.contains(word));
    let counted = text.bytes().any(|byte| byte.is_ascii_digit());
    USUAL + if said { 30 } else { 0 } + if counted { 15 } else { 0 }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn minutes_are_shown_by_their_decisions() {
        let mut text = String::from("MINUTES OF THE TEAM\n===================\n\n");
        for number in 1..=8 {
            text.push_str(&format!(
                "Meeting {number}, {number} May 2026\n------------------\n\n1. Sensors\n\nThe chair reported that the \
                 gauges were cleaned in the spring of this year, and that nothing else\nhas happened since the last time, which was left open\nby all who were there.\nThe desk said\nthat it agrees with all of this.\n\n"
            ));
            if number == 5 {
                text.push_str(
                    "DECISION 7: The contract is not renewed. It ends on 31 August\n2026, and saves 41,300 EUR.\n\n",
                );
            }
        }
        check(&text, 500).shows(&expect![[r#"
            text: 430 words, 8 sections, 8 paragraphs
            == beginning: 1
            1: MINUTES OF THE TEAM
            == paragraphs with a label, rare labels first: 1
            59: DECISION 7: The contract is not renewed. It ends on 31 August 2026, and saves 41,300 EUR.
            == sections, 8 in all: the first, the last, then rows of those between: 4
            4: Meeting 1, 1 May 2026
            84: Meeting 8, 8 May 2026
            15 Meeting 2, 2 May 2026; 26 Meeting 3, 3 May 2026; 37 Meeting 4, 4 May 2026; 48 Meeting 5, 5 May 2026; 62 Meeting 6, 6 May 2026
            73 Meeting 7, 7 May 2026
            == most telling sentences: 16, 2 shown
            9: The chair reported that the gauges were cleaned in the spring of this year, and that nothing else has happened since the last time, which was left open by all who were there.
            92: The desk said that it agrees with all of this.
            == titles below sections, with counts: 1
            Sensors 8
            == labels, with counts: 1
            DECISION 1"#]]);
    }

    #[test]
    fn what_is_no_prose_is_left_alone() {
        let log =
            "2026-01-02 03:04:05 the server was started and is ready to take requests from all of us.\n".repeat(20);
        let list = "one two\nthree four\nfive six\n".repeat(30);
        let help =
            "Usage: x [OPTIONS]\n\nOptions:\n  -a, --all     show everything there is\n  -b, --bare    show less\n\
                    \x20 -c, --colour  use colours\n"
                .repeat(5);
        for text in [&log, &list, &help] {
            assert!(!digest(text, 600).contains("; text: "), "{text}");
        }
    }
}

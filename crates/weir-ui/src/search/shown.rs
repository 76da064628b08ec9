//! A hit as people read it: an excerpt with the words that were found, whose words it is, and what speaks against it.

use weir_core::EntryKind;
use weir_core::query::terms;
use weir_core::words::each_word;
use weir_knowledge::staleness::Doubt;
use weir_pages::search::{self, Excerpt, HitKind, Target};
use weir_pages::words::{Badge, Mark, Span, Standing};
use weir_store::{Hit, Unreadable};

use super::super::view::{View, entry_title, reach_of, words_of};

/// The minimum number of letters with which a word must begin as one of the query does.
const MIN_STEM_CHARS: usize = 4;

pub(super) fn hit(view: &View<'_>, query: &str, hit: &Hit, doubts: &[Doubt]) -> search::Hit {
    let entry = &hit.entry;
    let stems = stems(query);
    let (kind, words) = (kind_of(entry.kind), words_of(entry));
    let is_old = entry.superseded_by.is_some();
    search::Hit {
        kind,
        title: entry_title(entry).into(),
        is_code: matches!(entry.kind, EntryKind::Run | EntryKind::File | EntryKind::Document),
        target: Target::Entry(entry.reference.as_str().into()),
        line: matches!(kind, HitKind::Output | HitKind::Document).then_some(hit.line),
        about: about(hit).map(Into::into),
        excerpt: excerpt(hit, kind, &stems),
        at: view.moment(entry.at),
        reach: entry.note.is_some().then(|| reach_of(entry)),
        badges: badges(hit, doubts),
        is_old,
        can_confirm: words.standing == Standing::Unconfirmed && !is_old,
        words,
    }
}

pub(super) fn kind_of(kind: EntryKind) -> HitKind {
    match kind {
        EntryKind::Note => HitKind::Note,
        EntryKind::Said | EntryKind::Import => HitKind::Event,
        EntryKind::Run | EntryKind::File => HitKind::Output,
        EntryKind::Document => HitKind::Document,
        EntryKind::Page => HitKind::Page,
    }
}

/// Returns what else there is to say of a hit in a few words.
fn about(hit: &Hit) -> Option<String> {
    let note = hit.entry.note.as_ref().map(|note| format!("{}, revision {}", note.kind, note.revision));
    let heading = (!hit.heading.is_empty()).then(|| hit.heading.clone());
    let line = (hit.line > 1).then(|| format!("line {}", hit.line));
    let all: Vec<String> = [note, heading, line].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn badges(hit: &Hit, doubts: &[Doubt]) -> Vec<Badge> {
    let unreadable = hit.unreadable.map(|why| match why {
        Unreadable::Lost => "its text is lost",
        Unreadable::Now => "its text cannot be read at the moment",
    });
    let unreadable = unreadable.map(|why| Badge::Doubt(why.into()));
    let doubts = doubts.iter().map(|doubt| Badge::Doubt(doubt.to_string().into()));
    let mut badges: Vec<Badge> = unreadable.into_iter().chain(doubts).collect();
    if hit.entry.superseded_by.is_some() {
        badges.push(Badge::Plain("superseded".into()));
    }
    if hit.by_meaning {
        badges.push(Badge::Plain("similar in meaning".into()));
    }
    badges
}

fn excerpt(hit: &Hit, kind: HitKind, stems: &[String]) -> Excerpt {
    match kind {
        HitKind::Output | HitKind::Document => {
            let lines = (hit.line..).zip(hit.excerpt.lines());
            Excerpt::Lines(lines.map(|(number, line)| (number, spans(line, stems))).collect())
        }
        HitKind::Note | HitKind::Event | HitKind::Page => Excerpt::Prose(spans(&hit.excerpt, stems)),
    }
}

/// Returns the beginnings of the words of a query, without their endings.
fn stems(query: &str) -> Vec<String> {
    let stem = |word: &String| {
        let letters = word.chars().count();
        word.chars().take(letters.saturating_sub(2).max(MIN_STEM_CHARS)).collect()
    };
    terms(query).iter().flat_map(|term| &term.words).map(stem).collect()
}

/// Returns a text in pieces, with the words marked that begin as one of the query does.
fn spans(line: &str, stems: &[String]) -> Vec<Span> {
    let mut marked: Vec<(usize, usize)> = Vec::new();
    let start = line.as_ptr() as usize;
    each_word(line, |word| {
        let lower = word.to_lowercase();
        if stems.iter().any(|stem| lower.starts_with(stem.as_str())) {
            let at = word.as_ptr() as usize - start;
            marked.push((at, at + word.len()));
        }
    });
    let mut spans = Vec::new();
    let mut last = 0;
    for (from, to) in marked {
        spans.push(Span { text: line[last..from].into(), mark: Mark::None });
        spans.push(Span { text: line[from..to].into(), mark: Mark::Found });
        last = to;
    }
    spans.push(Span { text: line[last..].into(), mark: Mark::None });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_words_are_marked_whatever_their_ending() {
        let marked = |line: &str, query: &str| {
            let spans = spans(line, &stems(query));
            let shown: Vec<String> = spans
                .iter()
                .map(|span| match span.mark {
                    Mark::Found => format!("[{}]", span.text.plain()),
                    _ => span.text.plain(),
                })
                .collect();
            shown.concat()
        };
        assert_eq!(marked("Four uploads at once; é UPLOAD", "upload"), "Four [uploads] at once; é [UPLOAD]");
        assert_eq!(marked("<b>pool</b>", "the pool"), "<b>[pool]</b>");
        assert_eq!(marked("nothing", "upload"), "nothing");
    }
}

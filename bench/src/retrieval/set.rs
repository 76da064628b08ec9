//! Sets of documents with questions, and the documents that answer each.
//!
//! Invariant: a question is in the same half in every run, whatever else is in its set.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use weir_core::{EntryKind, Timestamp};

/// Sets made by others, below the folder of shared data. They are read in place and never copied.
pub(crate) const PUBLIC: [&str; 4] = ["locomo", "lme_s_clip", "cosqa", "tldr"];

/// The sorts of question whose newest evidence is the right one.
pub(crate) const UPDATE: [&str; 2] = ["knowledge-update", "update"];

/// The maximum length of a piece. Longer documents are split for engines that rank what they are given.
const MAX_PIECE_BYTES: usize = 2_400;

pub(crate) struct Set {
    pub name: String,
    pub documents: Vec<Document>,
    pub questions: Vec<Question>,
}

pub(crate) struct Document {
    pub id: String,
    /// The group; a question searches only the documents of its own group.
    pub group: String,
    pub title: String,
    pub text: String,
    pub kind: EntryKind,
    pub at: Option<Timestamp>,
    pub topic: Option<String>,
}

pub(crate) struct Question {
    pub id: String,
    pub group: String,
    pub text: String,
    pub sort: String,
    pub now: Option<Timestamp>,
    /// How well each document answers it: 1, or 2 for the newest of several.
    pub grades: HashMap<String, u8>,
    /// Words that must be in the excerpt, if the set specifies them.
    pub answer: Option<String>,
}

/// A span of a document, for engines that rank what they are given.
pub(crate) struct Piece<'a> {
    pub document: usize,
    pub title: &'a str,
    pub text: &'a str,
}

/// A half of the questions: parameters are chosen on one and reported on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Development,
    HeldOut,
}

impl Half {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::HeldOut => "held-out",
        }
    }

    /// Returns the half of a question, which depends only on its id.
    pub(crate) fn of(id: &str) -> Self {
        let mut hash = id
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        // FNV's low bit is only the parity of the bytes; this spreads the others over it.
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        if (hash ^ (hash >> 33)) & 1 == 0 { Self::Development } else { Self::HeldOut }
    }
}

impl Question {
    pub(crate) fn is_update(&self) -> bool {
        UPDATE.contains(&self.sort.as_str())
    }
}

impl Set {
    /// Reads a public set, or returns `None` if it is not on this machine.
    pub(crate) fn load(name: &str) -> Option<Self> {
        let folder = shared().join(name);
        let corpus = std::fs::read_to_string(folder.join("corpus.jsonl")).ok()?;
        let queries = std::fs::read_to_string(folder.join("queries.jsonl")).unwrap();
        let judged = std::fs::read_to_string(folder.join("qrels.tsv")).unwrap();
        let documents = corpus.lines().map(|line| document(name, line)).collect();
        let mut questions: Vec<Question> = queries.lines().map(question).collect();
        let places: HashMap<String, usize> =
            questions.iter().enumerate().map(|(place, question)| (question.id.clone(), place)).collect();
        for line in judged.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [asked, found, grade] = fields[..] else { panic!("{name}: {line}") };
            questions[places[asked]].grades.insert(found.to_owned(), grade.parse().unwrap());
        }
        questions.retain(|question| !question.grades.is_empty());
        Some(Self { name: name.to_owned(), documents, questions })
    }

    pub(crate) fn groups(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, document) in self.documents.iter().enumerate() {
            groups.entry(&document.group).or_default().push(place);
        }
        groups
    }

    pub(crate) fn pieces(&self, documents: &[usize]) -> Vec<Piece<'_>> {
        let cut = |&document: &usize| {
            let Document { title, text, .. } = &self.documents[document];
            spans(text).into_iter().map(move |text| Piece { document, title, text })
        };
        documents.iter().flat_map(cut).collect()
    }

    /// Writes every span of the set as JSON Lines, in the layout of the public sets, for a model that embeds them.
    pub(crate) fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let all: Vec<usize> = (0..self.documents.len()).collect();
        let corpus = self.pieces(&all).into_iter().map(|piece| {
            let parent = &self.documents[piece.document].id;
            serde_json::json!({ "parent": parent, "title": piece.title, "text": piece.text }).to_string() + "\n"
        });
        std::fs::write(folder.join("corpus.jsonl"), corpus.collect::<String>()).unwrap();
        let queries = self.questions.iter();
        let queries =
            queries.map(|asked| serde_json::json!({ "_id": asked.id, "text": asked.text }).to_string() + "\n");
        std::fs::write(folder.join("queries.jsonl"), queries.collect::<String>()).unwrap();
    }
}

/// Returns the folder of the public sets, which is next to the project and not in it.
pub(crate) fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/retrieval")
}

#[derive(serde::Deserialize)]
struct SetLine {
    #[serde(rename = "_id")]
    id: String,
    group: String,
    text: String,
    #[serde(default)]
    title: String,
    ts: Option<String>,
    #[serde(default, rename = "type")]
    sort: String,
    qts: Option<String>,
    parent: Option<String>,
}

fn document(set: &str, line: &str) -> Document {
    let line: SetLine = serde_json::from_str(line).unwrap();
    let kind = if matches!(set, "locomo" | "lme_s_clip") { EntryKind::Import } else { EntryKind::Document };
    Document {
        id: line.parent.unwrap_or(line.id),
        group: line.group,
        title: line.title,
        text: line.text,
        kind,
        // The turns of locomo have times in prose; no question depends on them.
        at: line.ts.as_deref().and_then(time),
        topic: None,
    }
}

fn question(line: &str) -> Question {
    let line: SetLine = serde_json::from_str(line).unwrap();
    Question {
        id: line.id,
        group: line.group,
        text: line.text,
        sort: line.sort,
        now: line.qts.as_deref().and_then(time),
        grades: HashMap::new(),
        answer: None,
    }
}

/// Parses a time such as `2023/04/23 (Sun) 08:57` or `2026-03-04`.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<i64>().ok());
    let numbers: Vec<i64> = numbers.collect();
    let [year @ 1970..=9999, month @ 1..=12, day @ 1..=31, ref rest @ ..] = numbers[..] else { return None };
    let (hour, minute) = (rest.first().unwrap_or(&0), rest.get(1).unwrap_or(&0));
    // Days since 1970, with the year beginning in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469;
    Some(Timestamp(((days * 24 + hour) * 60 + minute) * 60_000))
}

/// Splits a long text at the last line end that keeps a span within the limit.
fn spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut rest = text;
    while rest.len() > MAX_PIECE_BYTES {
        let most = rest.floor_char_boundary(MAX_PIECE_BYTES);
        let at = rest[..most].rfind('\n').map_or(most, |newline| newline + 1);
        spans.push(&rest[..at]);
        rest = &rest[at..];
    }
    spans.push(rest);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_written() {
        assert_eq!(time("1970-01-01"), Some(Timestamp(0)));
        assert_eq!(time("2000-03-01 00:00"), Some(Timestamp(951_868_800_000)));
        assert_eq!(time("2023/04/23 (Sun) 08:57"), Some(Timestamp(1_682_240_220_000)));
        assert_eq!(time("1:56 pm on 8 May, 2023"), None);
    }

    #[test]
    fn spans_cover_a_text_and_end_at_lines() {
        let text = "a line of text\n".repeat(900);
        let spans = spans(&text);
        assert_eq!(spans.concat(), text);
        assert!(spans.len() > 4 && spans.iter().all(|span| span.ends_with('\n')));
    }

    #[test]
    fn half_of_the_questions_are_in_each_half() {
        let held_out = (0..1_000).filter(|number| Half::of(&format!("q{number}")) == Half::HeldOut).count();
        assert!((450..550).contains(&held_out), "{held_out}");
    }
}

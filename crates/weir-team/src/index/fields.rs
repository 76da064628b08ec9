//! What the index has of a record: its words, facts to filter by, and columns to rank and to check by.
//!
//! Invariant: every word and every fact of a record but its tenant begins with the name of its project. A query that
//! names no project finds nothing.

use tantivy::schema::{BytesOptions, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::RAW_TOKENIZER_NAME;
use tantivy::{TantivyDocument, Term};
use weir_core::{EntryKind, Scope, TenantId, UserId, words};
use weir_records::{Audience, IndexedRecord, RecordId, name_of};

use super::analysis::{TOKENIZER, of_project};

/// The columns.
pub(super) mod columns {
    /// The project.
    pub(in crate::index) const PLACE: &str = "place";
    /// The only user who sees the record. Records for the team have none.
    pub(in crate::index) const READER: &str = "reader";
    /// The host and the number of the record.
    pub(in crate::index) const HOST: &str = "host";
    pub(in crate::index) const NUMBER: &str = "number";
    /// When the record was kept.
    pub(in crate::index) const AT: &str = "at";
    /// How many words the record has.
    pub(in crate::index) const WORDS: &str = "length";
    /// Its vector, if the index has vectors and the model knows its text.
    pub(in crate::index) const VECTOR: &str = "vector";
}

/// How many folders above a source can be filtered by. One that is deeper is found by its whole source only.
const MAX_FOLDERS: usize = 256;
/// How many digits of a name stand for a value that is filtered by. Within a project, these tell all values apart.
const VALUE_DIGITS: usize = 16;

/// The fields of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// Words: of the title twice, of the text, and those hidden inside of other words.
    pub(super) words: Field,
    /// Facts. See [`Fact`].
    pub(super) facts: Field,
    place: Field,
    reader: Field,
    host: Field,
    number: Field,
    at: Field,
    length: Field,
    vector: Field,
}

/// A project of a tenant, by its name in the index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The name of the tenant.
    pub(super) tenant: String,
    /// The name of the tenant and the project together.
    pub(super) project: String,
}

impl Place {
    pub(super) fn of(scope: &Scope) -> Self {
        Self { tenant: name_of_tenant(&scope.tenant), project: name_of(&[&scope.tenant.0, &scope.project.0]) }
    }

    /// Returns a place that stands for all projects of a tenant.
    pub(super) fn of_tenant(tenant: &TenantId) -> Self {
        Self { tenant: name_of_tenant(tenant), project: String::new() }
    }
}

/// Returns the name of a user in the index.
pub(super) fn name_of_user(user: &UserId) -> String {
    name_of(&[&user.0])
}

fn name_of_tenant(tenant: &TenantId) -> String {
    name_of(&[&tenant.0])
}

/// Something that a record can be found by besides its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fact<'a> {
    /// Its tenant.
    Tenant(&'a Place),
    /// Its project.
    Project(&'a Place),
    /// Its id.
    Record(&'a Place, RecordId),
    /// What the entry is.
    Kind(&'a Place, EntryKind),
    /// Its author.
    Author(&'a Place, &'a UserId),
    /// Its source, or a folder above it.
    Source(&'a Place, &'a str),
}

impl Fact<'_> {
    /// Returns the fact as a term. Each sort of facts has a letter, and the names have a fixed length, so that no two
    /// facts are the same term.
    fn text(&self) -> String {
        let value = |text: &str| -> String { name_of(&[text]).chars().take(VALUE_DIGITS).collect() };
        match self {
            Self::Tenant(place) => format!("t{}", place.tenant),
            Self::Project(place) => format!("p{}", place.project),
            Self::Record(place, id) => format!("i{}{id}", place.project),
            Self::Kind(place, kind) => format!("k{}{kind}", place.project),
            Self::Author(place, author) => format!("a{}{}", place.project, value(&author.0)),
            Self::Source(place, source) => format!("s{}{}", place.project, value(source)),
        }
    }
}

/// A record as it is added to the index.
pub(super) struct IndexedDocument {
    pub(super) document: TantivyDocument,
    /// How many words it has.
    pub(super) words: u64,
}

impl Fields {
    /// Returns the schema and its fields.
    pub(super) fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let facts = TextFieldIndexing::default()
            .set_tokenizer(RAW_TOKENIZER_NAME)
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        let name = || TextOptions::default().set_fast(RAW_TOKENIZER_NAME);
        let number = || NumericOptions::default().set_fast();
        let fields = Self {
            words: schema.add_text_field("words", TextOptions::default().set_indexing_options(words)),
            facts: schema.add_text_field("facts", TextOptions::default().set_indexing_options(facts)),
            place: schema.add_text_field(columns::PLACE, name()),
            reader: schema.add_text_field(columns::READER, name()),
            host: schema.add_bytes_field(columns::HOST, BytesOptions::default().set_fast()),
            number: schema.add_u64_field(columns::NUMBER, number()),
            at: schema.add_i64_field(columns::AT, number()),
            length: schema.add_u64_field(columns::WORDS, number()),
            vector: schema.add_u64_field(columns::VECTOR, number()),
        };
        (schema.build(), fields)
    }

    /// Returns the term of a fact.
    pub(super) fn fact(&self, fact: Fact<'_>) -> Term {
        Term::from_field_text(self.facts, &fact.text())
    }

    /// Returns a record as it is added, with its vector if it has one.
    pub(super) fn document(&self, place: &Place, record: &IndexedRecord, vector: &[u64]) -> IndexedDocument {
        let hidden = words::hidden_words(&format!("{}\n{}", record.title, record.text));
        let mut document = TantivyDocument::new();
        let mut length = 0;
        // A word of the title counts twice. There is a gap between two texts, which no phrase crosses.
        for text in [&record.title, &record.title, &record.text, &hidden] {
            document.add_text(self.words, of_project(&place.project, text));
            words::each_word(text, |_| length += 1);
        }
        for fact in facts_of(place, record) {
            document.add_text(self.facts, fact.text());
        }
        document.add_text(self.place, &place.project);
        if record.audience == Audience::Author {
            document.add_text(self.reader, name_of_user(&record.author));
        }
        document.add_bytes(self.host, record.id.host.as_bytes());
        document.add_u64(self.number, record.id.index);
        document.add_i64(self.at, record.at.0);
        document.add_u64(self.length, length);
        for value in vector {
            document.add_u64(self.vector, *value);
        }
        IndexedDocument { document, words: length }
    }
}

fn facts_of<'a>(place: &'a Place, record: &'a IndexedRecord) -> Vec<Fact<'a>> {
    let mut facts = vec![
        Fact::Tenant(place),
        Fact::Project(place),
        Fact::Record(place, record.id),
        Fact::Kind(place, record.kind),
        Fact::Author(place, &record.author),
    ];
    if let Some(source) = &record.source {
        let folders = source.match_indices('/').map(|(end, _)| &source[..end]).take(MAX_FOLDERS);
        facts.extend(folders.chain([source.as_str()]).map(|source| Fact::Source(place, source)));
    }
    facts
}

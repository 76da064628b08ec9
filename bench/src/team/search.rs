//! Searches of tenants of every size: the server's index, bare tantivy with a tenant filter, and a GIN index.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Searcher, TantivyDocument, Term};
use weir_records::{Index as _, SearchQuery};
use weir_team::TantivyIndex;

use super::bare;
use super::database::Database;
use super::made::Made;
use crate::figures::Figures;
use crate::text::{RandomNumbers, word};

const QUERIES: usize = 200;
const HITS: usize = 20;
const WRITER_BYTES: usize = 128 << 20;
/// The sizes of tenants, in entries.
const SIZES: [(&str, Range<u64>); 4] = [
    ("below 1,000", 0..1_000),
    ("1,000 to 9,999", 1_000..10_000),
    ("10,000 to 99,999", 10_000..100_000),
    ("100,000 and more", 100_000..u64::MAX),
];

struct Question {
    tenant: usize,
    words: String,
}

pub(super) fn run(made: &Made, database: &Database, index: &TantivyIndex, folder: &Path) -> Vec<Value> {
    let tantivy = BareTantivy::fill(made, folder);
    bare::fill_gin(made, database);
    let client = database.connect();
    let statement = database.bridge().block_on(bare::prepare_gin(&client));
    let mut rows = Vec::new();
    for (name, sizes) in SIZES {
        let tenants: Vec<usize> = (0..made.tenants.len()).filter(|at| sizes.contains(&made.tenants[*at])).collect();
        for sort in ["or4", "or2", "ident"] {
            if tenants.is_empty() {
                rows.push(json!({ "tenants": name, "query": sort, "missing": "no tenant of this size" }));
                continue;
            }
            let (mut ours, mut theirs, mut gin) = (Figures::default(), Figures::default(), Figures::default());
            for Question { tenant, words } in questions(made, &tenants, sort) {
                let (scope, query) = (made.scope(tenant), SearchQuery::new(words.clone(), HITS));
                let hits = ours.measure(|| index.search(&scope, &query).unwrap().hits.len());
                let found = theirs.measure(|| tantivy.search(tenant, &words));
                gin.measure(|| database.bridge().block_on(bare::search_gin(&client, &statement, tenant, &words)));
                assert!(sort != "ident" || (hits >= 1 && found == 1), "{words}: {hits} and {found}");
            }
            let pair = |figures: &Figures| {
                let (p50, p99) = (figures.quantile(0.5) / 1e3, figures.quantile(0.99) / 1e3);
                json!({ "p50_ms": p50, "p99_ms": p99 })
            };
            let ratio = |share: f64| ours.quantile(share) / theirs.quantile(share);
            rows.push(json!({
                "tenants": name, "query": sort, "weir": pair(&ours), "tantivy": pair(&theirs), "gin": pair(&gin),
                "ratio": { "p50": ratio(0.5), "p99": ratio(0.99) },
            }));
        }
    }
    rows
}

fn questions(made: &Made, tenants: &[usize], sort: &str) -> Vec<Question> {
    let mut numbers = RandomNumbers::new(23);
    let firsts: Vec<u64> = made
        .tenants
        .iter()
        .scan(0, |sum, count| {
            let first = *sum;
            *sum += count;
            Some(first)
        })
        .collect();
    let question = |_: usize| {
        let tenant = tenants[(numbers.next() % tenants.len() as u64) as usize];
        let [first, second, third] = [(); 3].map(|()| numbers.next());
        let [one, two, three] = [first, second, third].map(|number| word(200 + number % 5_000));
        let words = match sort {
            // One word that nearly every text has, and three that few have.
            "or4" => format!("{} {one} {two} {three}", word(1)),
            "or2" => format!("{one} {two}"),
            _ => format!("unique{}", firsts[tenant] + first % made.tenants[tenant]),
        };
        Question { tenant, words }
    };
    (0..QUERIES).map(question).collect()
}

/// A tantivy index as one would make it without Weir: a field of words, and one to filter by tenant.
struct BareTantivy {
    searcher: Searcher,
    tenant: Field,
    words: Field,
}

impl BareTantivy {
    fn fill(made: &Made, folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = schema.add_text_field("words", TextOptions::default().set_indexing_options(indexing));
        let tenant = schema.add_text_field("tenant", STRING);
        let index = tantivy::Index::create_in_dir(folder, schema.build()).unwrap();
        let mut writer: tantivy::IndexWriter<TantivyDocument> = index.writer_with_num_threads(2, WRITER_BYTES).unwrap();
        for entry in &made.entries {
            let mut document = TantivyDocument::new();
            document.add_text(words, format!("entry {}\n{}", entry.number, entry.text()));
            document.add_text(tenant, entry.tenant.to_string());
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
        Self { searcher: index.reader().unwrap().searcher(), tenant, words }
    }

    fn search(&self, tenant: usize, words: &str) -> usize {
        let term = |word: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(self.words, word), IndexRecordOption::WithFreqs))
        };
        let own = TermQuery::new(Term::from_field_text(self.tenant, &tenant.to_string()), IndexRecordOption::Basic);
        let query = BooleanQuery::intersection(vec![
            Box::new(ConstScoreQuery::new(Box::new(own), 0.0)),
            Box::new(BooleanQuery::union(words.split(' ').map(term).collect())),
        ]);
        self.searcher.search(&query, &TopDocs::with_limit(HITS).order_by_score()).unwrap().len()
    }
}

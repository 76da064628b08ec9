//! Compares the project map with personalised PageRank: given one file that a commit changed and the commit's subject,
//! which other files did it change?
//!
//! The files are those from before the commits, and co-changes come from earlier commits only, so that no answer is
//! known beforehand.

mod cost;
mod history;
mod pagerank;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weir_outline::map::{Commits, Known, Weights, Wish, rank_with};

use crate::figures::Figures;
use history::Commit;
use pagerank::Graph;
use tree::SourceTree;

pub(crate) use cost::run as cost;

/// The number of commits before a commit that are searched for co-changes.
const SEARCHED_COMMITS: usize = 1_000;
/// The maximum number of files in a commit. The subject of a larger one does not describe them.
const MAX_FILES: usize = 20;

/// Measures the commits of a newer change log that are not in the one below a folder.
pub(crate) fn change_log(folder: &str, newer: &str) -> bool {
    let read = |path: &Path| history::change_log(&std::fs::read_to_string(path).unwrap());
    let old = read(&Path::new(folder).join("ChangeLog"));
    let commits = read(Path::new(newer));
    let known: HashSet<&Commit> = old.iter().collect();
    // A few commits are equal by chance.
    let new = commits.windows(5).position(|some| some.iter().all(|commit| known.contains(commit)));
    let new = new.unwrap_or(commits.len());
    println!("{} commits, {new} of them after the files in {}\n", commits.len(), name(folder));
    measure(&SourceTree::read(Path::new(folder)), &commits, new)
}

/// Measures the newest commits of a git repository, with the files from before them.
pub(crate) fn git(repository: &str, newest: usize) -> bool {
    let commits = history::git(repository);
    let before = history::files_before(repository, newest);
    println!("{} commits of {}, the newest {newest} asked\n", commits.len(), name(repository));
    measure(&SourceTree::read(before.path()), &commits, newest)
}

fn name(folder: &str) -> String {
    let path = Path::new(folder).canonicalize().unwrap();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A question, which is one file and a subject, and its answer, which is the other files.
struct MapQuestion<'a> {
    focus: usize,
    subject: &'a str,
    others: Vec<usize>,
    earlier: &'a [Commit],
}

fn measure(tree: &SourceTree, commits: &[Commit], new: usize) -> bool {
    let place: HashMap<&str, usize> =
        tree.known.iter().enumerate().map(|(at, file)| (file.path.as_str(), at)).collect();
    let questions: Vec<MapQuestion<'_>> = (0..new).filter_map(|at| question(commits, at, &place)).collect();
    let megabytes = tree.bytes as f64 / 1e6;
    let to_find = questions.iter().map(|question| question.others.len()).sum::<usize>() as f64;
    println!(
        "{} files, {megabytes:.1} MB, read and outlined at {:.3} CPU seconds per MB; {} questions, {:.1} files to find in each\n",
        tree.known.len(),
        tree.seconds() / megabytes,
        questions.len(),
        to_find / questions.len().max(1) as f64
    );
    println!("| ranker | R@5 | R@10 | R@20 | MRR | CPU ms per question |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let none = Weights { references: 1.0, words: 0.0, near: 0.0, together: 0.0 };
    let usual = Weights::default();
    let graph = Graph::new(tree);
    show("personalised PageRank", &questions, |question| graph.rank(question.focus, question.subject));
    show("references of one step", &questions, |question| ours(tree, question, none, &place));
    let words = Weights { words: usual.words, near: usual.near, references: usual.references, ..none };
    show("+ words + nearness", &questions, |question| ours(tree, question, words, &place));
    show("+ common changes (the map)", &questions, |question| ours(tree, question, usual, &place));
    if std::env::var_os("WEIR_MAP_WEIGHTS").is_some() {
        parts(tree, &questions, &place);
    }
    !questions.is_empty()
}

/// Measures each part by itself, and other weights.
fn parts(tree: &SourceTree, questions: &[MapQuestion<'_>], place: &HashMap<&str, usize>) {
    let zero = Weights { references: 0.0, words: 0.0, near: 0.0, together: 0.0 };
    let usual = Weights::default();
    let others = [
        ("words alone", Weights { words: 1.0, ..zero }),
        ("nearness alone", Weights { near: 1.0, ..zero }),
        ("common changes alone", Weights { together: 1.0, ..zero }),
        ("half the references", Weights { references: 0.5, ..usual }),
        ("twice the references", Weights { references: 2.0, ..usual }),
        ("half the words", Weights { words: usual.words / 2.0, ..usual }),
        ("twice the words", Weights { words: usual.words * 2.0, ..usual }),
        ("half the nearness", Weights { near: usual.near / 2.0, ..usual }),
        ("twice the nearness", Weights { near: usual.near * 2.0, ..usual }),
        ("half the common changes", Weights { together: usual.together / 2.0, ..usual }),
        ("twice the common changes", Weights { together: usual.together * 2.0, ..usual }),
    ];
    for (name, weights) in others {
        show(name, questions, |question| ours(tree, question, weights, place));
    }
}

fn question<'a>(commits: &'a [Commit], at: usize, place: &HashMap<&str, usize>) -> Option<MapQuestion<'a>> {
    let commit = &commits[at];
    let mut files: Vec<usize> = commit.files.iter().filter_map(|file| place.get(file.as_str()).copied()).collect();
    files.sort_unstable();
    files.dedup();
    if !(2..=MAX_FILES).contains(&files.len()) || commit.subject.starts_with("Merge ") {
        return None;
    }
    // The given file varies from commit to commit, but is the same in every run.
    let focus = files.remove(at % files.len());
    Some(MapQuestion { focus, subject: &commit.subject, others: files, earlier: &commits[at + 1..] })
}

fn ours(tree: &SourceTree, question: &MapQuestion<'_>, weights: Weights, place: &HashMap<&str, usize>) -> Vec<usize> {
    let focus = [question.focus];
    let together = if weights.together > 0.0 {
        let earlier = question.earlier.iter().take(SEARCHED_COMMITS).map(|commit| commit.files.clone());
        Commits::new(earlier).with(&focus, |path| place.get(path).copied())
    } else {
        Vec::new()
    };
    let query = if weights.words > 0.0 { question.subject } else { "" };
    let known: &[Known] = &tree.known;
    let (ranked, _) = rank_with(known, Wish { focus: &focus, query, together: &together }, weights);
    ranked.into_iter().map(|ranked| ranked.file).collect()
}

fn show(name: &str, questions: &[MapQuestion<'_>], ranker: impl Fn(&MapQuestion<'_>) -> Vec<usize>) {
    let (mut recall, mut reciprocal, mut figures) = ([0.0; 3], 0.0, Figures::default());
    for question in questions {
        let ranked = figures.measure_cpu(|| ranker(question));
        for (sum, most) in recall.iter_mut().zip([5, 10, 20]) {
            let found = ranked.iter().take(most).filter(|file| question.others.contains(file)).count();
            *sum += found as f64 / question.others.len() as f64;
        }
        let first = ranked.iter().position(|file| question.others.contains(file));
        reciprocal += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
    }
    let count = questions.len().max(1) as f64;
    let [five, ten, twenty] = recall.map(|sum| sum / count);
    let milliseconds = figures.quantile(0.5) / 1e3;
    println!("| {name} | {five:.3} | {ten:.3} | {twenty:.3} | {:.3} | {milliseconds:.2} |", reciprocal / count);
}

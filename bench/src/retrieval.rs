//! Measures retrieval, next to bare full text, to the methods of others and to a ceiling.
//!
//! Every method gets the same documents and the same questions. Invariant: a question searches only its own group, and
//! the halves are reported separately, so that nothing is tuned on what is reported.

mod ceiling;
mod context_mode;
mod own;
mod plain;
mod score;
mod set;
mod table;
mod weir;

use std::path::Path;

use set::{Half, PUBLIC, Set};
use table::MethodScores;

const MAX_RANKING_DEPTH: usize = 100;

#[derive(Debug, Clone)]
struct RankedDocument {
    document: usize,
    score: f64,
    shown: String,
}

/// For each question of a set, the documents found, best first.
type Rankings = Vec<Vec<RankedDocument>>;

pub(crate) fn run(options: &[&str]) -> bool {
    let value = |name: &str| options.iter().position(|word| *word == name).and_then(|at| options.get(at + 1)).copied();
    if let Some(folder) = value("--write-own") {
        own::load().write(Path::new(folder));
        return true;
    }
    let wanted = |name: &str| value("--set").is_none_or(|set| set.split(',').any(|set| set == name));
    let sets: Vec<Set> = PUBLIC.into_iter().chain(["own"]).filter(|name| wanted(name)).filter_map(load).collect();
    if sets.is_empty() {
        println!("no set to measure; the sets are {} and own", PUBLIC.join(", "));
        return false;
    }
    let methods = measure(&sets, value("--ceiling").map(Path::new));
    let halves: &[Half] = match value("--half").unwrap_or("both") {
        "development" => &[Half::Development],
        "held-out" => &[Half::HeldOut],
        _ => &[Half::Development, Half::HeldOut],
    };
    for half in halves {
        println!("{}", tables(&sets, &methods, *half));
    }
    true
}

fn load(name: &str) -> Option<Set> {
    if name == "own" {
        return Some(own::load());
    }
    let set = Set::load(name);
    if set.is_none() {
        println!("{name}: not on this machine, left out (it is read from shared/data/retrieval beside the project)");
    }
    set
}

/// Returns the rankings of each method on each set. A method without rankings for a set has no row.
fn measure(sets: &[Set], ceiling: Option<&Path>) -> Vec<(String, Vec<Rankings>)> {
    let all = |rank: fn(&Set) -> Rankings| sets.iter().map(rank).collect::<Vec<_>>();
    let mut methods = vec![
        ("engram's way".to_owned(), all(plain::every_word)),
        ("context-mode's way".to_owned(), all(context_mode::rank)),
        ("porter OR".to_owned(), all(plain::any_word)),
    ];
    let (words, hybrid): (Vec<_>, Vec<_>) = sets.iter().map(weir::rank).unzip();
    let fused = ceiling.and_then(|folder| {
        let each = sets.iter().zip(&words).map(|(set, words)| ceiling::rank(set, folder, words));
        each.collect::<Option<Vec<_>>>()
    });
    methods.extend([("weir full text".to_owned(), words), ("weir hybrid".to_owned(), hybrid)]);
    match fused {
        Some(fused) => methods.push(("MiniLM + BM25 (ceiling)".to_owned(), fused)),
        None if ceiling.is_some() => println!("no ceiling: vectors of a set are missing, see tools/ceiling/embed.py"),
        None => {}
    }
    methods
}

fn tables(sets: &[Set], methods: &[(String, Vec<Rankings>)], half: Half) -> String {
    let chosen: Vec<Vec<usize>> = sets.iter().map(|set| questions_of(set, half)).collect();
    let rows: Vec<MethodScores> = methods
        .iter()
        .map(|(method, rankings)| {
            let each = sets.iter().zip(rankings).zip(&chosen);
            let means =
                each.clone().map(|((set, rankings), chosen)| score::Score::mean(&score::scores(set, rankings, chosen)));
            let newest = each.filter_map(|((set, rankings), chosen)| {
                Some((set.name.clone(), score::newest(set, rankings, chosen)?))
            });
            MethodScores { method: method.clone(), sets: means.collect(), newest: newest.collect() }
        })
        .collect();
    let names: Vec<(String, usize)> =
        sets.iter().zip(&chosen).map(|(set, chosen)| (set.name.clone(), chosen.len())).collect();
    table::write(half.name(), &names, &rows)
}

fn questions_of(set: &Set, half: Half) -> Vec<usize> {
    (0..set.questions.len()).filter(|&asked| Half::of(&set.questions[asked].id) == half).collect()
}

/// Ranks group by group: `rank` gets the documents of a group and the questions about them.
fn by_group<T: Clone + Default>(set: &Set, rank: impl Fn(&[usize], &[usize]) -> Vec<T>) -> Vec<T> {
    let mut all = vec![T::default(); set.questions.len()];
    for (group, documents) in set.groups() {
        let questions: Vec<usize> =
            (0..set.questions.len()).filter(|&asked| set.questions[asked].group == group).collect();
        for (asked, ranking) in questions.iter().zip(rank(&documents, &questions)) {
            all[*asked] = ranking;
        }
    }
    all
}

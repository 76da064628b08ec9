//! What a new session is told about the last one on its branch: what the user asked for last, a question that was not
//! answered, and which files were changed. Whether the work is finished is not known, and not said: a task may have
//! been done elsewhere since.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::data;
use super::turn::named_files;
use super::{Fact, Wanted, questions, requests};
use crate::EventKind;
use crate::event::{LONGEST_TEXT, line};

const MAX_FILES: usize = 10;
/// Maximum length of a question or a path, in bytes.
const MAX_ITEM_BYTES: usize = 160;

/// Writes the lines about a session. `facts` are in order, oldest first. Empty if the user asked for nothing, and if
/// neither a file was changed nor a question is open.
pub fn last_session(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let facts = data::credible(facts);
    let Some(request) = requests::write(&facts, wanted).pop() else { return String::new() };
    let mut lines = vec![line(wanted.head, LONGEST_TEXT), request];
    let asked = questions::open(&facts).into_iter().next();
    lines.extend(asked.map(|(_, question)| format!("Not answered (model): {}", line(&question, MAX_ITEM_BYTES))));
    let (label, files) = changed(&facts);
    if files.is_empty() && lines.len() == 2 {
        return String::new();
    }
    let with_files = |most: usize| {
        let last = (most > 0).then(|| format!("\n{label}: {}", named_files(&files, most)));
        format!("{}{}", lines.join("\n"), last.unwrap_or_default())
    };
    let fits = |told: &String| (wanted.count)(told) <= wanted.budget;
    (0..=files.len().min(MAX_FILES)).rev().map(with_files).find(fits).unwrap_or_default()
}

/// Returns the files of the project that were changed after the last commit, or else all, the most changed first; with
/// what to call them.
fn changed(facts: &[Fact<'_>]) -> (&'static str, Vec<String>) {
    let commit = facts.iter().rposition(|fact| data::is_commit(fact.event));
    let since = commit.map(|at| most_changed(&facts[at..])).filter(|files| !files.is_empty());
    match since {
        Some(files) => ("Changed after its last commit", files),
        None => ("Changed", most_changed(facts)),
    }
}

fn most_changed(facts: &[Fact<'_>]) -> Vec<String> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for fact in facts.iter().filter(|fact| fact.event.kind == EventKind::File) {
        *times.entry(data::changed_file(fact.event).unwrap_or_default()).or_default() += 1;
    }
    times.remove("");
    let mut files: Vec<(String, usize)> = times.into_iter().collect();
    files.sort_by(|(path, times), (other, of_other)| (Reverse(times), path).cmp(&(Reverse(of_other), other)));
    files.into_iter().map(|(path, _)| line(&path, MAX_ITEM_BYTES)).collect()
}

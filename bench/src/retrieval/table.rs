//! Formats the figures as Markdown.

use std::fmt::Write as _;

use super::score::{NewestScore, Score};

pub(crate) struct MethodScores {
    pub method: String,
    /// The means over the questions of each set.
    pub sets: Vec<Score>,
    /// The figures of questions about the newest evidence, for the sets that have such questions.
    pub newest: Vec<(String, NewestScore)>,
}

pub(crate) fn write(half: &str, sets: &[(String, usize)], rows: &[MethodScores]) -> String {
    let mut text = format!("### Retrieval, {half} half\n\n");
    text += &overview(sets, rows);
    for (place, (name, questions)) in sets.iter().enumerate() {
        write!(text, "\n**{name}** ({questions} questions)\n\n").unwrap();
        text += &one_set(place, name == "own", rows);
    }
    if rows.iter().any(|row| !row.newest.is_empty()) {
        text += "\n**Truth over time**\n\n";
        text += "| method | set | questions | newest above older | newest first | nDCG@10 of the others |\n";
        text += "| --- | --- | --- | --- | --- | --- |\n";
        for row in rows {
            for (set, newest) in &row.newest {
                let NewestScore { questions, above, first, others } = newest;
                let method = &row.method;
                writeln!(text, "| {method} | {set} | {questions} | {above:.3} | {first:.3} | {others:.3} |").unwrap();
            }
        }
    }
    text
}

/// Formats nDCG of every method on every set, and the means.
fn overview(sets: &[(String, usize)], rows: &[MethodScores]) -> String {
    let names: String = sets.iter().map(|(name, _)| format!(" {name} |")).collect();
    let mut text = format!("| nDCG@10 |{names} mean | R@1 | R@5 | R@10 | MRR |\n");
    writeln!(text, "| --- |{} --- | --- | --- | --- | --- |", " --- |".repeat(sets.len())).unwrap();
    for MethodScores { method, sets, .. } in rows {
        let each: String = sets.iter().map(|score| format!(" {:.3} |", score.ndcg)).collect();
        let mean = Score::mean(sets);
        let [one, five, ten] = mean.recall;
        let (ndcg, reciprocal) = (mean.ndcg, mean.reciprocal);
        writeln!(text, "| {method} |{each} {ndcg:.3} | {one:.3} | {five:.3} | {ten:.3} | {reciprocal:.3} |").unwrap();
    }
    text
}

fn one_set(place: usize, has_answers: bool, rows: &[MethodScores]) -> String {
    let (head, line) = if has_answers { (" answer shown in 5 |", " --- |") } else { ("", "") };
    let mut text = format!("| method | R@1 | R@5 | R@10 | nDCG@10 | MRR |{head}\n");
    writeln!(text, "| --- | --- | --- | --- | --- | --- |{line}").unwrap();
    for MethodScores { method, sets, .. } in rows {
        let Score { recall: [one, five, ten], ndcg, reciprocal, shown } = sets[place];
        let shown = if has_answers { format!(" {shown:.3} |") } else { String::new() };
        writeln!(text, "| {method} | {one:.3} | {five:.3} | {ten:.3} | {ndcg:.3} | {reciprocal:.3} |{shown}").unwrap();
    }
    text
}

//! Formats the figures as tables for people.

use std::path::Path;

use super::ShownOutput;
use super::set::{Set, by_kind};

type ContenderRows = [(String, Vec<ShownOutput>)];

/// Formats both tables: every contender over all outputs, and the digest next to head and tail for each kind.
pub(crate) fn write(half: &str, set: &Set, rows: &ContenderRows) -> String {
    let questions: usize = set.outputs.iter().map(|output| output.questions.len()).sum();
    let bytes: usize = set.outputs.iter().map(|output| output.text.len()).sum();
    let mut text = format!(
        "{} half: {} outputs, {:.1} MB, {questions} questions.\n\n",
        half.replace('_', "-"),
        set.outputs.len(),
        bytes as f64 / 1e6
    );
    text.push_str("| shown | answers in it | tokens, median of raw | tokens in all | within one more call | its tokens, median |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- |\n");
    let raw: usize = set.outputs.iter().map(|output| output.tokens).sum();
    text.push_str(&format!("| raw | 100 % (by definition) | 100 % | {raw} | – | – |\n"));
    for (name, shown) in rows {
        text.push_str(&row(set, name, shown));
    }
    text.push_str(
        "\n| kind | outputs | questions | head and tail | digest | one more `ctx_get` | tokens, median of raw |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    let (ends, digest) = (&rows[0].1, &rows[1].1);
    for (kind, places) in by_kind(set) {
        let count = |test: &dyn Fn(usize) -> usize| places.iter().map(|&place| test(place)).sum::<usize>();
        let asked = count(&|place| set.outputs[place].questions.len());
        let in_ends = count(&|place| ends[place].found.iter().filter(|found| **found).count());
        let in_digest = count(&|place| digest[place].found.iter().filter(|found| **found).count());
        let within = count(&|place| within(&digest[place]));
        let mut ratios: Vec<f64> = places.iter().map(|&place| ratio(set, place, &digest[place])).collect();
        let median = 100.0 * median(&mut ratios);
        let outputs = places.len();
        text.push_str(&format!(
            "| {kind} | {outputs} | {asked} | {in_ends} | {in_digest} | {within} | {median:.1} % |\n"
        ));
    }
    text
}

fn row(set: &Set, name: &str, shown: &[ShownOutput]) -> String {
    let asked: usize = shown.iter().map(|shown| shown.found.len()).sum();
    let found: usize = shown.iter().map(|shown| shown.found.iter().filter(|found| **found).count()).sum();
    let within: usize = shown.iter().map(within).sum();
    let tokens: usize = shown.iter().map(|shown| shown.tokens).sum();
    let mut ratios: Vec<f64> = shown.iter().enumerate().map(|(place, shown)| ratio(set, place, shown)).collect();
    let mut costs: Vec<f64> =
        shown.iter().flat_map(|shown| shown.followed.iter().flatten()).map(|(_, tokens)| *tokens as f64).collect();
    let share = |part: usize| 100.0 * part as f64 / asked.max(1) as f64;
    let more = match costs.is_empty() {
        true => "– | –".to_owned(),
        false => format!("{:.1} % | {:.0}", share(within), median(&mut costs)),
    };
    format!("| {name} | {:.1} % | {:.1} % | {tokens} | {more} |\n", share(found), 100.0 * median(&mut ratios))
}

fn within(shown: &ShownOutput) -> usize {
    let both = shown.found.iter().zip(&shown.followed);
    both.filter(|(found, followed)| **found || followed.is_some_and(|(found, _)| found)).count()
}

fn ratio(set: &Set, place: usize, shown: &ShownOutput) -> f64 {
    shown.tokens as f64 / set.outputs[place].tokens.max(1) as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        length if length % 2 == 0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

/// Prints the questions that were not answered, and those no longer answered when they were asked beforehand.
pub(crate) fn misses(set: &Set, shown: &[ShownOutput], asked: &[ShownOutput]) {
    for ((output, shown), asked) in set.outputs.iter().zip(shown).zip(asked) {
        for (number, question) in output.questions.iter().enumerate() {
            if shown.found[number] && !asked.found[number] {
                println!("{}: {} (not found with intent)", output.name, question.ask);
            }
        }
        for (number, question) in output.questions.iter().enumerate().filter(|(number, _)| !shown.found[*number]) {
            let after = if shown.followed[number].is_some_and(|(found, _)| found) { "found then" } else { "not found" };
            println!("{}: {} ({after})", output.name, question.ask);
        }
    }
}

/// Writes the tables into a document, between the marks for this half.
pub(crate) fn put_into(path: &Path, mark: &str, text: &str) -> bool {
    let (begin, end) = (format!("<!-- {mark} -->\n"), "<!-- end -->".to_owned());
    let document = std::fs::read_to_string(path).unwrap();
    let Some((before, rest)) = document.split_once(&begin) else {
        println!("{} has no line `{}`", path.display(), begin.trim_end());
        return false;
    };
    let Some((_, after)) = rest.split_once(&end) else { return false };
    std::fs::write(path, format!("{before}{begin}{text}{end}{after}")).unwrap();
    true
}

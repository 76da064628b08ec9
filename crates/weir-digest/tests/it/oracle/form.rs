//! Checks what a digest looks like: no heading without facts, no name without what it introduces, and nouns that agree
//! with their counts.

use weir_core::Reference;
use weir_digest::{Frame, Page, Part};

use super::{Output, Verdict, number};

pub(super) fn examine(output: &Output, page: &Page, verdict: &mut Verdict) {
    let bytes = output.raw.len() as u64;
    let frame = Frame {
        head: "exit 0",
        remarks: &[],
        reference: Reference::from_bits(0),
        lines: output.lines.len() as u64,
        bytes,
        read_on: "",
    };
    let digest = page.render(&frame, weir_digest::budget(bytes));
    let lines: Vec<&str> = digest.body.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[0].starts_with("== ")) {
        let is_empty = pair[1].starts_with("== ") || pair[1].ends_with(">>>");
        let is_said = pair[0].ends_with("none shown") || pair[0].contains("(0 shown)");
        verdict.rule("form", !is_empty || is_said, || format!("`{}` is followed by nothing", pair[0]));
    }
    agree(&page.what, verdict);
    for part in &page.parts {
        agree(&part.name, verdict);
        examine_part(output, part, verdict);
    }
    examine_whole(output, page, verdict);
}

fn examine_part(output: &Output, part: &Part, verdict: &mut Verdict) {
    for item in &part.items {
        for line in item.text.lines() {
            // A name of ours is followed by something; lines of the output end as they do.
            let is_ours = item.line.is_none() && !output.raw.contains(line.trim());
            verdict.rule("form", !(is_ours && line.ends_with(": ")), || format!("`{line}` introduces nothing"));
        }
        for more in item.text.match_indices("1 more ").filter(|(at, _)| item.text[..*at].ends_with(['(', ' '])) {
            let noun = item.text[more.0..].split([' ', ')', ',']).nth(2).unwrap_or_default();
            agree(&format!("1 {noun}"), verdict);
        }
        let is_total = part.folded && part.name.starts_with("totals") && item.text.ends_with(':');
        let place = item.line.and_then(|line| output.numbers.binary_search(&line).ok()).filter(|_| is_total);
        if let Some(place) = place {
            let indent = |line: &String| line.len() - line.trim_start().len();
            let below = output.exact.get(place + 1).filter(|line| !line.trim().is_empty());
            let is_deeper = below.is_some_and(|line| indent(line) > indent(&output.exact[place]));
            verdict.rule("form", !is_deeper, || format!("`{}` is shown without its totals", item.text));
        }
    }
    if part.name.starts_with("top level, ") {
        let is_root = |line: &&String| !line.trim().is_empty() && line.starts_with(|c: char| c.is_alphanumeric());
        let roots = output.exact.iter().filter(is_root).filter(|line| line.contains(" v")).count();
        verdict.rule("form", roots <= 1, || format!("`{}`, but there are {roots} roots", part.name));
    }
    if part.name.contains("then the latest") {
        let words = ["Compiling ", "Checking ", "Documenting "];
        let last = output.lines.iter().rev().find_map(|line| words.iter().find_map(|word| line.strip_prefix(word)));
        let name = last.and_then(|said| said.split(' ').next()).unwrap_or_default();
        let is_shown = part.items.iter().any(|item| item.text.contains(name));
        verdict.rule("form", is_shown, || format!("`{name}` is the latest, and `{}` lacks it", part.name));
    }
}

/// Checks that a noun after `1` is not a plural: `1 lines`.
fn agree(words: &str, verdict: &mut Verdict) {
    let plain = |word: &str| word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let plural =
        |word: &str| plain(word) && word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let all: Vec<&str> = words.split([' ', '(', ')', ',', ';', '\n']).filter(|word| !word.is_empty()).collect();
    for place in 1..all.len() {
        let noun = if all[place] == "more" { all.get(place + 1).copied().unwrap_or_default() } else { all[place] };
        if all[place - 1] == "1" && (plural(noun) || noun == "entries") && noun != "others" {
            verdict.rule("form", false, || format!("`1 {noun}` in `{words}`"));
        }
    }
}

/// Checks that text for people is not what a checker of types printed, and that nothing is counted of which there is
/// none.
fn examine_whole(output: &Output, page: &Page, verdict: &mut Verdict) {
    if page.what.starts_with("text: ") {
        let findings = output.count(|line| line.contains(" - error: ") || line.contains(": error: "));
        verdict.rule("form", findings < 3, || format!("`{}`, but {findings} lines are diagnostics", page.what));
    }
    for claim in page.what.split([',', ';', ':']).map(str::trim) {
        let none = number(claim).filter(|(count, _)| *count == 0).map(|(_, noun)| noun.trim());
        let nouns = ["lines", "sections", "paragraphs", "rows", "records", "entries"];
        verdict.rule("form", none.is_none_or(|noun| !nouns.contains(&noun)), || format!("`{claim}` are counted"));
    }
}

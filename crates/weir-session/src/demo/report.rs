//! What the demo shows, for people and as data.

use serde_json::{Value, json};
use weir_clients::Client;
use weir_core::Reference;
use weir_host::answer::Answer;

use super::{CountedText, PlayedStep};
use crate::replay::report::table::{number, percent};

/// How many lines are shown of a text that the client shows, and of one from Weir.
const MAX_LINES_WITHOUT: usize = 4;
const MAX_LINES_WITH: usize = 10;
/// The longest line that is shown, in characters.
const MAX_LINE_CHARS: usize = 200;
const MAX_BAR_CHARS: usize = 40;

/// What is shown in bold.
pub const HEADINGS: [&str; 2] = ["without Weir", "with Weir"];

pub(super) fn answer(client: &Client, steps: &[PlayedStep], full: bool) -> Answer {
    let sum = |of: fn(&PlayedStep) -> &CountedText| steps.iter().map(|step| of(step).tokens).sum::<usize>();
    let (without, with) = (sum(|step| &step.without), sum(|step| &step.with));
    let mut parts = vec![format!(
        "A recorded session in {}, played through Weir's hooks: what the model gets, in tokens (o200k).",
        client.title
    )];
    parts.extend(steps.iter().enumerate().map(|(at, step)| shown(at + 1, step, full)));
    parts.push(chart(without, with));
    parts.push(format!(
        "The session is an example with recorded outputs; nothing of yours was read, and nothing is left behind. What is left out stays \
         stored: the model reads it with a call, you with `weir get`. What {} lets Weir hold back, other clients may not.\n\n\
         next: weir replay   (the same for your own sessions; `weir setup` connects your clients)",
        client.title
    ));
    let data = json!({
        "client": client.name,
        "steps": steps.iter().map(data).collect::<Vec<_>>(),
        "without": without,
        "with": with,
    });
    Answer::new(parts.join("\n\n"), data)
}

fn data(step: &PlayedStep) -> Value {
    let text = |counted: &CountedText| json!({ "tokens": counted.tokens, "text": counted.text });
    json!({ "title": step.title, "without": text(&step.without), "with": text(&step.with) })
}

fn shown(position: usize, step: &PlayedStep, full: bool) -> String {
    let most = |lines: usize| if full { usize::MAX } else { lines };
    let tokens = |counted: &CountedText| number(i64::try_from(counted.tokens).unwrap_or(i64::MAX));
    let without = beginning(&step.without.text, most(MAX_LINES_WITHOUT));
    let (same, added) = match step.added_at {
        Some(at) => (": the same, and", step.with.text.get(at..).unwrap_or_default()),
        None => ("", step.with.text.as_str()),
    };
    format!(
        "{position}. {}\n\n   without Weir: {} tokens\n{without}\n\n   with Weir: {} tokens{same}\n{}",
        step.title,
        tokens(&step.without),
        tokens(&step.with),
        beginning(added, most(MAX_LINES_WITH)),
    )
}

/// Returns the first lines of a text, indented, without the marks that only a model needs.
fn beginning(text: &str, most: usize) -> String {
    let is_mark = |line: &str| {
        let mark = line.strip_prefix("<<<").or_else(|| line.strip_suffix(">>>"));
        mark.is_some_and(|mark| Reference::parse(mark).is_ok())
    };
    let lines: Vec<&str> = text.lines().filter(|line| !is_mark(line)).collect();
    let mut shown: Vec<String> = lines.iter().take(most).map(|line| format!("     {}", cut(line))).collect();
    if lines.len() > most {
        shown.push(format!("     … {} more lines", number(i64::try_from(lines.len() - most).unwrap_or(i64::MAX))));
    }
    shown.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn chart(without: usize, with: usize) -> String {
    let line = |name: &str, tokens: usize| {
        let bar = "█".repeat((tokens * MAX_BAR_CHARS).div_ceil(without.max(1)));
        format!("   {name:<12}  {:>7}  {bar}", number(i64::try_from(tokens).unwrap_or(i64::MAX)))
    };
    let less = |part: usize| percent(1.0 - f64_of(part) / f64_of(without.max(1)));
    format!("In all, {} less:\n\n{}\n{}", less(with), line("without Weir", without), line("with Weir", with))
}

fn f64_of(tokens: usize) -> f64 {
    f64::from(u32::try_from(tokens).unwrap_or(u32::MAX))
}

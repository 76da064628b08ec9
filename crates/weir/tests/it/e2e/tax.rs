//! The cost of Weir itself in the conversation: the additional tokens that a client sends with it.

use serde_json::Value;

use super::Outcome;

/// The maximum tokens of all tool descriptions and the server's instructions.
const MAX_TOKENS: usize = 1_000;

/// Replaces every random name, such as those of temporary folders and keys, by the same word, since their number of
/// tokens varies between requests.
fn without_random_words(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_random =
        |word: &str| word.starts_with("tmp") || (word.len() >= 16 && word.contains(|c: char| c.is_ascii_digit()));
    let words = text.split_inclusive(|c| !is_part(c)).map(|piece| {
        let word = piece.trim_end_matches(|c| !is_part(c));
        if is_random(word) { piece.replacen(word, "random", 1) } else { piece.to_owned() }
    });
    words.collect()
}

/// Checks how much larger a client's first request is with Weir than without, in a new project.
#[expect(clippy::print_stdout, reason = "the figures are wanted where the tests are run by hand")]
pub(super) fn check(client: &str, with: &Outcome, without: &Outcome) {
    let [with, without] = [with, without].map(first);
    let of = |request: &Value, tools: bool| {
        let mut body = request["body"].clone();
        let own = body["tools"].take();
        weir_tokens::count(&if tools { own.to_string() } else { without_random_words(&body.to_string()) })
    };
    let more = |tools: bool| of(with, tools).saturating_sub(of(without, tools));
    let (tools, beside) = (more(true), more(false));
    println!("{client}: {tools} tokens of tools, {beside} beside them");
    assert!(tools + beside <= MAX_TOKENS, "{client}: {tools} tokens of tools, {beside} beside them");
    // Versions of a client differ slightly in what they put around a description.
    let assumed = weir_clients::find(client).unwrap().overhead_tokens as i64;
    let apart = (assumed - (tools + beside) as i64).abs();
    assert!(apart <= 30.max(assumed / 20), "{client}: its file has {assumed}, and it is {}", tools + beside);
    // In a new project, there is nothing to report.
    let body = with["body"].to_string();
    assert!(!body.contains("What is known about this project") && !body.contains("Where this session stood"), "{body}");
}

fn first(outcome: &Outcome) -> &Value {
    outcome.requests.iter().find(|request| request["why"] == "step:0").unwrap()
}

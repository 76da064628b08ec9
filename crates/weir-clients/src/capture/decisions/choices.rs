//! Choices that mean nothing without the model's message before them: "yes, let's go with A", "option 3". What was
//! chosen is looked up there; if it is not found, nothing was decided that could be understood later.

use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{LowercaseSentence, Phrases, event, sentences, without_fillers};

const MAX_OPTION_BYTES: usize = 200;
/// The length of a message that is searched for options, in bytes.
const MAX_EXAMINED_BYTES: usize = 16 << 10;

const CHOOSES: Phrases = Phrases(
    "let's go with | lets go with | let's do | let's try | let's take | let's use | i'd go with | i would go with | i \
     prefer | i'd prefer | i like | i'd pick | i choose | go with | go for | do | take | pick | use | try",
);
const NOUNS: Phrases = Phrases("option | approach | variant | solution | alternative | plan | idea | number | choice");
/// Words that may follow a label.
const AFTER: Phrases = Phrases("one | for now | then | please | first | now");
const ORDINALS: &[(&str, [&str; 2])] = &[
    ("first", ["1", "a"]),
    ("second", ["2", "b"]),
    ("third", ["3", "c"]),
    ("former", ["1", "a"]),
    ("latter", ["2", "b"]),
];

/// Returns whether a text chooses an option by its label.
pub(crate) fn may_choose(said: &str) -> bool {
    sentences(said).any(|sentence| label(sentence).is_some())
}

/// Returns the decisions of a text that chooses among the options of a message.
pub(crate) fn events(said: &str, message: &str) -> Vec<Event> {
    let message = &message[message.ceil_char_boundary(message.len().saturating_sub(MAX_EXAMINED_BYTES))..];
    let chosen = sentences(said).filter_map(|sentence| {
        let Label { marks, is_named } = label(sentence)?;
        let option = marks.iter().find_map(|mark| option(message, mark, is_named))?;
        let text = format!("{sentence} ({})", line(&option.replace("**", ""), MAX_OPTION_BYTES));
        Some(event(EventKind::Decision, Priority::P1, &text))
    });
    chosen.take(2).collect()
}

/// The label of an option as the user wrote it.
struct Label {
    /// What it may be in a list: `1`, `b`, or both for "the first one".
    marks: Vec<String>,
    /// Whether the user called it an option.
    is_named: bool,
}

fn label(sentence: &str) -> Option<Label> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = LowercaseSentence(without_fillers(&lower));
    let chosen = CHOOSES.iter().find_map(|phrase| words.after(phrase));
    let rest = chosen.unwrap_or(words);
    let rest = rest.after("the").unwrap_or(rest);
    let named = NOUNS.iter().find_map(|noun| rest.after(noun));
    let rest = named.or(chosen)?;
    let rest = rest.after("the").unwrap_or(rest);
    let end = rest.0.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.0.len());
    let (mark, after) = rest.0.split_at(end);
    let after = LowercaseSentence(after.trim_start());
    // "Use A and B", "do 2 and 3" and "take a look" choose nothing.
    let mut goes_on = NOUNS.iter().chain(AFTER.iter());
    if !after.0.starts_with([',', '.', ';', '!', '('])
        && !after.0.is_empty()
        && !goes_on.any(|word| after.after(word).is_some())
    {
        return None;
    }
    let is_named = named.is_some();
    if let Some((_, marks)) = ORDINALS.iter().find(|(ordinal, _)| *ordinal == mark) {
        return Some(Label { marks: marks.map(str::to_owned).to_vec(), is_named: false });
    }
    let is_number = matches!(mark.len(), 1 | 2) && mark.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = mark.len() == 1 && matches!(mark.as_bytes()[0], b'a'..=b'h');
    (is_number || is_letter).then(|| Label { marks: vec![mark.to_owned()], is_named })
}

/// Returns the line of a message that describes the option with this label: one that names it as an option, or the only
/// item of a list with the label.
fn option<'m>(message: &'m str, label: &str, is_named: bool) -> Option<&'m str> {
    let marks = ['#', '*', '-', '>', '|', ' ', '_'];
    let (mut named, mut listed): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in message.lines().map(|line| line.trim().trim_start_matches(marks)) {
        let lower = line.to_lowercase();
        let words = LowercaseSentence(&lower);
        let noun = NOUNS.iter().find_map(|noun| words.after(noun));
        let Some(rest) = noun.unwrap_or(words).0.strip_prefix(label) else { continue };
        let is_described = rest.starts_with([')', '.', ':', '*', '—', '–'])
            || rest.starts_with(" -")
            || rest.starts_with(" –")
            || rest.starts_with(" —");
        if is_described && rest.chars().filter(|c| c.is_alphanumeric()).count() > 2 {
            if noun.is_some() { named.push(line) } else { listed.push(line) }
        }
    }
    match (named.as_slice(), listed.as_slice()) {
        ([first, ..], _) => Some(first.trim_end_matches(marks)),
        ([], [only]) if !is_named => Some(only.trim_end_matches(marks)),
        _ => None,
    }
}

//! Parts of answers.

pub(super) fn reference(answer: &str) -> String {
    let start = answer.find("ctx:").unwrap_or_else(|| panic!("no reference: {answer}"));
    answer[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ':').collect()
}

/// Returns the output of a run, which is between the marks of its answer.
pub(super) fn printed(answer: &str) -> &str {
    let marked = answer.split_once("\n<<<").and_then(|(_, rest)| rest.split_once('\n'));
    let inside = marked.and_then(|(mark, rest)| rest.split_once(&format!("\n{mark}>>>")));
    inside.map_or("", |(text, _)| text)
}

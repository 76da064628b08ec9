//! Detects in a transcript of Claude Code that the user went back in the conversation, so that the model no longer has
//! what it was shown since. No hook is called then.

use memchr::memmem::{find, find_iter};

/// Whether a prompt from a position in these rows on follows a row before the model's last message, or may do so
/// because that message is not among the rows. `is_whole` says that no row precedes them.
pub(super) fn is_rewound(rows: &[u8], from: usize, is_whole: bool) -> bool {
    // The names of the rows since the model's last message, including that one.
    let mut since: Vec<&[u8]> = Vec::new();
    let mut end = 0;
    for row in rows.split(|byte| *byte == b'\n') {
        end += row.len() + 1;
        if has(row, r#""isSidechain":true"#) {
            continue;
        }
        let is_user = has(row, r#""type":"user""#);
        let is_prompt = is_user && !has(row, r#""type":"tool_result""#);
        let follows = values(row, r#""parentUuid":""#).any(|parent| since.contains(&parent));
        if is_prompt && end > from && !follows && !(since.is_empty() && is_whole) {
            return true;
        }
        if !is_user && has(row, r#""type":"assistant""#) {
            since.clear();
        }
        since.extend(values(row, r#""uuid":""#));
    }
    false
}

fn has(row: &[u8], text: &str) -> bool {
    find(row, text.as_bytes()).is_some()
}

/// Returns the values of a field, in a row and in anything inside of it. In a text, quotes are escaped.
fn values<'r>(row: &'r [u8], field: &'r str) -> impl Iterator<Item = &'r [u8]> {
    find_iter(row, field.as_bytes()).map(move |at| {
        let value = &row[at + field.len()..];
        &value[..value.iter().position(|byte| *byte == b'"').unwrap_or(value.len())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[(&str, &str, &str)]) -> bool {
        let row = |(kind, name, parent): &(&str, &str, &str)| {
            let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
            let (kind, content) = match *kind {
                "result" => ("user", r#"[{"type":"tool_result","content":"\"uuid\":\"x\""}]"#),
                kind => (kind, "\"text\""),
            };
            format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","message":{{"content":{content}}},"uuid":"{name}"}}"#
            )
        };
        is_rewound(rows.iter().map(row).collect::<Vec<_>>().join("\n").as_bytes(), 0, true)
    }

    #[test]
    fn a_prompt_that_follows_an_earlier_row_shows_it() {
        let turn = [("user", "a", ""), ("assistant", "b", "a"), ("result", "c", "b"), ("assistant", "d", "c")];
        let after = |prompt: (&'static str, &'static str, &'static str)| check(&[&turn[..], &[prompt]].concat());
        assert!(!check(&turn) && !after(("user", "e", "d")) && !after(("result", "e", "b")));
        assert!(after(("user", "e", "a")) && after(("user", "e", "")) && after(("user", "e", "x")));
        // What the client writes after a turn belongs to it.
        let system = [&turn[..], &[("system", "s", "d"), ("user", "e", "d")]].concat();
        assert!(!check(&system));
        // Nothing comes before these rows.
        assert!(!check(&[("user", "e", "before"), ("assistant", "f", "e")]) && !check(&[]));
    }

    #[test]
    fn a_prompt_after_rows_that_are_not_known_may_follow_any_of_them() {
        let prompt = br#"{"parentUuid":"b","type":"user","message":{"content":"go on"},"uuid":"c"}"#;
        assert!(is_rewound(prompt, 0, false) && !is_rewound(prompt, 0, true));
        let known = [br#"{"type":"assistant","message":{},"uuid":"b"}"#.as_slice(), b"\n", prompt].concat();
        assert!(!is_rewound(&known, 0, false));
        // It was judged before.
        assert!(!is_rewound(prompt, prompt.len() + 1, false));
    }
}

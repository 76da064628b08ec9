//! Detects in a transcript of Claude Code that the user went back in the conversation, so that the model no longer has
//! what it was shown since. No hook is called then.

use memchr::memmem::{find, find_iter};

/// Whether a prompt in these rows follows a row before the model's last message. The first prompt is not judged, since it
/// may follow a row before these.
pub(super) fn is_rewound(rows: &[u8]) -> bool {
    // The names of the rows since the model's last message, including that one.
    let mut since: Vec<&[u8]> = Vec::new();
    for row in rows.split(|byte| *byte == b'\n').filter(|row| !has(row, r#""isSidechain":true"#)) {
        let is_user = has(row, r#""type":"user""#);
        let is_prompt = is_user && !has(row, r#""type":"tool_result""#);
        let follows = values(row, r#""parentUuid":""#).any(|parent| since.contains(&parent));
        if is_prompt && !since.is_empty() && !follows {
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
        is_rewound(rows.iter().map(row).collect::<Vec<_>>().join("\n").as_bytes())
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
        // What comes before these rows is not known.
        assert!(!check(&[("user", "e", "before"), ("assistant", "f", "e")]) && !check(&[]));
    }
}

//! The text of a result of an MCP server, out of the JSON in which it may be wrapped: `{"content":[{"type":"text",
//! "text":…}]}`, a list of such blocks or a single one, whole or cut off in the middle.

use super::json_reader::{Piece, Reader};

/// How often a text may be wrapped.
const MAX_DEPTH: usize = 3;
/// Names of fields beside a text that say nothing about it.
const ASIDE: [&str; 4] = ["isError", "is_error", "annotations", "_meta"];

/// Returns the text in an envelope, or `None` if the output is not one.
pub fn unwrapped(output: &str) -> Option<String> {
    let mut text = once(output)?;
    for _ in 1..MAX_DEPTH {
        match once(&text) {
            Some(inner) => text = inner,
            None => break,
        }
    }
    Some(text)
}

fn once(output: &str) -> Option<String> {
    let begin = output.trim_start();
    if !begin.starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader::on(begin.as_bytes());
    reader.limit = usize::MAX;
    reader.begin();
    let mut texts: Vec<String> = Vec::new();
    let mut key = String::new();
    loop {
        let piece = reader.next().ok()?;
        match (piece, key.as_str()) {
            (Piece::Key, _) => {
                key.clone_from(&reader.text);
                let is_known = matches!(key.as_str(), "content" | "type" | "text") || ASIDE.contains(&key.as_str());
                if !is_known {
                    return None;
                }
            }
            (Piece::Text, "text") => texts.push(std::mem::take(&mut reader.text)),
            (Piece::Text, "type") if reader.text == "text" => {}
            (Piece::Word, aside) if ASIDE.contains(&aside) => {}
            (Piece::Object | Piece::Array, "" | "content") | (Piece::Close, _) => {}
            (Piece::End, _) => break,
            // The text ends before its closing quote.
            (Piece::Broken, "text") if reader.cut => {
                texts.push(std::mem::take(&mut reader.text));
                break;
            }
            _ => return None,
        }
        if piece == Piece::Object {
            key.clear();
        }
        if piece == Piece::Close {
            "content".clone_into(&mut key);
        }
    }
    let after = begin.get(reader.taken()..).unwrap_or_default().trim();
    texts.extend((!after.is_empty()).then(|| after.to_owned()));
    (!texts.is_empty()).then(|| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_taken_out() {
        for (output, text) in [
            (
                r#"{"content":[{"type":"text","text":"a\nb"},{"type":"text","text":"c"}],"isError":false}"#,
                Some("a\nb\nc"),
            ),
            (r#"[{"type": "text", "text": "[1, 2]", "annotations": null}]"#, Some("[1, 2]")),
            (r#"{"type":"text","text":"{\"type\":\"text\",\"text\":\"inner\"}"}"#, Some("inner")),
            (
                "{\"type\":\"text\",\"text\":\"cut \\\"of…\n\n(the rest is in a file)",
                Some("cut \"of…\n\n(the rest is in a file)"),
            ),
            ("{\"type\":\"text\",\"text\":\"a\"}\n\nmore", Some("a\nmore")),
            (r#"{"type":"image","data":"x"}"#, None),
            (r#"{"type":"text","text":"a","id":7}"#, None),
            (r#"{"text":5}"#, None),
            ("[1, 2]", None),
            ("plain", None),
        ] {
            assert_eq!(unwrapped(output).as_deref(), text, "{output}");
        }
    }
}

//! Pages as a browser's tokeniser reads them.

use std::collections::BTreeMap;

use html5gum::{Token, Tokenizer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// The opening of an element, with its attributes.
    Open(String, BTreeMap<String, String>),
    Close(String),
    Text(String),
    /// Anything else: a comment, a document type, an error of the tokeniser.
    Other(String),
}

pub(crate) fn parts(html: &str) -> Vec<Part> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Tokenizer::new(html)
        .map(|token| match token.unwrap() {
            Token::StartTag(tag) => {
                let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value)));
                Part::Open(text(&tag.name), attributes.collect())
            }
            Token::EndTag(tag) => Part::Close(text(&tag.name)),
            Token::String(string) => Part::Text(text(&string)),
            Token::Comment(comment) => Part::Other(format!("comment {}", text(&comment))),
            Token::Doctype(kind) => Part::Other(format!("doctype {}", text(&kind.name))),
            Token::Error(error) => Part::Other(format!("error {error:?}")),
        })
        .collect()
}

pub(crate) fn all<'a>(parts: &'a [Part], name: &str) -> Vec<&'a BTreeMap<String, String>> {
    let is_named = |part: &&Part| matches!(part, Part::Open(found, _) if found == name);
    parts.iter().filter(is_named).filter_map(attributes).collect()
}

pub(crate) fn attributes(part: &Part) -> Option<&BTreeMap<String, String>> {
    match part {
        Part::Open(_, attributes) => Some(attributes),
        _ => None,
    }
}

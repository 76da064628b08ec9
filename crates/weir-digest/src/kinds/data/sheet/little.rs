//! Fields that rarely serve a question or the next call: links of an API, opaque keys, and how something looks.

/// Words in a path that are about looks.
const LOOKS: [&str; 8] = ["annotations", "color", "avatar", "padding", "fontfamily", "fontsize", "textstyle", "theme"];
/// Names of fields that hold keys for machines.
const OPAQUE: [&str; 8] =
    ["node_id", "gravatar_id", "signature", "payload", "etag", "request_id", "has_validation", "_links"];
/// Names of links that people follow.
const MAIN_LINKS: [&str; 12] = [
    "url", "html_url", "href", "link", "permalink", "web_url", "weburl", "website", "homepage", "uri", "clone_url",
    "download_url",
];

/// Returns whether the value at a path says little.
pub(super) fn says_little(path: &str, value: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let last = last_name(&path);
    OPAQUE.contains(&last)
        || path.contains("_links.")
        || (LOOKS.iter().any(|word| path.contains(word)) && !is_word(value))
        || (is_link(value) && (!MAIN_LINKS.contains(&last) || value.contains("://api.") || value.contains('{')))
}

/// Returns whether a value is a word of its own, such as a colour, and neither a number nor a default.
fn is_word(value: &str) -> bool {
    !matches!(value, "" | "default" | "true" | "false" | "null")
        && value.len() <= 40
        && value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b' '))
}

/// Returns the last name in a path.
pub(super) fn last_name(path: &str) -> &str {
    path.trim_end_matches("[]").rsplit(['.', ']']).next().unwrap_or(path)
}

/// Returns whether a value is the address of a page.
pub(super) fn is_link(value: &str) -> bool {
    (value.starts_with("http://") || value.starts_with("https://")) && !value.contains(' ')
}

/// Returns whether a value says that there is none.
pub(super) fn is_nothing(value: &str) -> bool {
    matches!(value, "" | "null" | "None" | "false" | "False" | "0")
}

/// Returns a path as the head of a column: without brackets, variants and the field that holds the text itself.
pub(super) fn label(path: &str) -> String {
    let mut names: Vec<&str> = path
        .split('.')
        .map(|name| name.trim_end_matches("[]"))
        .filter(|name| !matches!(*name, "" | "<type>"))
        .collect();
    if names.len() > 1 && matches!(names.last(), Some(&("content" | "plain_text" | "text" | "value"))) {
        names.pop();
    }
    if names.len() > 1 && matches!(names.first(), Some(&("properties" | "fields" | "snippet"))) {
        names.remove(0);
    }
    names.join(".")
}

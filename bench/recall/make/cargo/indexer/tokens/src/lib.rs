use once_cell::sync::Lazy;
use regex::Regex;

static WORD: Lazy<Regex> = Lazy::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").unwrap());

pub fn words(text: &str) -> Vec<&str> {
    WORD.find_iter(text).map(|m| m.as_str()).collect()
}

fn fold(word: &str) -> String {
    word.to_lowercase()
}

//! Fuzzes outlines: the grammars in C and the walk over their trees. The first byte selects the language.

use weir_outline::{LANGUAGES, Level, Outline, outline as outline_of, show, wire};

pub(crate) fn outline(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let language = LANGUAGES[usize::from(first) % LANGUAGES.len()];
    let text = String::from_utf8_lossy(text);
    let Ok(made) = outline_of(language, &text) else { return };
    check(&made, &text);
    let request = wire::request(language, &text);
    match wire::read(language, &text, &wire::answer(&request)) {
        Ok(read) => assert_eq!(read, made, "another outline came over the wire"),
        Err(_) => assert!(depth(&made.items) > 50, "the outline did not come over the wire"),
    }
}

/// Reads the answer of a compromised process: the text in the first line, the answer after it.
pub(crate) fn answer(data: &[u8]) {
    let (text, answer) = crate::first_line(data);
    for language in LANGUAGES.iter().take(2) {
        if let Ok(read) = wire::read(language, &text, answer) {
            check(&read, &text);
        }
    }
}

fn check(made: &Outline, text: &str) {
    for level in [Level::Minimal, Level::Standard, Level::Verbose] {
        let shown = show(made, text, level);
        assert!(shown.level.is_none() || weir_tokens::count(&shown.text) <= weir_tokens::count(text));
    }
    items_fit(&made.items, text);
}

fn items_fit(items: &[weir_outline::Item], text: &str) {
    for item in items {
        assert!(text.get(item.bytes.clone()).is_some() && item.lines.0 <= item.lines.1, "{item:?}");
        items_fit(&item.children, text);
    }
}

fn depth(items: &[weir_outline::Item]) -> usize {
    items.iter().map(|item| 1 + depth(&item.children)).max().unwrap_or(0)
}

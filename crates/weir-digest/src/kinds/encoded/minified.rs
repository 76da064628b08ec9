//! Minified code: its authors, its exports, what it calls, and its error messages.

use std::collections::BTreeSet;
use std::io::{self, Read};

use crate::text::{clip, count, starts};
use crate::{Item, Page, Part, Source, Weight};

const MAX_BYTES: u64 = 4 << 20;
/// The minimum length of a line that no person wrote.
const MIN_LINE_BYTES: usize = 800;
/// The maximum number of names or messages kept of a sort.
const MAX_ITEMS: usize = 300;

/// Returns whether the beginning of an output is minified code.
pub(super) fn is(raw: &[u8]) -> bool {
    let long: usize = raw.split(|&byte| byte == b'\n').map(<[u8]>::len).filter(|&length| length > MIN_LINE_BYTES).sum();
    if raw.len() < 1_000 || long * 10 < raw.len() * 7 || raw.trim_ascii_start().starts_with(b"<") {
        return false;
    }
    let count = |bytes: &[u8]| memchr::memmem::find_iter(raw, bytes).count();
    let marks = raw.iter().filter(|byte| b";{}(),:=".contains(byte)).count();
    let script = count(b"function") + count(b"=>") + count(b"var ") + count(b"const ") + count(b"return ");
    marks * 100 >= raw.len() * 6 && (script * 2_000 >= raw.len() || is_style(raw))
}

fn is_style(raw: &[u8]) -> bool {
    let open = memchr::memchr_iter(b'{', raw).count();
    let pairs = memchr::memchr_iter(b':', raw).count();
    open * 150 >= raw.len()
        && pairs >= open
        && memchr::memmem::find(raw, b"=>").is_none()
        && memchr::memchr(b'=', raw).is_none_or(|_| pairs > 20)
        && memchr::memmem::find(raw, b"function(").is_none()
}

pub(super) fn read(source: &dyn Source) -> io::Result<Page> {
    let mut raw = Vec::with_capacity(source.bytes().min(MAX_BYTES) as usize);
    source.open()?.take(MAX_BYTES).read_to_end(&mut raw)?;
    let text = String::from_utf8_lossy(&raw);
    let lines = text.lines().count();
    let longest = text.lines().map(str::len).max().unwrap_or(0);
    let style = is_style(&raw);
    let language = if style { "CSS" } else { "JavaScript" };
    let part = || format!(", of which the first {MAX_BYTES} were looked at");
    let part = (source.bytes() > MAX_BYTES).then(part).unwrap_or_default();
    let mut page = Page::new(format!(
        "minified {language}, {} bytes{part}, {}, the longest of {longest} bytes",
        source.bytes(),
        count(lines as u64, "line", "lines")
    ));
    push(&mut page, "banners and licences", Weight::Failure, &banners(&text));
    if style {
        push_style(&mut page, &text);
    } else {
        push_script(&mut page, &text);
    }
    let ends = [
        text.get(..text.floor_char_boundary(160)),
        text.get(text.floor_char_boundary(text.len().saturating_sub(120))..),
    ];
    let ends = ends.into_iter().flatten().map(|end| Item::plain(end.trim().replace('\n', "⏎"))).collect();
    page.push(Part::new("beginning and end", Weight::Sample, ends));
    Ok(page)
}

fn push_script(page: &mut Page, text: &str) {
    push(page, "names it defines for others", Weight::Fact, &joined(exports(text)));
    let versions = after_any(text, &["version:", "version=", "VERSION:", "VERSION=", "Version="]);
    push(page, "versions", Weight::Fact, &versions);
    push(page, "errors that it throws", Weight::Fact, &errors(text));
    push(page, "addresses and paths", Weight::Fact, &joined(strings(text, is_address)));
    push(page, "other texts", Weight::Shape, &joined(strings(text, is_wording)));
    let count = |word: &str| memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()).count();
    let counts = format!(
        "{} functions, {} arrow functions, {} classes, {} throws, {} calls of fetch, {} of eval",
        count("function"),
        count("=>"),
        count("class "),
        count("throw "),
        count("fetch("),
        count("eval(")
    );
    page.push(Part::new("counts", Weight::Shape, vec![Item::plain(counts)]));
}

fn push_style(page: &mut Page, text: &str) {
    let between = |from: &'static str, to: &'static [char]| {
        let mut found = Vec::new();
        for (place, _) in text.match_indices(from) {
            let rest = near(text, place, 200);
            add(&mut found, rest.find(to).and_then(|end| rest.get(..end)).unwrap_or_default());
        }
        found
    };
    push(page, "conditions", Weight::Fact, &joined(between("@media", &['{'])));
    let names = [between("@import", &[';']), between("font-family:", &[';', '}']), between("url(", &[')'])].concat();
    push(page, "imports, fonts and addresses", Weight::Fact, &joined(names));
    push(page, "animations", Weight::Shape, &joined(between("@keyframes", &['{'])));
    let mut variables = Vec::new();
    for (place, _) in text.match_indices("--") {
        let rest = near(text, place, 80);
        let one = rest.find([';', '}', ')', ',']).and_then(|end| rest.get(..end)).unwrap_or_default();
        if one.contains(':') {
            add(&mut variables, one);
        }
    }
    push(page, "variables", Weight::Fact, &joined(variables));
    let mut classes = BTreeSet::new();
    for (place, _) in text.match_indices('.') {
        let name = identifier(near(text, place + 1, 80));
        if name.len() > 2 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && classes.len() < 5_000 {
            classes.insert(name);
        }
    }
    let count = |mark: char| text.matches(mark).count();
    let important = text.matches("!important").count();
    let counts = format!("{} rules, {} classes, {important} times !important", count('{'), classes.len());
    page.push(Part::new("counts", Weight::Fact, vec![Item::plain(counts)]));
    push(page, "classes", Weight::Shape, &joined(classes.into_iter().map(str::to_owned).collect()));
}

/// Returns the comments that minifiers keep.
fn banners(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, _) in text.match_indices("/*").take(2_000) {
        let head = near(text, place, 2_000);
        let comment = head.find("*/").and_then(|end| head.get(..end + 2)).unwrap_or(head);
        let is_kept = comment.starts_with("/*!")
            || ["@license", "@preserve", "icense", "opyright"].iter().any(|word| comment.contains(word));
        let is_closed = comment.ends_with("*/");
        if is_kept && is_closed && found.len() < 20 {
            add(&mut found, &clip(comment, 400));
        }
    }
    for (place, _) in text.match_indices("sourceMappingURL=") {
        let rest = near(text, place, 300);
        let end = rest.find(|c: char| c.is_whitespace() || c == '*').unwrap_or(rest.len());
        add(&mut found, &clip(rest.get(..end).unwrap_or_default(), 200));
    }
    found
}

/// Returns the names that other code can use.
fn exports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = text.trim_start();
    while let Some(rest) = code.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
        code = rest.1.trim_start();
    }
    let code = code.strip_prefix("\"use strict\";").unwrap_or(code);
    let first = ["var ", "let ", "const "].iter().find_map(|word| code.strip_prefix(word));
    if let Some(first) = first {
        add(&mut found, identifier(first));
    }
    for mark in ["window.", "globalThis.", "self.", "global.", "exports.", "root."] {
        for (place, _) in text.match_indices(mark) {
            let rest = near(text, place + mark.len(), 100);
            let name = identifier(rest);
            let after = rest.get(name.len()..).unwrap_or_default();
            if !name.is_empty() && after.starts_with('=') && !after.starts_with("==") {
                add(&mut found, name);
            }
        }
    }
    // Bundlers export as `{Name:()=>x}`.
    for (place, _) in text.match_indices(":()=>") {
        let before = text.get(text.floor_char_boundary(place.saturating_sub(80))..place).unwrap_or_default();
        let start = before.rfind(|c: char| !is_in_name(c)).map_or(0, |start| start + 1);
        add(&mut found, before.get(start..).unwrap_or_default());
    }
    for (place, _) in text.match_indices("export{") {
        let rest = near(text, place + 7, 4_000);
        let list = rest.find('}').and_then(|end| rest.get(..end)).unwrap_or_default();
        for name in list.split(',') {
            add(&mut found, name.rsplit(" as ").next().unwrap_or(name).trim());
        }
    }
    found.retain(|name| name.len() > 1);
    found
}

/// Returns the arguments of `Error(…)`.
fn errors(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, _) in text.match_indices("Error(") {
        let rest = near(text, place + 6, 300);
        if !rest.starts_with(['"', '\'', '`']) {
            continue;
        }
        let end = rest.find([')', ';']).unwrap_or(rest.len());
        // The text may contain a bracket.
        let quote = rest.chars().next().unwrap_or('"');
        let close = rest.get(1..).and_then(|inner| inner.find(quote)).map_or(end, |close| close + 2);
        let end = if close > end { close } else { end };
        add(&mut found, rest.get(..end).unwrap_or_default());
    }
    found
}

/// Returns quoted texts that follow one of these marks.
fn after_any(text: &str, marks: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for mark in marks {
        for (place, _) in text.match_indices(mark) {
            let rest = near(text, place + mark.len(), 80);
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else { continue };
            let inner = rest.get(1..).unwrap_or_default();
            if let Some(end) = inner.find(quote) {
                add(&mut found, &format!("{mark}{}", inner.get(..end).unwrap_or_default()));
            }
        }
    }
    found
}

/// Returns quoted texts for which `is` holds.
fn strings(text: &str, is: fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut place = 0;
    let bytes = text.as_bytes();
    while let Some(next) = bytes.get(place..).and_then(|rest| memchr::memchr3(b'"', b'\'', b'`', rest)) {
        let start = place + next + 1;
        let quote = bytes.get(start - 1).copied().unwrap_or(b'"');
        let near = bytes.get(start..bytes.len().min(start + 160)).unwrap_or_default();
        place = start;
        if let Some(end) = memchr::memchr(quote, near) {
            let inner = text.get(start..start + end).unwrap_or_default();
            if is(inner) {
                add(&mut found, inner);
            }
            place = start + end + 1;
        }
    }
    found
}

/// Returns the text after a position, limited so that searching it takes little time.
fn near(text: &str, place: usize, most: usize) -> &str {
    let end = text.floor_char_boundary(place.saturating_add(most));
    text.get(place..end).unwrap_or_default()
}

fn is_address(text: &str) -> bool {
    let begins = starts(text, &["http://", "https://", "wss://"]) || (text.starts_with('/') && text.len() > 3);
    begins
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_.:-{}$?=&%@~+#".contains(&byte))
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_wording(text: &str) -> bool {
    let good = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || b" .,:'!?-".contains(byte)).count();
    text.len() >= 12
        && text.trim().contains(' ')
        && good * 100 >= text.len() * 95
        && text.bytes().filter(u8::is_ascii_alphabetic).count() * 10 >= text.len() * 7
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-')
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !is_in_name(c)).unwrap_or(text.len()).min(80);
    text.get(..end).unwrap_or_default()
}

fn add(found: &mut Vec<String>, text: &str) {
    if !text.is_empty() && found.len() < MAX_ITEMS && !found.iter().any(|known| known == text) {
        found.push(text.to_owned());
    }
}

fn joined(texts: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if line.len() + text.len() < 200 => {
                line.push_str(", ");
                line.push_str(&text);
            }
            _ => lines.push(text),
        }
    }
    lines
}

fn push(page: &mut Page, name: &str, weight: Weight, texts: &[String]) {
    let items: Vec<Item> = texts.iter().map(Item::plain).collect();
    page.push(Part::new(name, weight, items));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::check::check;

    #[test]
    fn minified_code_tells_who_wrote_it_and_what_it_gives() {
        let body =
            "if(!e)throw new Error(\"kit: no \"+e);var t=n(e),r=fetch(\"/api/v2/\"+t,{method:\"GET\"});return r};"
                .repeat(20);
        let raw = format!(
            "/*! kit 2.1.0 | MIT */\nvar Kit=(()=>{{var n=e=>e;d(R,{{open:()=>o,closeAll:()=>c}});var o=e=>{{{body}}})();\n"
        );
        check(&raw, 400).shows(&expect![[r#"
            minified JavaScript, 1977 bytes, 2 lines, the longest of 1953 bytes
            == banners and licences: 1
            /*! kit 2.1.0 | MIT */
            == names it defines for others: 1
            Kit, open, closeAll
            == errors that it throws: 1
            "kit: no "+e
            == addresses and paths: 1
            /api/v2/
            == counts: 1
            0 functions, 5 arrow functions, 0 classes, 20 throws, 20 calls of fetch, 0 of eval
            == beginning and end: 2
            /*! kit 2.1.0 | MIT */⏎var Kit=(()=>{var n=e=>e;d(R,{open:()=>o,closeAll:()=>c});var o=e=>{if(!e)throw new Error("kit: no "+e);var t=n(e),r=fetch("/api/v2/"+t,{
            d:"GET"});return r};if(!e)throw new Error("kit: no "+e);var t=n(e),r=fetch("/api/v2/"+t,{method:"GET"});return r};})();"#]]);
    }

    #[test]
    fn long_lines_of_words_are_not_code() {
        assert!(!is("These are words, one after the other. ".repeat(100).as_bytes()));
        assert!(!is("fn main() {\n    let x = 1;\n}\n".repeat(100).as_bytes()));
        assert!(!is(format!("<html>{}</html>", "<b style=\"a:b;\">x</b>".repeat(200)).as_bytes()));
    }
}

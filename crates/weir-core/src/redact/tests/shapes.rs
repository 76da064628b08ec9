//! Tests how many of the shapes of providers' secrets are recognised, and in which forms.
//!
//! The secrets are drawn when the test runs, so that none is in this repository.

use super::super::redact;

/// How often each shape is drawn, and how many of the draws must be recognised: a random value occasionally passes for
/// a word.
const DRAWS: u64 = 40;
const MIN_RECOGNISED: u64 = 38;

/// A generator of numbers (splitmix64) that returns the same for the same seed.
struct NumberGenerator(u64);

impl NumberGenerator {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most as u64) as usize
    }
}

fn alphabet(class: char) -> &'static str {
    match class {
        'A' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'L' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        'a' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'U' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'h' => "0123456789abcdef",
        'd' => "0123456789",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        'w' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        'x' => "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        other => panic!("no class {other}"),
    }
}

/// Returns a text of this shape, and the parts of its secret that must not be visible.
fn draw(shape: &str, seed: u64) -> (String, Vec<String>) {
    let mut numbers = NumberGenerator(seed);
    let (mut text, mut parts, mut is_inside) = (String::new(), Vec::new(), false);
    let mut rest = shape.chars();
    let mut fixed = String::new();
    while let Some(c) = rest.next() {
        match c {
            '«' => is_inside = true,
            '»' => {
                is_inside = false;
                // A secret without random parts consists of its fixed text.
                if parts.is_empty() {
                    parts.push(fixed.clone());
                }
            }
            '↵' => text.push('\n'),
            '␛' => text.push('\u{1b}'),
            '␠' => text.push('\u{200b}'),
            '{' if is_inside => {
                let inside: String = rest.by_ref().take_while(|&c| c != '}').collect();
                let (class, length) = inside.split_at(1);
                let alphabet = alphabet(class.chars().next().unwrap());
                let part: String = (0..length.parse::<usize>().unwrap())
                    .map(|_| alphabet.as_bytes()[numbers.below(alphabet.len())] as char)
                    .collect();
                text.push_str(&part);
                parts.push(part);
            }
            other => {
                text.push(other);
                fixed.push(other);
            }
        }
    }
    // A few characters are in any text; the long parts are what matters.
    let longest = parts.iter().map(String::len).max().unwrap_or_default();
    parts.retain(|part| part.len() >= longest.min(6));
    (text, parts)
}

/// Returns a text as a URL writes it, with every character that is not a letter or a digit by its number.
fn percent_encoded(text: &str) -> String {
    let written = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(written).collect()
}

/// Returns the number of shapes in a file, and the names of those that are not recognised when they are written so.
fn count(file: &str, write: fn(&str) -> String) -> (usize, Vec<String>) {
    let mut missing = Vec::new();
    let mut all = 0;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let (name, shape) = line.split_once(": ").unwrap();
        all += 1;
        let is_recognised = |seed: &u64| {
            let (text, parts) = draw(shape, *seed);
            let (text, parts) = (write(&text), parts.iter().map(|part| write(part)).collect::<Vec<_>>());
            let shown = String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned();
            parts.iter().all(|part| !shown.contains(part.as_str()))
        };
        let recognised = (0..DRAWS).filter(is_recognised).count() as u64;
        if recognised < MIN_RECOGNISED {
            missing.push(format!("{name} ({recognised} of {DRAWS}): {}", draw(shape, 0).0));
        }
    }
    (all, missing)
}

#[test]
fn the_shapes_of_providers_are_recognised() {
    let (all, missing) = count(include_str!("shapes.txt"), str::to_owned);
    println!("{} of {all} shapes are recognised; not: {missing:#?}", all - missing.len());
    assert_eq!((all, missing), (145, Vec::<String>::new()));
}

#[test]
fn the_shapes_of_providers_are_recognised_in_urls() {
    let (all, missing) = count(include_str!("shapes.txt"), percent_encoded);
    assert_eq!((all, missing), (145, Vec::<String>::new()));
}

#[test]
fn the_forms_in_which_secrets_are_written_are_recognised() {
    let (_, missing) = count(include_str!("forms.txt"), str::to_owned);
    assert_eq!(missing, Vec::<String>::new());
}

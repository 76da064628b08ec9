//! Finds what a text says was learned: the items below a heading such as `## Key Learnings:`.

/// The titles of such sections, in English and Spanish.
const TITLES: &[&str] =
    &["key learnings", "key learning", "learnings", "learning", "aprendizajes clave", "aprendizajes"];
/// The level of the smallest heading that ends a section.
const MAX_LEVEL: usize = 3;
/// The minimum length of an item. What is shorter says too little.
const MIN_ITEM_CHARS: usize = 20;

/// Returns the items of the last section that has any: those with a number, or the others if none has one.
pub(super) fn items(text: &str) -> Vec<String> {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        match heading(line) {
            Some((level, title)) => {
                is_inside = level > 1 && is_title(title);
                if is_inside {
                    sections.push(Vec::new());
                }
            }
            None if is_inside => sections.last_mut().into_iter().for_each(|section| section.push(line)),
            None => {}
        }
    }
    let mut items = sections.iter().rev().map(|lines| {
        let numbered = items_of(lines, after_number);
        if numbered.is_empty() { items_of(lines, after_bullet) } else { numbered }
    });
    items.find(|items| !items.is_empty()).unwrap_or_default()
}

/// Returns the level and the title of a heading that could end a section.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=MAX_LEVEL).contains(&level) && title.starts_with([' ', '\t'])).then(|| (level, title.trim()))
}

fn is_title(title: &str) -> bool {
    let words = title.strip_suffix(':').unwrap_or(title).to_lowercase();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    TITLES.contains(&words.as_str())
}

fn items_of(lines: &[&str], text_of: fn(&str) -> Option<&str>) -> Vec<String> {
    let items = lines.iter().filter_map(|line| text_of(line.trim_start())).map(plain);
    items.filter(|item| item.chars().count() >= MIN_ITEM_CHARS).collect()
}

/// Returns the text of an item such as `1. text` or `1) text`.
fn after_number(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if rest.len() < line.len() { rest.strip_prefix(['.', ')'])? } else { return None };
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

/// Returns the text of an item such as `- text` or `* text`.
fn after_bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*'])?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

/// Returns an item without marks of bold text and code, and with single blanks.
fn plain(item: &str) -> String {
    item.replace("**", "").replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(items(text), expected, "{text}");
    }

    #[test]
    fn items_are_those_of_the_last_section_that_has_any() {
        check("no section\n- but an item that is long enough", &[]);
        check(
            "## Key Learnings:\n\n1. The **pool** has `16` connections\n2) Tests  need port 7071\n3. short\n\
             - not numbered, so not one of them\n",
            &["The pool has 16 connections", "Tests need port 7071"],
        );
        check(
            "### aprendizajes  clave\n* El puerto 7071 es para pruebas\n#### deeper\n- The fourth level ends nothing\n\
             ## Next\n- This item is of another section",
            &["El puerto 7071 es para pruebas", "The fourth level ends nothing"],
        );
        check(
            "## Learnings\n- The first section has this item\n## Learnings\nnothing",
            &["The first section has this item"],
        );
        check("# Learnings\n- The first level is no section\n##Learnings\n- Neither is this one, by far", &[]);
        check("## Key Learnings\n1.no blank behind the number here\n", &[]);
    }

    proptest! {
        #[test]
        fn any_text_has_items_or_none(text in "(## Learnings\n|[0-9]{0,2}[.)]?|[-*# ]|\\PC{0,30}|\n){0,20}") {
            let is_item = |item: &String| item.chars().count() >= MIN_ITEM_CHARS && !item.contains('\n');
            prop_assert!(items(&text).iter().all(is_item));
        }
    }
}

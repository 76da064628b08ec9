//! Lines in which a script announces its next step.

/// Returns whether a line announces a step: `== build`, `$ npm test`, `+ cargo build`, `##[group]Run tests`.
pub(super) fn is_step(text: &str) -> bool {
    let Some(&first) = text.as_bytes().first() else { return false };
    match first {
        b'#' => text.starts_with("##[group]") || text.starts_with("##[section]") || is_layer(text) || is_heading(text),
        b':' => text.starts_with("::group::"),
        b'=' => is_title(text),
        b'$' | b'+' => command(text.get(1..)),
        b'>' => package(text.get(1..)) || text.starts_with(">>> "),
        b'-' => text.starts_with("--> ") || text.starts_with("---> ") || is_ruled(text),
        b'*' => text.starts_with("*** ") || text.starts_with("** "),
        b'[' => counter(text.get(1..)),
        b'S' | b's' => text.strip_prefix("Step ").or_else(|| text.strip_prefix("step ")).is_some_and(numbered),
        b'S'..=b'T' => text.starts_with("TASK [") || text.starts_with("STEP "),
        b'P' => text.starts_with("PLAY ["),
        b'm' => text.starts_with("make[") && text.contains("Entering directory"),
        0xe2 => ["▸ ", "➜ ", "→ ", "▶ ", "━━", "── "].iter().any(|sign| text.starts_with(sign)),
        _ => false,
    }
}

/// Returns whether a script or its runner marked a line as an error: `##[error]…`, `::error file=a::…`.
pub(super) fn is_marked(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(60)).unwrap_or(text);
    head.contains("##[error]") || head.contains("::error")
}

/// Recognises `== build`, `==> build` and `===== build =====`, but not a line of signs only.
fn is_title(text: &str) -> bool {
    let rest = text.trim_start_matches('=').trim_start_matches('>');
    let signs = text.len() - rest.len();
    signs >= 2 && rest.starts_with(' ') && rest.trim_matches(['=', ' ']).len() >= 2
}

/// Recognises `## build` and `### build ###`.
fn is_heading(text: &str) -> bool {
    let rest = text.trim_start_matches('#');
    let signs = text.len() - rest.len();
    (2..=6).contains(&signs) && rest.starts_with(' ') && rest.len() <= 80
}

/// Recognises `--- build ---` and `----- build -----`.
fn is_ruled(text: &str) -> bool {
    let text = text.trim_end();
    text.starts_with("---")
        && text.ends_with("---")
        && text.trim_matches(['-', ' ']).len() >= 2
        && text.trim_matches('-').starts_with(' ')
        && text.len() <= 120
}

/// Recognises ` npm test`: a word that could be a program, after one space. Diffs and plans of changes begin in the
/// same way.
fn command(rest: Option<&str>) -> bool {
    let Some(rest) = rest.and_then(|rest| rest.trim_start_matches('+').strip_prefix(' ')) else { return false };
    let changes = [" - ", " \"", " = "].iter().any(|mark| rest.contains(mark)) && rest.len() < 100;
    let begins = rest.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/' | '_' | '['));
    begins && rest.len() >= 2 && !changes
}

/// Recognises ` shop@1.0.0 test`, as npm announces a script.
fn package(rest: Option<&str>) -> bool {
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix(' ')) else { return false };
    let first = rest.split(' ').next().unwrap_or_default();
    let versioned =
        first.rsplit_once('@').is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
    versioned || (first.starts_with(|c: char| c.is_ascii_lowercase()) && rest.contains(' '))
}

/// Recognises `1/4] …`.
fn counter(rest: Option<&str>) -> bool {
    let Some((_, rest)) = rest.and_then(|rest| crate::text::number(rest.trim_start())) else { return false };
    let last = rest.strip_prefix('/').and_then(crate::text::number);
    last.is_some_and(|(count, rest)| count < 100 && rest.starts_with("] "))
}

/// Recognises `3/9 : RUN …` and `2: build`.
fn numbered(rest: &str) -> bool {
    crate::text::number(rest).is_some_and(|(_, rest)| rest.starts_with(['/', ':', ' ', '.']))
}

/// Recognises `#12 [build 3/9] RUN …`.
fn is_layer(text: &str) -> bool {
    let rest = text.get(1..).and_then(crate::text::number);
    rest.is_some_and(|(_, rest)| rest.starts_with(" [") && rest.contains("] "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_scripts_are_known() {
        assert!(is_marked("2026-11-12T08:14:03.0070000Z ##[error]no") && !is_marked("an error"));
    }

    #[test]
    fn what_only_looks_like_a_step_is_none() {
        for line in ["+ expected - actual", "----  ------", "+ resource \"a\" \"b\" {", "+ actual - expected"] {
            assert!(!is_step(line), "{line}");
        }
        assert!(is_step("+ cargo build") && is_step("$ npm test") && is_step("== build"));
    }
}

//! `sed` scripts: whether one runs a command, as `e` and the flag of `s///e` do.

use super::words::{Piece, Word};

const RUNS: &str = "is a sed script that runs commands, or one that we cannot read";

/// Returns what is unclear about a call of sed.
pub(super) fn unclear(words: &[Word]) -> Option<&'static str> {
    // Each script is the rest of a word from a position on.
    let mut scripts = Vec::new();
    let mut operand = None;
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match argument(word.known_start()) {
            Argument::Script(Some(at)) => scripts.push((word, at)),
            Argument::Script(None) => scripts.extend(words.next().map(|word| (word, 0))),
            Argument::TakesValue => drop(words.next()),
            Argument::Alone => {}
            Argument::Operand => operand = operand.or(Some((word, 0))),
        }
    }
    if scripts.is_empty() {
        scripts.extend(operand);
    }
    let runs = scripts.into_iter().any(|(script, at)| {
        // A variable in `s/a/$b/` is treated as plain text; the masks stop whatever it may contain.
        let pieces = script.pieces().iter().map(|piece| match piece {
            Piece::Known(text) => text.as_str(),
            Piece::Unknown => "x",
        });
        let text: String = pieces.collect();
        text.get(at..).is_none_or(runs)
    });
    runs.then_some(RUNS)
}

enum Argument {
    /// An option with a script, which begins at this position, or is the next argument.
    Script(Option<usize>),
    /// An option whose value is the next argument.
    TakesValue,
    /// Any other option.
    Alone,
    /// A script or a file.
    Operand,
}

/// Classifies an argument: long options may be abbreviated, and short ones are written together, as in `-ne1p`.
fn argument(text: &str) -> Argument {
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, _)| (name, Some(name.len() + 3)));
        let is = |whole: &str| !name.is_empty() && whole.starts_with(name);
        return match value {
            _ if is("expression") => Argument::Script(value),
            None if is("file") || is("line-length") => Argument::TakesValue,
            _ => Argument::Alone,
        };
    }
    let Some(letters) = text.strip_prefix('-') else { return Argument::Operand };
    for (at, letter) in letters.char_indices() {
        let is_last = at + 1 == letters.len();
        match letter {
            'e' => return Argument::Script((!is_last).then_some(at + 2)),
            'f' | 'l' if is_last => return Argument::TakesValue,
            // What follows is the option's value.
            'f' | 'l' | 'i' => return Argument::Alone,
            _ => {}
        }
    }
    Argument::Alone
}

/// Returns whether a script runs a command or is not understood. Implementations differ on whether a delimiter inside
/// brackets ends the part, so a script is accepted if one reading is fine and none runs anything.
fn runs(script: &str) -> bool {
    let readings = [read(script, Brackets::Quote), read(script, Brackets::Plain)];
    readings.contains(&ScriptEffect::Runs) || !readings.contains(&ScriptEffect::Fine)
}

#[derive(Clone, Copy, PartialEq)]
enum Brackets {
    /// A delimiter inside brackets is text.
    Quote,
    /// Brackets do not affect delimiters.
    Plain,
}

#[derive(PartialEq)]
enum ScriptEffect {
    Fine,
    Runs,
    Unknown,
}

fn read(script: &str, brackets: Brackets) -> ScriptEffect {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}', '{']);
        let Some(after) = addresses(rest, brackets) else { return ScriptEffect::Unknown };
        rest = after.trim_start_matches([' ', '!']);
        let Some(command) = rest.chars().next() else { return ScriptEffect::Fine };
        rest = &rest[command.len_utf8()..];
        let after = match command {
            '{' | '}' | ';' | '\n' => Some(rest),
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => Some(rest),
            'l' | 'q' | 'Q' | 'L' => Some(rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')),
            'a' | 'i' | 'c' => Some(text(rest)),
            'b' | 't' | 'T' | ':' | 'v' => Some(rest.trim_start_matches(|c| c != ';' && c != '\n' && c != '}')),
            'r' | 'R' | 'w' | 'W' | '#' => Some(rest.split_once('\n').map_or("", |(_, after)| after)),
            's' => match delimited(rest, 2, brackets).map(flags) {
                Some(None) => return ScriptEffect::Runs,
                after => after.flatten(),
            },
            'y' => delimited(rest, 2, brackets),
            'e' => return ScriptEffect::Runs,
            _ => None,
        };
        match after {
            Some(after) => rest = after,
            None => return ScriptEffect::Unknown,
        }
    }
}

/// Returns what follows the one or two addresses of a command.
fn addresses(script: &str, brackets: Brackets) -> Option<&str> {
    let mut rest = address(script, brackets)?;
    if let Some(second) = rest.trim_start().strip_prefix(',') {
        rest = address(second.trim_start_matches([' ', '+', '~']), brackets)?;
    }
    Some(rest)
}

fn address(script: &str, brackets: Brackets) -> Option<&str> {
    match script.chars().next() {
        Some('/') => delimited(script, 1, brackets).map(|rest| rest.trim_start_matches(['I', 'M'])),
        Some('\\') => delimited(&script[1..], 1, brackets).map(|rest| rest.trim_start_matches(['I', 'M'])),
        Some('$') => Some(&script[1..]),
        Some('0'..='9') => Some(script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~')),
        _ => Some(script),
    }
}

/// Returns what follows `count` parts, each ended by the first character.
fn delimited(script: &str, count: usize, brackets: Brackets) -> Option<&str> {
    let mark = script.chars().next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
    let mut chars = script.char_indices().skip(1);
    let mut ended = 0;
    let mut class = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' if !class && ended == 0 => class = brackets == Brackets::Quote,
            ']' if class => class = false,
            c if c == mark && class => {}
            c if c == mark => {
                ended += 1;
                if ended == count {
                    return Some(&script[at + c.len_utf8()..]);
                }
            }
            _ => {}
        }
    }
    None
}

fn flags(script: &str) -> Option<&str> {
    let end = script.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(script.len());
    let (flags, rest) = script.split_at(end);
    if flags.contains(['e', 'm']) || !flags.chars().all(|c| c.is_ascii_digit() || "gpiIMw".contains(c)) {
        return None;
    }
    if flags.contains('w') { Some(rest.split_once('\n').map_or("", |(_, after)| after)) } else { Some(rest) }
}

/// Skips the text of `a`, `i` and `c`, which continues over lines that end with a backslash.
fn text(script: &str) -> &str {
    let mut rest = script;
    loop {
        let Some((line, after)) = rest.split_once('\n') else { return "" };
        if !line.ends_with('\\') {
            return after;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn scripts_that_run_commands_are_told_from_those_that_do_not() {
        for script in ["e", "e sudo id", "1e sudo id", "s/x/y/e", "s/x/sudo id/ge", "/a/{s/x/y/e}", "$!e id", "1,3 e"] {
            assert!(runs(script), "{script}");
        }
        for script in [
            "s/a/b/", "s/e/e/g", "s|/usr|/opt|g", "1,20p", "/foo/,/bar/d", "$d", "/^#/d;/^$/d", "s/[^/]*$//",
            "1i\\\nhello e\n", "/x/!s/a/b/2", ":a;N;$!ba;s/\\n/ /g", // typos: allow
        ] {
            assert!(!runs(script), "{script}");
        }
    }
}

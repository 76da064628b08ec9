//! Patterns of commands, as in `Bash(npm run test:*)`, and how they match commands with unknown words.

use crate::shell::{Command, Piece, Word, base_name, without_globals};

/// A pattern over the text of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The equivalent texts of the pattern, in which `*` stands for any text.
    spellings: Vec<String>,
    /// The program, if the pattern is about every use of one.
    program: Option<String>,
    /// The options that the pattern names, each with its position among the words.
    options: Vec<(usize, String)>,
}

/// Whether a command matches a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// It does not, whatever its unknown words turn out to be.
    No,
    /// It would for some values of its unknown words.
    Perhaps,
    Yes,
}

/// A command in all the forms it is compared in, computed once for all rules.
pub struct Readings<'a> {
    command: &'a Command,
    texts: Vec<Vec<TextUnit>>,
    /// The command without the options before its subcommand.
    plain: Vec<(Command, Vec<Vec<TextUnit>>)>,
}

impl<'a> Readings<'a> {
    /// Computes the forms of a command.
    pub fn of(command: &'a Command) -> Self {
        let plain = without_globals(command).into_iter().map(|plain| (texts(&plain), plain));
        Self { command, texts: texts(command), plain: plain.map(|(texts, plain)| (plain, texts)).collect() }
    }
}

impl CommandPattern {
    /// Parses the text between the parentheses.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Err("The parentheses are empty; write `Bash` for every command.".to_owned());
        }
        let (mut spellings, start) = match (text.strip_suffix(":*"), text.strip_suffix(" *")) {
            // A prefix ends at a word boundary and also covers the command without arguments.
            (Some(start), _) | (None, Some(start)) => (vec![start.to_owned(), format!("{start} *")], start),
            (None, None) => (vec![text.clone()], &text[..]),
        };
        // Commands are matched with their quotes removed, so quotes in a rule are removed too.
        let unquoted: Vec<String> = spellings.iter().map(|spelling| spelling.replace(['"', '\''], "")).collect();
        spellings.extend(unquoted);
        spellings.dedup();
        let program = Some(base_name(start)).filter(|name| is_program(name) && !start.contains(' '));
        let words = start.split(' ').enumerate();
        let options = words.filter(|(at, word)| *at > 0 && is_option(word) && !word.contains('*'));
        let options = options.map(|(at, word)| (at, word.to_owned())).collect();
        Ok(Self { spellings, program: program.map(str::to_owned), options })
    }

    /// Returns the program, if the pattern is about it whatever its arguments.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    pub fn is_everything(&self) -> bool {
        self.spellings.iter().any(|spelling| spelling == "*")
    }

    /// Returns whether a command matches. The name is tried both as written and without its folder.
    pub fn matches(&self, command: &Command) -> Match {
        self.matches_texts(&texts(command))
    }

    fn matches_texts(&self, texts: &[Vec<TextUnit>]) -> Match {
        if self.is_everything() {
            return Match::Yes;
        }
        let any = |guess| {
            let mut each = texts.iter().flat_map(|text| self.spellings.iter().map(move |spelling| (spelling, text)));
            each.any(|(spelling, text)| may_overlap(spelling, text, guess) && overlaps(spelling, text, guess))
        };
        match any(false) {
            true => Match::Yes,
            false if any(true) => Match::Perhaps,
            false => Match::No,
        }
    }

    /// Returns whether a command matches as written. Use this for rules that allow.
    pub fn matches_as_written(&self, readings: &Readings<'_>) -> Match {
        self.matches_texts(&readings.texts)
    }

    /// Returns whether a command matches in any form it could be written in: without the options before its subcommand,
    /// and with the options of the pattern in the pattern's order. Use this for rules that deny or ask.
    pub fn matches_any_order(&self, readings: &Readings<'_>) -> Match {
        let plain = readings.plain.iter().map(|(command, texts)| (command, texts));
        let all = [(readings.command, &readings.texts)].into_iter().chain(plain);
        let each = all.map(|(command, texts)| self.matches_texts(texts).max(self.matches_in_order(command)));
        each.max().unwrap_or(Match::No)
    }

    /// Returns whether a command matches after moving its options to where the pattern has them.
    fn matches_in_order(&self, command: &Command) -> Match {
        if self.options.is_empty() {
            return Match::No;
        }
        let end = command.words.iter().position(|word| word.literal() == Some("--")).unwrap_or(command.words.len());
        let (before, after) = command.words.split_at(end);
        let shares_one = |text: &str| self.options.iter().any(|(_, option)| shares(option, text));
        let is_named = |word: &Word| word.literal().is_some_and(shares_one);
        let given: Vec<&str> = before.iter().filter_map(Word::literal).filter(|text| shares_one(text)).collect();
        if !self.options.iter().all(|(_, option)| is_given(option, &given)) {
            return Match::No;
        }
        let mut words: Vec<Word> = before.iter().filter(|word| !is_named(word)).chain(after).cloned().collect();
        for (at, option) in &self.options {
            words.insert((*at).min(words.len()), Word::known(option));
        }
        self.matches(&Command { words, ..command.clone() })
    }

    /// Returns whether the pattern is about a program and the command runs it, with or without arguments.
    pub fn matches_program(&self, command: &Command) -> bool {
        self.program.is_some() && self.program.as_deref() == command.program()
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Long options that most programs understand, with their letters.
const LONG_OPTIONS: &[(&str, &str)] = &[("--delete", "d"), ("--force", "f"), ("--recursive", "r")];

/// Returns the letters of a cluster of short options, or the one that a long option stands for, which may be
/// abbreviated.
fn letters(word: &str) -> Option<&str> {
    if let Some((_, letter)) = LONG_OPTIONS.iter().find(|(long, _)| word.len() > 2 && long.starts_with(word)) {
        return Some(letter);
    }
    let letters = word.strip_prefix('-')?;
    (!letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic())).then_some(letters)
}

/// Returns whether a word is the option or, for short options, contains any of its letters.
fn shares(option: &str, word: &str) -> bool {
    match (letters(option), letters(word)) {
        (Some(option), Some(word)) => word.chars().any(|letter| has_letter(option, letter)),
        _ => option == word,
    }
}

/// Returns whether an option is among the words, with its letters in any order and combined with others.
fn is_given(option: &str, words: &[&str]) -> bool {
    match letters(option) {
        Some(wanted) => {
            let given: String = words.iter().filter_map(|word| letters(word)).collect();
            wanted.chars().all(|letter| has_letter(&given, letter))
        }
        None => words.contains(&option),
    }
}

/// Whether a letter is among others. Programs spell recursion either way.
fn has_letter(letters: &str, letter: char) -> bool {
    letters.contains(letter) || (matches!(letter, 'r' | 'R') && letters.contains(['r', 'R']))
}

fn is_program(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c)) && !name.starts_with('-')
}

/// One position in a command's text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TextUnit {
    Char(char),
    Any,
}

/// Whether an unquoted expansion may be empty, so the space before it is gone as well.
#[derive(Clone, Copy, PartialEq)]
enum EmptyExpansion {
    No,
    Perhaps,
}

/// Returns the texts of a command: with the name as written and without its folder, and with its quotes as in the
/// script.
fn texts(command: &Command) -> Vec<Vec<TextUnit>> {
    let programs = [None, command.program()];
    let each =
        programs.iter().flat_map(|program| [EmptyExpansion::No, EmptyExpansion::Perhaps].map(|empty| (program, empty)));
    let each = each.map(|(program, empty)| tokens(&command.words, *program, empty)).chain([as_written(command)]);
    let mut texts: Vec<Vec<TextUnit>> = Vec::new();
    for text in each {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn tokens(words: &[Word], program: Option<&str>, empty: EmptyExpansion) -> Vec<TextUnit> {
    let mut all = Vec::new();
    let mut vanished = false;
    for (at, word) in words.iter().enumerate() {
        let vanishes = empty == EmptyExpansion::Perhaps && word.splits() && word.pieces() == [Piece::Unknown];
        let space = at > 0 && !vanishes && !vanished;
        vanished = vanishes;
        if space {
            all.push(TextUnit::Char(' '));
        }
        match program {
            Some(program) if at == 0 => all.extend(program.chars().map(TextUnit::Char)),
            _ => all.extend(word.pieces().iter().flat_map(piece)),
        }
    }
    all
}

fn piece(piece: &Piece) -> Vec<TextUnit> {
    match piece {
        Piece::Known(text) => text.chars().map(TextUnit::Char).collect(),
        Piece::Unknown => vec![TextUnit::Any],
    }
}

fn as_written(command: &Command) -> Vec<TextUnit> {
    command.source().split_whitespace().collect::<Vec<_>>().join(" ").chars().map(TextUnit::Char).collect()
}

/// Checks the beginning of a pattern, up to its first `*`, to rule out [`overlaps`] quickly. Most rules are about
/// another program, which the first characters show.
fn may_overlap(pattern: &str, text: &[TextUnit], guess: bool) -> bool {
    let mut tokens = text.iter();
    for wanted in pattern.chars().take_while(|c| *c != '*') {
        match tokens.next() {
            Some(TextUnit::Char(c)) if *c == wanted => {}
            Some(TextUnit::Any) => return guess,
            _ => return false,
        }
    }
    true
}

/// Returns whether some text matches both the pattern and the tokens. Without `guess`, an unknown piece matches only a
/// `*`.
fn overlaps(pattern: &str, text: &[TextUnit], guess: bool) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    // reached[j]: the tokens so far can be matched by the first j characters of the pattern.
    let close = |reached: &mut Vec<bool>| {
        for j in 0..pattern.len() {
            if reached[j] && pattern[j] == '*' {
                reached[j + 1] = true;
            }
        }
    };
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    close(&mut reached);
    for token in text {
        let mut next = vec![false; pattern.len() + 1];
        for j in (0..=pattern.len()).filter(|j| reached[*j]) {
            let star = pattern.get(j) == Some(&'*');
            match token {
                TextUnit::Any if guess => next[j..].fill(true),
                TextUnit::Any if star => next[j] = true,
                TextUnit::Char(_) if star => next[j] = true,
                TextUnit::Char(c) if pattern.get(j) == Some(c) => next[j + 1] = true,
                _ => {}
            }
        }
        close(&mut next);
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    reached[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn check(pattern: &str, script: &str, expected: Match) {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let split = shell::split(script);
        let found = split.commands.iter().map(|command| pattern.matches(command)).max();
        assert_eq!(found, Some(expected), "{pattern:?} against {script}");
    }

    #[test]
    fn patterns_match_as_the_client_reads_them() {
        check("npm run test", "npm run test", Match::Yes);
        check("npm run test", "npm run test --watch", Match::No);
        check("npm run test:*", "npm run test --watch", Match::Yes);
        check("npm run test:*", "npm run tests", Match::No);
        check("sudo *", "sudo", Match::Yes);
        check("sudo *", "sudo\t-n  id", Match::Yes);
        check("sudo *", "sudoku", Match::No);
        check("git * main", "git push origin main", Match::Yes);
        check("ls*", "lsof -i", Match::Yes);
        check("*", "anything at all", Match::Yes);
        check("git commit -m \"wip\"", "git commit -m 'wip'", Match::Yes);
    }

    #[test]
    fn unknown_words_are_guessed_at() {
        check("git push --force *", "git push $FLAGS origin", Match::Perhaps);
        check("git push *", "git $SUB push origin", Match::Perhaps);
        check("rm -rf *", "rm -rf \"$DIR\"", Match::Yes);
        check("rm -rf *", "rm -rf $DIR", Match::Yes);
        check("rm -rf *", "find . -exec rm -rf {} +", Match::Yes);
        check("rm -rf *", "ls | xargs rm -rf", Match::Yes);
        check("git push *", "git commit -m \"$MESSAGE\"", Match::No);
        check("sudo *", "/usr/bin/sudo id", Match::Yes);
    }
}

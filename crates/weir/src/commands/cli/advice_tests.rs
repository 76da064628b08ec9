//! Tests that every command named in a hint, a help text or an example can be given.

use std::path::Path;

use clap::error::ErrorKind;

use super::command;

/// Returns the commands between backticks in the string literals of a source file. Comments are skipped.
fn named(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    // A string that continues on the next line ends in a backslash.
    let code = code.split("\\\n").map(str::trim_start).collect::<String>();
    code.split('`').filter(|text| text.starts_with("weir ")).map(|text| text.replace("\\\"", "\"")).collect()
}

/// Returns the commands of the examples in a help text: one per line, followed by a description.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("weir "));
    let commands = lines.flat_map(|line| line.split("   ").next().unwrap_or(line).split("; "));
    commands.filter_map(|text| text.split(" > ").next()?.split(" | ").next().map(str::to_owned)).collect()
}

/// Splits a command into words, as a shell does.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quote, mut is_open) = (Vec::new(), None, false);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ' ') => {
                is_open = false;
                continue;
            }
            _ => {}
        }
        if !is_open {
            words.push(String::new());
            is_open = true;
        }
        if !matches!(letter, '"' | '\'')
            && let Some(word) = words.last_mut()
        {
            word.push(letter);
        }
    }
    words
}

/// Returns why a command cannot be given, or `None` if it can be or lacks only a value.
fn problem(text: &str) -> Option<String> {
    let words = words(text);
    let parse = |more: Option<&str>| command().try_get_matches_from(words.iter().map(String::as_str).chain(more));
    // A reference serves as the value that a text leaves out.
    let error = parse(None).err().and_then(|error| match error.kind() {
        ErrorKind::InvalidValue => parse(Some("k7f2m9q4xz")).err(),
        _ => Some(error),
    })?;
    let is_told_more = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    (!is_told_more).then(|| format!("`{text}`: {error}"))
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("advice_tests.rs") {
            found.extend(named(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_command_that_a_text_names_can_be_given() {
    let mut all = Vec::new();
    for one in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        sources(&one.unwrap().path().join("src"), &mut all);
    }
    // Neither a table of a configuration file nor a tag of a page is a command.
    all.retain(|text| !text.starts_with("weir = ") && !text.contains('<'));
    assert!(all.len() >= 15, "{all:?}");
    for one in command().get_subcommands() {
        let help = one.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        all.extend(examples(&help));
    }
    assert!(all.len() >= 40, "{all:?}");
    let problems: Vec<String> = all.iter().filter_map(|text| problem(text)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_command_that_there_is_not_is_noticed() {
    for text in ["weir fix", "weir doctor --no-such", "weir get k7f2m9q4xz --nowhere 3"] {
        assert!(problem(text).is_some(), "{text}");
    }
    assert_eq!(named("hint(\"run `weir doctor --deep`, or\\\n `ls`\")\n// `weir no` \n"), ["weir doctor --deep"]);
    assert_eq!(words("weir note \"a b\" --kind 'x y'"), ["weir", "note", "a b", "--kind", "x y"]);
    assert_eq!(
        examples("Examples:\n  weir get a --raw > b\n  weir map      all of it\n"),
        ["weir get a --raw", "weir map"]
    );
}

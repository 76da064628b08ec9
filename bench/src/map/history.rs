//! Reads commits from git, and from change logs generated from a repository's history.

use std::path::Path;
use std::process::{Command, Stdio};

/// The subject and the files of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Commit {
    pub subject: String,
    pub files: Vec<String>,
}

/// Returns the commits of a repository, newest first.
pub(super) fn git(repository: &str) -> Vec<Commit> {
    let said = git_says(repository, &["log", "--no-merges", "--no-renames", "--name-only", "--format=%x1e%s"]);
    let commit = |text: &str| {
        let mut lines = text.lines();
        let subject = lines.next().unwrap_or_default().to_owned();
        Commit { subject, files: lines.filter(|line| !line.is_empty()).map(str::to_owned).collect() }
    };
    said.split('\u{1e}').skip(1).map(commit).collect()
}

/// Extracts the files of a repository as they were before its newest commits.
pub(super) fn files_before(repository: &str, newest: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let commits = git_says(repository, &["log", "--no-merges", "--format=%H"]);
    let commit = commits.lines().nth(newest).unwrap().to_owned();
    let mut archive =
        Command::new("git").args(["-C", repository, "archive", &commit]).stdout(Stdio::piped()).spawn().unwrap();
    let taken = archive.stdout.take().unwrap();
    let unpacked = Command::new("tar").arg("x").arg("-C").arg(folder.path()).stdin(taken).status().unwrap();
    assert!(unpacked.success() && archive.wait().unwrap().success());
    folder
}

fn git_says(repository: &str, arguments: &[&str]) -> String {
    let output = Command::new("git").args(["-C", repository]).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the commits of a change log, newest first: either `* a.c, b.c:` followed by the text and a hash, or a
/// subject with a `* a.c (place): words` for each file.
pub(super) fn change_log(text: &str) -> Vec<Commit> {
    let has_hashes = text.lines().take(100).any(|line| line.starts_with("\t[") && line.contains(']'));
    let commits = if has_hashes { by_hash(text) } else { by_subject(text) };
    commits.into_iter().filter(|commit| !commit.files.is_empty()).collect()
}

fn by_hash(text: &str) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    let mut in_files = false;
    for line in text.lines() {
        let Some(line) = line.strip_prefix('\t') else { continue };
        let begins = line.strip_prefix("* ");
        if begins.is_some() {
            commits.push(Commit::default());
            in_files = true;
        }
        let Some(commit) = commits.last_mut() else { continue };
        let line = begins.unwrap_or(line);
        if in_files {
            commit.files.extend(paths(line.trim_end_matches(':')));
            in_files = !line.ends_with(':');
        } else if !line.starts_with('[') {
            commit.subject.push_str(line);
            commit.subject.push(' ');
        }
    }
    // The subject is the first sentence; the rest of the text says more than a question would.
    commits.iter_mut().for_each(|commit| commit.subject = first_words(&commit.subject));
    commits
}

fn by_subject(text: &str) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let Some(line) = line.strip_prefix('\t') else {
            is_open &= line.trim().is_empty();
            continue;
        };
        if let Some(rest) = line.strip_prefix("* ") {
            let (names, _) = rest.split_once(':').unwrap_or((rest, ""));
            let names = names.split('(').next().unwrap_or(names);
            commits.last_mut().into_iter().for_each(|commit| commit.files.extend(paths(names)));
            is_open = false;
        } else if !is_open && !line.trim().is_empty() && is_subject(line, &commits) {
            commits.push(Commit { subject: first_words(line), files: Vec::new() });
            is_open = true;
        }
    }
    commits
}

/// Returns whether a line is a subject. The text about a file continues in lines that look like one, but follow a file
/// name.
fn is_subject(line: &str, commits: &[Commit]) -> bool {
    let is_word = |word: &str| word.ends_with(':') && word.len() > 2;
    let looks = line.split(' ').next().is_some_and(is_word);
    looks || commits.last().is_none_or(|commit| commit.files.is_empty())
}

fn paths(list: &str) -> impl Iterator<Item = String> {
    list.split([',', ' '])
        .map(str::trim)
        .filter(|path| !path.is_empty() && Path::new(path).is_relative())
        .map(str::to_owned)
}

/// Returns the first sentence, or the first twenty words.
fn first_words(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].split_whitespace().take(20).collect::<Vec<_>>().join(" ")
}

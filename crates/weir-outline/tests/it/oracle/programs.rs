//! Oracles that are separate programs, in `tools/oracle`: they read file names and write a line of JSON for each.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Agreement, Public};

/// An oracle's answer about a file.
#[derive(serde::Deserialize)]
struct Answer {
    file: PathBuf,
    #[serde(default)]
    items: Vec<Public>,
    /// Why it could not read the file.
    error: Option<String>,
}

/// Returns a command, which must exist on this machine.
pub(super) fn command(program: &str) -> Command {
    Command::new(program)
}

pub(super) fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/oracle").join(name)
}

/// Returns the output of a command, without the final newline.
pub(super) fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(super) fn folder(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("{variable} is not set: it names a folder that the oracle needs"));
    assert!(folder.is_dir(), "{variable}: {} is no folder", folder.display());
    folder
}

pub(super) fn corpus(language: &str) -> PathBuf {
    folder("WEIR_ORACLE_CORPUS").join(language)
}

/// Compares files with an oracle's answers about them.
pub(super) fn agreement(oracle: &mut Command, files: &[PathBuf]) -> Agreement {
    assert!(!files.is_empty(), "{oracle:?}: no files to compare");
    let mut child = oracle.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let names: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let mut input = child.stdin.take().unwrap();
    // In a thread, so neither side waits for the other with a full pipe.
    let writer = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the oracle failed");
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), files.len(), "the oracle answers for every file");
    let mut agreement = Agreement::default();
    for line in answers.lines() {
        let answer: Answer = serde_json::from_str(line).unwrap();
        let is_text = std::fs::read(&answer.file).is_ok_and(|bytes| String::from_utf8(bytes).is_ok());
        match answer.error {
            None if is_text => agreement.add(&answer.file, &answer.items),
            _ => agreement.left_out += 1,
        }
    }
    // An oracle that can read only a few files proves little.
    assert!(agreement.left_out * 20 <= files.len(), "{} of {} files were left out", agreement.left_out, files.len());
    agreement
}

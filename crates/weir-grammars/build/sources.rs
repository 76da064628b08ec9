//! Where the grammars' sources are.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::grammar::Grammar;

/// Returns the folder with the source of each grammar.
pub(crate) fn folders(grammars: &[Grammar]) -> Vec<PathBuf> {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let beside = here.parent().expect("a package has a parent folder");
    let packages = grammars.iter().map(|grammar| sibling(beside, grammar.package)).collect::<Option<Vec<_>>>();
    let packages = packages.unwrap_or_else(|| resolved(&here, grammars));
    packages.iter().zip(grammars).map(|(package, grammar)| package.join(grammar.folder)).collect()
}

/// Returns the folder of a package beside this one, where cargo unpacks and vendors all dependencies. Any version will
/// do, because tables and code are from the same file.
fn sibling(beside: &Path, package: &str) -> Option<PathBuf> {
    let is_version = |name: &str| {
        name.strip_prefix(package).is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    let folders = std::fs::read_dir(beside).ok()?.filter_map(Result::ok);
    folders.filter(|folder| folder.file_name().to_str().is_some_and(is_version)).map(|folder| folder.path()).max()
}

/// Returns the folders of the packages that the workspace's lock file names.
fn resolved(here: &Path, grammars: &[Grammar]) -> Vec<PathBuf> {
    let cargo = std::env::var_os("CARGO").expect("cargo sets CARGO");
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    let ask = |offline: &[&str]| {
        let mut command = Command::new(&cargo);
        command.args(["metadata", "--format-version=1", "--locked", "--filter-platform", &target]).args(offline);
        command.arg("--manifest-path").arg(here.join("Cargo.toml")).output().expect("cannot start cargo")
    };
    // Cargo lists packages that this build does not need, and a new machine may not have those yet.
    let mut answer = ask(&["--offline"]);
    if !answer.status.success() {
        answer = ask(&[]);
    }
    assert!(answer.status.success(), "cannot find the grammars: {}", String::from_utf8_lossy(&answer.stderr));
    let answer: Value = serde_json::from_slice(&answer.stdout).expect("cargo metadata prints JSON");
    let packages = answer["packages"].as_array().expect("cargo metadata lists packages");
    let folder = |grammar: &Grammar| {
        let package = packages.iter().find(|package| package["name"] == grammar.package);
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let manifest =
            manifest.unwrap_or_else(|| panic!("cannot find {}: the lock file does not have it", grammar.package));
        Path::new(manifest).parent().expect("a manifest is in a folder").to_owned()
    };
    grammars.iter().map(folder).collect()
}

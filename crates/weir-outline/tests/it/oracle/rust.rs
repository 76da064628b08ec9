//! Compares Rust with `syn`.

use std::collections::HashSet;
use std::path::PathBuf;

use super::{Agreement, Public, files_below, spread};

/// Packages of generated code and of constants. One file with thousands of declarations would outweigh everything that
/// people wrote, and those of other platforms are not unpacked on every machine.
const BINDINGS: [&str; 7] = ["js-sys-", "libc-", "linux-raw-sys-", "s3s-", "web-sys-", "winapi-", "windows-"];

/// Returns the registry packages that this project is built with: code by many authors, and the same on every machine.
pub(crate) fn corpus() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).unwrap();
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
    let value = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let names = lock.lines().filter(|line| line.starts_with("name = ")).map(value);
    let versions =
        lock.lines().skip_while(|line| !line.starts_with("name = ")).filter(|line| line.starts_with("version = "));
    let locked: HashSet<String> =
        names.zip(versions.map(value)).map(|(name, version)| format!("{name}-{version}")).collect();
    let src = home.join("registry/src");
    let mut files = files_below(&src, &[".rs"]);
    let package = |path: &PathBuf| path.strip_prefix(&src).ok()?.iter().nth(1)?.to_str().map(str::to_owned);
    let is_written = |package: &String| !BINDINGS.iter().any(|other| package.starts_with(other));
    files.retain(|path| package(path).is_some_and(|package| locked.contains(&package) && is_written(&package)));
    assert!(files.len() > 1_500, "{}: too few Rust files; build the workspace first", home.display());
    files
}

fn agreement(files: Vec<PathBuf>) -> Agreement {
    let mut agreement = Agreement::default();
    for path in files {
        let items = std::fs::read_to_string(&path).ok().and_then(|text| weir_oracle::public(&text));
        match items {
            Some(items) => {
                let public = |item: weir_oracle::Public| Public { path: item.path, signature: item.signature };
                agreement.add(&path, &items.into_iter().map(public).collect::<Vec<_>>());
            }
            None => agreement.left_out += 1,
        }
    }
    agreement
}

#[test]
fn a_few_rust_files_agree_with_syn() {
    agreement(spread(corpus(), 150)).check("rust", 0.999);
}

#[test]
#[ignore = "all the Rust that the registry has unpacked: minutes"]
fn nightly_rust_agrees_with_syn() {
    agreement(spread(corpus(), 5_000)).check("rust", 0.999);
}

//! Only its owner has access to anything that Weir creates, whatever the umask is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Home, WEIR, text};

/// Returns every file and folder below, except what runs themselves created.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| if path.is_dir() { [vec![path.clone()], all_below(&path)].concat() } else { vec![path] })
        .collect()
}

fn check(umask: &str) {
    let home = Home::with_programs();
    let weir = WEIR;
    let script = format!(
        "umask {umask}; {weir} note 'a note' && {weir} run 'umask 022; mkdir .vscode; echo x > .vscode/tasks.json; echo done'"
    );
    let output = home.command("/bin/sh", &["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{umask}: {}{}", text(&output.stdout), text(&output.stderr));
    for folder in [".local/share/weir", ".cache/weir"] {
        let folder = home.path().join(folder);
        let quarantined = |path: &Path| path.iter().any(|part| part == "quarantine") && !path.is_dir();
        for path in [vec![folder.clone()], all_below(&folder)].concat() {
            // Files that were moved away keep their modes, in a folder that only the owner can enter.
            if quarantined(&path) || path.iter().any(|part| part.to_string_lossy().starts_with("vscode-")) {
                continue;
            }
            let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, wanted, "{} under {umask}: {mode:o}", path.display());
        }
    }
    // The store can be used afterwards.
    assert!(home.ok(&["search", "note"]).contains("a note"));
}

#[test]
fn a_umask_that_gives_everything_away_changes_nothing() {
    check("000");
}

#[test]
fn a_umask_that_takes_everything_leaves_nothing_unusable() {
    check("0777");
}

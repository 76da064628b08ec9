//! Finds executables in the folders of a `PATH`, and checks their versions.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::os;

use super::{NEWEST, Runtime, Version};

/// Returns every executable with this name, in the order of the folders.
pub(super) fn executables(program: &str, path_variable: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path_variable)
        .filter(|folder| folder.is_absolute())
        .map(move |folder| folder.join(program))
        .filter(|path| is_executable(path))
        .filter_map(behind_shim)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| os::is_executable(&found))
}

/// Resolves a pyenv or rbenv shim to the program behind it; returns any other path unchanged.
///
/// Such a shim is a shell script that looks up the version on every start, which takes longer than most runs (200 ms
/// compared with 30 ms for Python). The version is the one set for the user; versions set for a folder are ignored. If
/// the user's version is that of the system, it comes later in `PATH`.
fn behind_shim(path: PathBuf) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| folder.ends_with("shims"));
    let Some((root, program)) = folder.and_then(Path::parent).zip(path.file_name()) else { return Some(path) };
    let Ok(chosen) = fs::read_to_string(root.join("version")) else { return Some(path) };
    let mut names = chosen.split_whitespace();
    match names.next() {
        Some("system") => None,
        Some(version) => {
            let real = root.join("versions").join(version).join("bin").join(program);
            Some(if is_executable(&real) { real } else { path })
        }
        None => Some(path),
    }
}

/// Checks that a program has an accepted version. The error says why not.
pub(super) fn fits(
    runtime: &Runtime,
    program: &Path,
    version_of: &impl Fn(&Path) -> Option<String>,
) -> Result<(), String> {
    if runtime.versions.is_empty() {
        return Ok(());
    }
    let name = program.display();
    let answer = version_of(program).ok_or_else(|| format!("{name} did not report its version"))?;
    let version = parse(&answer).ok_or_else(|| format!("cannot parse the version of {name}"))?;
    if runtime.versions.iter().any(|(from, to)| *from <= version && version < *to) {
        return Ok(());
    }
    let wanted: Vec<String> = runtime.versions.iter().map(range).collect();
    Err(format!("{name} is version {}.{}, but Weir needs {}", version.0, version.1, wanted.join(" or ")))
}

fn range((from, to): &(Version, Version)) -> String {
    if *to == NEWEST {
        format!("{}.{} or later", from.0, from.1)
    } else {
        format!("{}.{} up to {}.{}", from.0, from.1, to.0, to.1)
    }
}

/// Parses the first two numbers with a dot between them.
fn parse(answer: &str) -> Option<Version> {
    answer.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
        let mut numbers = word.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::runtimes::Language;

    fn program(folder: &Path, name: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn check(answer: &str, expected: Option<Version>) {
        assert_eq!(parse(answer), expected, "{answer}");
    }

    #[test]
    fn a_version_is_the_first_two_numbers() {
        check("v22.23.3", Some((22, 23)));
        check("1.4.4\n", Some((1, 4)));
        check("Python 3.11.2", Some((3, 11)));
        check("tsx v4.19.2\nnode v22.1.0", Some((4, 19)));
        check("no version", None);
    }

    #[test]
    fn the_better_runtime_wins_over_the_earlier_folder() {
        let home = tempfile::tempdir().unwrap();
        let (first, second) = (home.path().join("first"), home.path().join("second"));
        program(&first, "node");
        let bun = program(&second, "bun");
        let path = std::env::join_paths([&first, &second]).unwrap();
        let found = Language::find("js").unwrap().locate(&path, |_| None).unwrap();
        assert_eq!(found.program, bun);
    }

    #[test]
    fn relative_folders_and_files_that_cannot_be_started_are_passed_over() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("perl"), "").unwrap();
        let path = std::env::join_paths([Path::new("."), Path::new(""), home.path()]).unwrap();
        let missing = Language::find("perl").unwrap().locate(&path, |_| None).unwrap_err();
        assert_eq!(missing.to_string(), "no runtime for perl found");
    }

    #[test]
    fn a_version_that_will_not_do_is_named() {
        let home = tempfile::tempdir().unwrap();
        let node = program(home.path(), "node");
        let typescript = Language::find("ts").unwrap();
        let located = |version: &'static str| typescript.locate(home.path().as_os_str(), |_| Some(version.to_owned()));
        let missing = located("v20.20.2").unwrap_err();
        assert!(missing.to_string().contains("node is version 20.20, but Weir needs 22.18"), "{missing}");
        for (version, expected) in [("v22.6.0", 1), ("v22.18.0", 0), ("v23.5.0", 1), ("v24.0.0", 0)] {
            let found = located(version).unwrap();
            assert_eq!(found.program, node);
            let plan = found.plan("", None, Path::new("/s"));
            let flags = plan.steps[0].iter().filter(|word| *word == "--experimental-strip-types").count();
            assert_eq!(flags, expected, "{version}");
        }
    }

    #[test]
    fn a_shim_leads_to_the_version_that_the_user_set() {
        let home = tempfile::tempdir().unwrap();
        let (shims, system) = (home.path().join("shims"), home.path().join("system"));
        let shim = program(&shims, "python3");
        let real = program(&home.path().join("versions/3.11.7/bin"), "python3");
        let plain = program(&system, "python3");
        let path = std::env::join_paths([&shims, &system]).unwrap();
        let first = || Language::find("py").unwrap().locate(&path, |_| None).unwrap().program;
        assert_eq!(first(), shim);
        fs::write(home.path().join("version"), "3.11.7\n").unwrap();
        assert_eq!(first(), real);
        fs::write(home.path().join("version"), "system\n").unwrap();
        assert_eq!(first(), plain);
    }
}

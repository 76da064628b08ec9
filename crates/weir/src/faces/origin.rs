//! Where this program came from, and the commands that update and remove it.
//!
//! A package may leave a file `weir.origin` next to the program, with one line: `cargo`, `deb`, `npm`, `pip`, `pipx`,
//! `uv` or `brew`, and the name of the package. Without it, the path of the program tells.

use std::path::{Path, PathBuf};

use weir_core::wording::quoted;

use crate::foreign;

/// The file that a package leaves next to the program.
const MARKER: &str = "weir.origin";

/// The longest such file, in bytes.
const MAX_MARKER_BYTES: u64 = 200;

/// The list of files of the Debian package, which has this name unless the marker says otherwise.
const DEBIAN_LIST: &str = "/var/lib/dpkg/info/weir.list";

/// How the program was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installed {
    /// The program itself, with links resolved.
    pub(super) program: PathBuf,
    /// The package manager.
    pub(super) by: Installer,
    /// The name of the package, where that is known.
    package: Option<String>,
}

/// What installed the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Installer {
    Cargo,
    Debian,
    Npm,
    Pip,
    Pipx,
    Uv,
    Homebrew,
    Unknown,
}

impl Installer {
    /// Returns the name that a person knows it by.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Debian => "deb",
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Pipx => "pipx",
            Self::Uv => "uv",
            Self::Homebrew => "brew",
            Self::Unknown => "unknown",
        }
    }

    fn parse(word: &str) -> Self {
        let all = [Self::Cargo, Self::Debian, Self::Npm, Self::Pip, Self::Pipx, Self::Uv, Self::Homebrew];
        all.into_iter().find(|one| one.as_str() == word).unwrap_or(Self::Unknown)
    }
}

impl Installed {
    /// Finds out how the running program was installed.
    pub(super) fn find() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let program = program.canonicalize().unwrap_or(program);
        let marker = foreign::read_user_file(&program.with_file_name(MARKER), MAX_MARKER_BYTES).ok();
        let marker = marker.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let is_debian =
            std::fs::read_to_string(DEBIAN_LIST).is_ok_and(|list| list.lines().any(|line| Path::new(line) == program));
        Some(Self::of(program, marker.as_deref(), is_debian))
    }

    fn of(program: PathBuf, marker: Option<&str>, is_debian: bool) -> Self {
        if let Some(mut words) = marker.map(str::split_whitespace) {
            let by = Installer::parse(words.next().unwrap_or_default());
            return Self { program, by, package: words.next().map(str::to_owned) };
        }
        let (by, package) = if is_debian { (Installer::Debian, Some("weir".to_owned())) } else { by_path(&program) };
        Self { program, by, package }
    }

    /// Returns the one command that updates the program, or says why there is none.
    pub(super) fn update(&self) -> String {
        match (self.by, self.package.as_deref()) {
            (Installer::Cargo, Some(package)) => format!("cargo install --locked {package}"),
            (Installer::Cargo, None) => {
                "git pull && cargo install --locked --path crates/weir  (in a checkout)".to_owned()
            }
            (Installer::Debian, Some(package)) => format!("sudo apt install --only-upgrade {package}"),
            (Installer::Npm, Some(package)) => format!("npm install --global {package}@latest"),
            (Installer::Pip, Some(package)) => format!("pip install --upgrade {package}"),
            (Installer::Pipx, Some(package)) => format!("pipx upgrade {package}"),
            (Installer::Uv, Some(package)) => format!("uv tool upgrade {package}"),
            (Installer::Homebrew, Some(package)) => format!("brew upgrade {package}"),
            _ => format!("not known: replace {} as you installed it", self.program.display()),
        }
    }

    /// Returns the one command that removes the program.
    pub(super) fn remove(&self) -> String {
        match (self.by, self.package.as_deref()) {
            (Installer::Cargo, package) => format!("cargo uninstall {}", package.unwrap_or("weir")),
            (Installer::Debian, Some(package)) => format!("sudo apt remove {package}"),
            (Installer::Npm, Some(package)) => format!("npm uninstall --global {package}"),
            (Installer::Pip, Some(package)) => format!("pip uninstall {package}"),
            (Installer::Pipx, Some(package)) => format!("pipx uninstall {package}"),
            (Installer::Uv, Some(package)) => format!("uv tool uninstall {package}"),
            (Installer::Homebrew, Some(package)) => format!("brew uninstall {package}"),
            _ => format!("rm {}", quoted(&self.program.display().to_string())),
        }
    }
}

/// Returns what installs programs at such a path, and the name of the package if the path has it.
fn by_path(program: &Path) -> (Installer, Option<String>) {
    let parts: Vec<&str> = program.iter().filter_map(std::ffi::OsStr::to_str).collect();
    let after = |folders: &[&str]| {
        let at = parts.windows(folders.len()).position(|window| window == folders)?;
        parts.get(at + folders.len()).map(|name| (*name).to_owned())
    };
    if let Some(name) = after(&["Cellar"]) {
        return (Installer::Homebrew, Some(name));
    }
    if let Some(name) = after(&["pipx", "venvs"]) {
        return (Installer::Pipx, Some(name));
    }
    if let Some(name) = after(&["uv", "tools"]) {
        return (Installer::Uv, Some(name));
    }
    if let Some(at) = parts.iter().rposition(|part| *part == "node_modules") {
        let scope = parts.get(at + 1).copied().unwrap_or_default();
        let name = match scope.starts_with('@') {
            true => format!("{scope}/{}", parts.get(at + 2).copied().unwrap_or_default()),
            false => scope.to_owned(),
        };
        return (Installer::Npm, Some(name));
    }
    let is_cargo = parts.windows(2).any(|window| window == [".cargo", "bin"]);
    (if is_cargo { Installer::Cargo } else { Installer::Unknown }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, marker: Option<&str>, by: Installer, update: &str, remove: &str) {
        let is_debian = false;
        let installed = Installed::of(PathBuf::from(path), marker, is_debian);
        assert_eq!(installed.by, by, "{path}");
        assert!(installed.update().starts_with(update), "{}", installed.update());
        assert_eq!(installed.remove(), remove);
    }

    #[test]
    fn the_path_or_the_marker_tells_where_the_program_came_from() {
        check("/home/me/.cargo/bin/weir", None, Installer::Cargo, "git pull && cargo install", "cargo uninstall weir");
        check(
            "/opt/homebrew/Cellar/weir-x/1.0/bin/weir",
            None,
            Installer::Homebrew,
            "brew upgrade weir-x",
            "brew uninstall weir-x",
        );
        let npm = "/usr/lib/node_modules/@weir/linux-x64/bin/weir";
        check(
            npm,
            None,
            Installer::Npm,
            "npm install --global @weir/linux-x64@latest",
            "npm uninstall --global @weir/linux-x64",
        );
        check(
            npm,
            Some("npm @weir/cli\n"),
            Installer::Npm,
            "npm install --global @weir/cli@",
            "npm uninstall --global @weir/cli",
        );
        check(
            "/home/me/.local/share/uv/tools/weir-x/bin/weir",
            None,
            Installer::Uv,
            "uv tool upgrade weir-x",
            "uv tool uninstall weir-x",
        );
        check("/usr/bin/weir", Some("deb weir"), Installer::Debian, "sudo apt install", "sudo apt remove weir");
        check("/opt/my tools/weir", None, Installer::Unknown, "not known", "rm '/opt/my tools/weir'");
        check("/opt/weir", Some("spaceship"), Installer::Unknown, "not known", "rm /opt/weir");
    }
}

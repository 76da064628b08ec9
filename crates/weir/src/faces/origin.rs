//! Where this program came from, and the commands that update and remove it.
//!
//! A package may leave a file `weir.origin` next to the program, or in `../lib/weir`, with one line: `cargo`, `deb`,
//! `npm`, `pip`, `pipx`, `uv`, `brew` or `install.sh`, and the name of the package. Without it, the path of the program
//! tells. A package does not know what will install it, so the `pip` of a wheel gives way to a path of pipx or uv, and
//! `npm` to one of pnpm or Bun.

use std::path::{Path, PathBuf};

use weir_core::wording::quoted;
use weir_host::foreign;
use weir_host::os;

/// The file that a package leaves next to the program.
const MARKER: &str = "weir.origin";

/// Where that file is instead, seen from the folder of the program, if a package has a folder for such files.
const SHARED_MARKER: &str = "../lib/weir/weir.origin";

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
    Pnpm,
    Bun,
    Pip,
    Pipx,
    Uv,
    Homebrew,
    Script,
    Unknown,
}

impl Installer {
    /// Returns the name that a person knows it by.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Debian => "deb",
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Bun => "bun",
            Self::Pip => "pip",
            Self::Pipx => "pipx",
            Self::Uv => "uv",
            Self::Homebrew => "brew",
            Self::Script => "install.sh",
            Self::Unknown => "unknown",
        }
    }

    fn parse(word: &str) -> Self {
        let managers = [Self::Cargo, Self::Debian, Self::Npm, Self::Pip, Self::Pipx, Self::Uv, Self::Homebrew];
        managers.into_iter().chain([Self::Script]).find(|one| one.as_str() == word).unwrap_or(Self::Unknown)
    }
}

impl Installed {
    /// Finds out how the running program was installed.
    pub(super) fn find() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let program = os::real_path(&program).unwrap_or(program);
        let places = [MARKER, SHARED_MARKER].map(|place| program.with_file_name(place));
        let marker = places.iter().find_map(|place| foreign::read_user_file(place, MAX_MARKER_BYTES).ok());
        let marker = marker.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let is_debian =
            std::fs::read_to_string(DEBIAN_LIST).is_ok_and(|list| list.lines().any(|line| Path::new(line) == program));
        Some(Self::of(program, marker.as_deref(), is_debian))
    }

    fn of(program: PathBuf, marker: Option<&str>, is_debian: bool) -> Self {
        if let Some(mut words) = marker.map(str::split_whitespace) {
            let by = Installer::parse(words.next().unwrap_or_default());
            let package = words.next().map(str::to_owned);
            let (by, package) = match (by, by_path(&program)) {
                (Installer::Pip, found @ (Installer::Pipx | Installer::Uv, _)) => found,
                (Installer::Npm, (found @ (Installer::Pnpm | Installer::Bun), _)) => (found, package),
                _ => (by, package),
            };
            return Self { program, by, package };
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
            (Installer::Debian, Some(package)) => {
                format!("sudo apt install ./{package}_VERSION_ARCH.deb  (the file of the new release)")
            }
            (Installer::Npm, Some(package)) => format!("npm install --global {package}@latest"),
            (Installer::Pnpm, Some(package)) => format!("pnpm add --global {package}@latest"),
            (Installer::Bun, Some(package)) => format!("bun add --global {package}@latest"),
            (Installer::Pip, Some(package)) => format!("pip install --upgrade {package}"),
            (Installer::Pipx, Some(package)) => format!("pipx upgrade {package}"),
            (Installer::Uv, Some(package)) => format!("uv tool upgrade {package}"),
            (Installer::Homebrew, Some(package)) => format!("brew upgrade {package}"),
            (Installer::Script, _) => format!("sh install.sh{}  (that of the new release)", self.prefix()),
            _ => format!("not known: replace {} as you installed it", self.program.display()),
        }
    }

    /// Returns the one command that removes the program.
    pub(super) fn remove(&self) -> String {
        match (self.by, self.package.as_deref()) {
            (Installer::Cargo, package) => format!("cargo uninstall {}", package.unwrap_or("weir")),
            (Installer::Debian, Some(package)) => format!("sudo apt remove {package}"),
            (Installer::Npm, Some(package)) => format!("npm uninstall --global {package}"),
            (Installer::Pnpm, Some(package)) => format!("pnpm remove --global {package}"),
            (Installer::Bun, Some(package)) => format!("bun remove --global {package}"),
            (Installer::Pip, Some(package)) => format!("pip uninstall {package}"),
            (Installer::Pipx, Some(package)) => format!("pipx uninstall {package}"),
            (Installer::Uv, Some(package)) => format!("uv tool uninstall {package}"),
            (Installer::Homebrew, Some(package)) => format!("brew uninstall {package}"),
            (Installer::Script, _) => format!("sh install.sh --uninstall{}", self.prefix()),
            _ => format!("rm {}", quoted(&self.program.display().to_string())),
        }
    }

    /// Returns the argument that names the folder to which the script installed.
    fn prefix(&self) -> String {
        let folder = self.program.parent().and_then(Path::parent);
        folder.map(|folder| format!(" --prefix {}", quoted(&folder.display().to_string()))).unwrap_or_default()
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
        let others = [(".pnpm", Installer::Pnpm), (".bun", Installer::Bun)];
        let other = others.into_iter().find(|(folder, _)| parts.contains(folder));
        return (other.map_or(Installer::Npm, |(_, by)| by), Some(name));
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
        check(
            "/home/me/.local/share/uv/tools/weir-x/bin/weir",
            Some("pip weir-cli"),
            Installer::Uv,
            "uv tool upgrade weir-x",
            "uv tool uninstall weir-x",
        );
        check(
            "/home/me/env/bin/weir",
            Some("pip weir-cli"),
            Installer::Pip,
            "pip install --upgrade weir-cli",
            "pip uninstall weir-cli",
        );
        check(
            "/home/me/my tools/bin/weir",
            Some("install.sh weir"),
            Installer::Script,
            "sh install.sh --prefix '/home/me/my tools'",
            "sh install.sh --uninstall --prefix '/home/me/my tools'",
        );
        check("/usr/bin/weir", Some("deb weir"), Installer::Debian, "sudo apt install", "sudo apt remove weir");
        check("/opt/my tools/weir", None, Installer::Unknown, "not known", "rm '/opt/my tools/weir'");
        check("/opt/weir", Some("spaceship"), Installer::Unknown, "not known", "rm /opt/weir");
    }

    #[test]
    fn the_path_tells_what_installed_a_package_of_npm() {
        check(
            "/home/me/.local/share/pnpm/global/5/.pnpm/weir-x@1.0.0/node_modules/weir-x/bin/weir",
            Some("npm weir-cli"),
            Installer::Pnpm,
            "pnpm add --global weir-cli@latest",
            "pnpm remove --global weir-cli",
        );
        check(
            "/home/me/.bun/install/global/node_modules/weir-x/bin/weir",
            Some("npm weir-cli"),
            Installer::Bun,
            "bun add --global weir-cli@latest",
            "bun remove --global weir-cli",
        );
    }
}

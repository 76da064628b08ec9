//! Where this program came from, and the commands that update and remove it.
//!
//! A package may leave a file `weir.origin` next to the program, or in `../lib/weir`, with one line: the name of an
//! entry in [`INSTALLERS`] and the name of the package. Without it, the path of the program tells. A package does not
//! know what will install it, so the `pip` of a wheel gives way to a path of pipx or uv, and `npm` to one of pnpm or
//! Bun.

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

/// What a package of Debian has in its marker.
const DEBIAN: &str = "deb";

/// The list of files of the Debian package, which has this name unless the marker says otherwise.
const DEBIAN_LIST: &str = "/var/lib/dpkg/info/weir.list";

/// How the program was installed.
#[derive(Debug, Clone)]
pub(super) struct Installed {
    /// The program itself, with links resolved.
    pub(super) program: PathBuf,
    /// The package manager.
    pub(super) by: &'static Installer,
    package: Option<String>,
}

#[derive(Debug)]
pub(super) struct Installer {
    /// The name that a person knows it by, and the first word in the marker of its packages.
    pub(super) name: &'static str,
    /// The installer whose packages it can install as well.
    shares: Option<&'static str>,
    folder: ProgramFolder,
    /// The commands that update the program. The first whose blanks, `{package}` and `{prefix}`, can be filled in
    /// counts.
    update: &'static [&'static str],
    remove: &'static [&'static str],
}

/// Where an installer puts programs.
#[derive(Debug)]
enum ProgramFolder {
    Any,
    /// One with the name of the package, below these folders.
    Below(&'static [&'static str]),
    /// One with the name of the package in `node_modules`, and below this one.
    Modules(Option<&'static str>),
    /// The last of these.
    In(&'static [&'static str]),
}

const UNKNOWN: Installer =
    Installer { name: "unknown", shares: None, folder: ProgramFolder::Any, update: &[], remove: &[] };

/// Every installer, the more specific before the more general.
const INSTALLERS: &[Installer] = &[
    Installer {
        name: "brew",
        folder: ProgramFolder::Below(&["Cellar"]),
        update: &["brew upgrade {package}"],
        remove: &["brew uninstall {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "pipx",
        shares: Some("pip"),
        folder: ProgramFolder::Below(&["pipx", "venvs"]),
        update: &["pipx upgrade {package}"],
        remove: &["pipx uninstall {package}"],
    },
    Installer {
        name: "uv",
        shares: Some("pip"),
        folder: ProgramFolder::Below(&["uv", "tools"]),
        update: &["uv tool upgrade {package}"],
        remove: &["uv tool uninstall {package}"],
    },
    Installer {
        name: "pip",
        update: &["pip install --upgrade {package}"],
        remove: &["pip uninstall {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "pnpm",
        shares: Some("npm"),
        folder: ProgramFolder::Modules(Some(".pnpm")),
        update: &["pnpm add --global {package}@latest"],
        remove: &["pnpm remove --global {package}"],
    },
    Installer {
        name: "bun",
        shares: Some("npm"),
        folder: ProgramFolder::Modules(Some(".bun")),
        update: &["bun add --global {package}@latest"],
        remove: &["bun remove --global {package}"],
    },
    Installer {
        name: "npm",
        folder: ProgramFolder::Modules(None),
        update: &["npm install --global {package}@latest"],
        remove: &["npm uninstall --global {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "cargo",
        folder: ProgramFolder::In(&[".cargo", "bin"]),
        update: &[
            "cargo install --locked {package}",
            "git pull && cargo install --locked --path crates/weir  (in a checkout)",
        ],
        remove: &["cargo uninstall {package}", "cargo uninstall weir"],
        ..UNKNOWN
    },
    Installer {
        name: DEBIAN,
        update: &["sudo apt install ./{package}_VERSION_ARCH.deb  (the file of the new release)"],
        remove: &["sudo apt remove {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "rpm",
        update: &["sudo dnf upgrade ./{package}-VERSION-1.ARCH.rpm  (the file of the new release)"],
        remove: &["sudo dnf remove {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "pacman",
        update: &["git pull && makepkg --syncdeps --install  (in a checkout of {package} from the AUR)"],
        remove: &["sudo pacman -R {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "nix",
        update: &["nix profile upgrade {package}  (or update the input of your flake)"],
        remove: &["nix profile remove {package}"],
        ..UNKNOWN
    },
    Installer {
        name: "install.sh",
        update: &["sh install.sh{prefix}  (that of the new release)"],
        remove: &["sh install.sh --uninstall{prefix}"],
        ..UNKNOWN
    },
];

impl Installer {
    fn named(name: &str) -> &'static Self {
        INSTALLERS.iter().find(|one| one.name == name).unwrap_or(&UNKNOWN)
    }
}

impl ProgramFolder {
    fn contains(&self, parts: &[&str]) -> bool {
        match self {
            Self::Any => false,
            Self::Below(_) => self.package(parts).is_some(),
            Self::Modules(folder) => {
                parts.contains(&"node_modules") && folder.is_none_or(|folder| parts.contains(&folder))
            }
            Self::In(folders) => parts.windows(folders.len()).any(|window| window == *folders),
        }
    }

    fn package(&self, parts: &[&str]) -> Option<String> {
        match self {
            Self::Any | Self::In(_) => None,
            Self::Below(folders) => {
                let at = parts.windows(folders.len()).position(|window| window == *folders)?;
                parts.get(at + folders.len()).map(|name| (*name).to_owned())
            }
            Self::Modules(_) => {
                let at = parts.iter().rposition(|part| *part == "node_modules")?;
                let scope = parts.get(at + 1).copied().unwrap_or_default();
                Some(match scope.starts_with('@') {
                    true => format!("{scope}/{}", parts.get(at + 2).copied().unwrap_or_default()),
                    false => scope.to_owned(),
                })
            }
        }
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
        let (found, found_package) = by_path(&program);
        let (by, package) = match marker.map(str::split_whitespace) {
            None if is_debian => (Installer::named(DEBIAN), Some("weir".to_owned())),
            None => (found, found_package),
            Some(mut words) => {
                let marked = words.next().unwrap_or_default();
                let package = words.next().map(str::to_owned);
                match found.shares == Some(marked) {
                    true if matches!(found.folder, ProgramFolder::Below(_)) => (found, found_package),
                    true => (found, package),
                    false => (Installer::named(marked), package),
                }
            }
        };
        Self { program, by, package }
    }

    /// Returns the one command that updates the program, or says why there is none.
    pub(super) fn update(&self) -> String {
        self.first_of(self.by.update)
            .unwrap_or_else(|| format!("not known: replace {} as you installed it", self.program.display()))
    }

    pub(super) fn remove(&self) -> String {
        self.first_of(self.by.remove).unwrap_or_else(|| format!("rm {}", quoted(&self.program.display().to_string())))
    }

    /// Returns the first command whose blanks can be filled in.
    fn first_of(&self, commands: &[&str]) -> Option<String> {
        let fill = |command: &&str| match &self.package {
            Some(package) => Some(command.replace("{package}", package)),
            None => (!command.contains("{package}")).then(|| (*command).to_owned()),
        };
        commands.iter().find_map(fill).map(|command| command.replace("{prefix}", &self.prefix()))
    }

    /// Returns the argument that names the folder to which the script installed.
    fn prefix(&self) -> String {
        let folder = self.program.parent().and_then(Path::parent);
        folder.map(|folder| format!(" --prefix {}", quoted(&folder.display().to_string()))).unwrap_or_default()
    }
}

/// Returns what installs programs at such a path, and the name of the package if the path has it.
fn by_path(program: &Path) -> (&'static Installer, Option<String>) {
    let parts: Vec<&str> = program.iter().filter_map(std::ffi::OsStr::to_str).collect();
    let found = INSTALLERS.iter().find(|one| one.folder.contains(&parts)).unwrap_or(&UNKNOWN);
    (found, found.folder.package(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, marker: Option<&str>, by: &str, update: &str, remove: &str) {
        let is_debian = false;
        let installed = Installed::of(PathBuf::from(path), marker, is_debian);
        assert_eq!(installed.by.name, by, "{path}");
        assert!(installed.update().starts_with(update), "{}", installed.update());
        assert_eq!(installed.remove(), remove);
    }

    #[test]
    fn the_path_or_the_marker_tells_where_the_program_came_from() {
        check("/home/me/.cargo/bin/weir", None, "cargo", "git pull && cargo install", "cargo uninstall weir");
        check("/opt/homebrew/Cellar/weir-x/1.0/bin/weir", None, "brew", "brew upgrade weir-x", "brew uninstall weir-x");
        let npm = "/usr/lib/node_modules/@weir/linux-x64/bin/weir";
        check(
            npm,
            None,
            "npm",
            "npm install --global @weir/linux-x64@latest",
            "npm uninstall --global @weir/linux-x64",
        );
        check(
            npm,
            Some("npm @weir/cli\n"),
            "npm",
            "npm install --global @weir/cli@",
            "npm uninstall --global @weir/cli",
        );
        check(
            "/home/me/.local/share/uv/tools/weir-x/bin/weir",
            None,
            "uv",
            "uv tool upgrade weir-x",
            "uv tool uninstall weir-x",
        );
        check(
            "/home/me/.local/share/uv/tools/weir-x/bin/weir",
            Some("pip weir-cli"),
            "uv",
            "uv tool upgrade weir-x",
            "uv tool uninstall weir-x",
        );
        check(
            "/home/me/env/bin/weir",
            Some("pip weir-cli"),
            "pip",
            "pip install --upgrade weir-cli",
            "pip uninstall weir-cli",
        );
        check(
            "/home/me/my tools/bin/weir",
            Some("install.sh weir"),
            "install.sh",
            "sh install.sh --prefix '/home/me/my tools'",
            "sh install.sh --uninstall --prefix '/home/me/my tools'",
        );
        check("/opt/my tools/weir", None, "unknown", "not known", "rm '/opt/my tools/weir'");
        check("/opt/weir", Some("spaceship"), "unknown", "not known", "rm /opt/weir");
    }

    #[test]
    fn the_marker_tells_which_package_manager_of_the_system_has_the_program() {
        check("/usr/bin/weir", Some("deb weir"), "deb", "sudo apt install", "sudo apt remove weir");
        check("/usr/bin/weir", Some("rpm weir"), "rpm", "sudo dnf upgrade", "sudo dnf remove weir");
        check(
            "/usr/bin/weir",
            Some("pacman weir-cli-bin"),
            "pacman",
            "git pull && makepkg",
            "sudo pacman -R weir-cli-bin",
        );
        check(
            "/nix/store/x-weir-cli-1.0.0/bin/weir",
            Some("nix weir-cli"),
            "nix",
            "nix profile upgrade weir-cli",
            "nix profile remove weir-cli",
        );
    }

    #[test]
    fn the_path_tells_what_installed_a_package_of_npm() {
        check(
            "/home/me/.local/share/pnpm/global/5/.pnpm/weir-x@1.0.0/node_modules/weir-x/bin/weir",
            Some("npm weir-cli"),
            "pnpm",
            "pnpm add --global weir-cli@latest",
            "pnpm remove --global weir-cli",
        );
        check(
            "/home/me/.bun/install/global/node_modules/weir-x/bin/weir",
            Some("npm weir-cli"),
            "bun",
            "bun add --global weir-cli@latest",
            "bun remove --global weir-cli",
        );
    }
}

//! The supported languages, and how to run code in each.
//!
//! Invariant: a plan depends only on its arguments. Nothing here starts a process, writes a file or reads the
//! environment.
//!
//! A language is one file in `runtimes/` and one line in [`LANGUAGES`]. It names its runtimes in order of preference,
//! and each runtime has a function that builds a [`Plan`]: the files to write and the programs to start.
//!
//! # The input file
//!
//! When a run is given a file, the program finds its path in the environment variable [`FILE_VARIABLE`] and, in the
//! idiom of its language, under these names:
//!
//! | language | names | how they are defined |
//! | --- | --- | --- |
//! | JavaScript, TypeScript | `FILE_CONTENT`, `FILE_PATH` (globals) | a second file, loaded first; Deno: on line 1 |
//! | Python | `FILE_CONTENT`, `FILE_PATH` (globals) | a second file, which starts the code |
//! | shell | `$FILE_CONTENT`, `$FILE_PATH` (not exported, without NUL) | in front, on line 1 |
//! | Ruby | `FILE_CONTENT`, `FILE_PATH` (constants) | a second file, loaded first |
//! | Go | `FILE_CONTENT`, `FILE_PATH` (package variables) | a second file of the package |
//! | Rust | `FILE_CONTENT`, `FILE_PATH` (`LazyLock<String>`) | after the last line |
//! | PHP | `FILE_CONTENT`, `FILE_PATH` (constants), `$FILE_CONTENT`, `$FILE_PATH` | a second file, loaded first |
//! | Perl | `$FILE_CONTENT`, `$FILE_PATH` (bytes, as Perl reads them) | a module, loaded first |
//! | R | `FILE_CONTENT`, `FILE_PATH` | in front, on line 1 |
//! | Elixir | `file_content`, `file_path` (an upper-case name is a module there) | in front, on line 1 |
//!
//! The line numbers in error messages are therefore those of the original code. Except in Perl and the shell, bytes
//! that are not UTF-8 are replaced by U+FFFD, as in lossy decoding.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

mod elixir;
mod find;
mod go;
mod javascript;
mod perl;
mod php;
mod python;
mod r;
mod ruby;
mod rust;
mod shell;
#[cfg(test)]
mod tests;
mod typescript;

pub const LANGUAGES: &[Language] = &[
    javascript::JAVASCRIPT,
    typescript::TYPESCRIPT,
    python::PYTHON,
    shell::SHELL,
    ruby::RUBY,
    go::GO,
    rust::RUST,
    php::PHP,
    perl::PERL,
    r::R,
    elixir::ELIXIR,
];

/// The environment variable with the path of the input file.
pub const FILE_VARIABLE: &str = "WEIR_FILE";

/// A language: its names, and the runtimes that can run it.
#[derive(Debug)]
pub struct Language {
    /// The name in arguments and answers, in lower case.
    pub name: &'static str,
    /// Other common names.
    pub aliases: &'static [&'static str],
    /// File extensions without the dot. The code is written to a file with the first one.
    pub extensions: &'static [&'static str],
    /// Runtimes in order of preference.
    pub runtimes: &'static [Runtime],
}

/// A program that runs code in a language.
#[derive(Debug)]
pub struct Runtime {
    pub program: &'static str,
    /// Accepted version ranges, each with an inclusive start and an exclusive end. Empty if any version works.
    pub versions: &'static [(Version, Version)],
    /// Commands that install it, one per system.
    pub install: &'static [&'static str],
    plan: fn(&PlanRequest<'_>) -> Plan,
}

pub type Version = (u32, u32);

/// An upper bound for open-ended version ranges.
const NEWEST: Version = (u32::MAX, 0);

/// A language with an installed runtime.
#[derive(Debug, Clone)]
pub struct Found {
    pub language: &'static Language,
    pub runtime: &'static Runtime,
    pub program: PathBuf,
}

/// No suitable runtime for a language is installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no runtime for {language} found{}", unfit_text(.unfit))]
pub struct Missing {
    pub language: &'static str,
    /// Programs that were found but are unsuitable, each with the reason.
    pub unfit: Vec<String>,
    /// Commands that install the preferred runtime, one per system.
    pub install: &'static [&'static str],
}

fn unfit_text(unfit: &[String]) -> String {
    if unfit.is_empty() { String::new() } else { format!(" ({})", unfit.join("; ")) }
}

/// The files to write and the programs to start for a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Files to write first, each below the scratch folder.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Programs to start in sequence, each with its arguments. All but the last are compile steps; if one of them
    /// fails, its exit code becomes that of the run.
    pub steps: Vec<Vec<OsString>>,
    /// Environment variables for all steps.
    pub env: Vec<(OsString, OsString)>,
    /// The variable in `env` that names a cache folder. A caller that keeps a folder between runs may set the variable
    /// to that folder; otherwise the cache is lost with the scratch folder.
    pub cache: Option<&'static str>,
}

impl Language {
    /// Returns the language with this name or alias, ignoring case.
    pub fn find(name: &str) -> Option<&'static Language> {
        let name = name.trim().to_lowercase();
        LANGUAGES.iter().find(|language| language.name == name || language.aliases.contains(&name.as_str()))
    }

    /// Guesses the language of a file from its extension. Use this for suggestions only.
    pub fn detect(path: &Path) -> Option<&'static Language> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        LANGUAGES.iter().find(|language| language.extensions.iter().any(|known| known.to_lowercase() == extension))
    }

    /// Returns the first runtime found in one of the folders of `path_variable`, which has the form of `PATH`.
    ///
    /// Relative folders are skipped, because a project file must not be able to pose as a runtime. `version_of` returns
    /// what a program prints for `--version`; it is called only if the version matters.
    pub fn locate(
        &'static self,
        path_variable: &OsStr,
        version_of: impl Fn(&Path) -> Option<String>,
    ) -> Result<Found, Missing> {
        let mut unfit = Vec::new();
        for runtime in self.runtimes {
            for program in find::executables(runtime.program, path_variable) {
                match find::fits(runtime, &program, &version_of) {
                    Ok(()) => return Ok(Found { language: self, runtime, program }),
                    Err(reason) if unfit.contains(&reason) => {}
                    Err(reason) => unfit.push(reason),
                }
            }
        }
        let install = self.runtimes.first().map_or(&[] as &[_], |runtime| runtime.install);
        Err(Missing { language: self.name, unfit, install })
    }
}

impl Found {
    /// Plans a run of `code`, with `file` as its input file if given. `scratch` is the absolute path of an empty folder
    /// that the run may write to.
    pub fn plan(&self, code: &str, file: Option<&Path>, scratch: &Path) -> Plan {
        let request = PlanRequest { program: &self.program, code, has_file: file.is_some(), scratch };
        let mut plan = (self.runtime.plan)(&request);
        if let Some(file) = file {
            plan.env.push((FILE_VARIABLE.into(), file.into()));
        }
        plan
    }
}

/// The input of a runtime's plan function.
struct PlanRequest<'a> {
    program: &'a Path,
    code: &'a str,
    has_file: bool,
    scratch: &'a Path,
}

impl PlanRequest<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Returns the prelude if there is an input file, and an empty string otherwise.
    fn prelude(&self, prelude: &'static str) -> &'static str {
        if self.has_file { prelude } else { "" }
    }

    fn step<const N: usize>(&self, arguments: [&OsStr; N]) -> Vec<OsString> {
        [self.program.as_os_str()].into_iter().chain(arguments).map(OsStr::to_owned).collect()
    }
}

impl Plan {
    fn write(mut self, path: PathBuf, text: impl Into<Vec<u8>>) -> Plan {
        self.files.push((path, text.into()));
        self
    }

    fn run(mut self, step: Vec<OsString>) -> Plan {
        self.steps.push(step);
        self
    }

    fn set(mut self, name: &str, value: impl Into<OsString>) -> Plan {
        self.env.push((name.into(), value.into()));
        self
    }

    fn set_cache(mut self, name: &'static str, folder: PathBuf) -> Plan {
        self.cache = Some(name);
        self.set(name, folder)
    }
}

/// Puts a prelude in front of the code, on the same line. A `#!` line remains a comment behind it.
fn on_first_line(prelude: &str, code: &str) -> String {
    format!("{prelude}{code}")
}

/// Returns whether any line of the code starts with `start`, ignoring indentation.
fn has_line(code: &str, start: &str) -> bool {
    code.lines().any(|line| line.trim_start().starts_with(start))
}

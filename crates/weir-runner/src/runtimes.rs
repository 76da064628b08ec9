//! The languages that code can be written in, and how each is run. Invariant: a plan depends on its arguments alone;
//! nothing here starts a process, writes a file, or asks the environment.
//!
//! A language is one file in `runtimes/` and one line in [`LANGUAGES`]. It names its runtimes in order of preference, and
//! each runtime has a function that makes a [`Plan`]: the files to write and the programs to start.
//!
//! # The file that code is about
//!
//! When a run is given a file, the program finds its path in the environment variable [`FILE_VARIABLE`] and, in the idiom
//! of its language, under these names:
//!
//! | language | names | how they get there |
//! | --- | --- | --- |
//! | JavaScript, TypeScript | `FILE_CONTENT`, `FILE_PATH` (globals) | a second file, loaded first; Deno: on line 1 |
//! | Python | `FILE_CONTENT`, `FILE_PATH` (globals) | a second file, which starts the code |
//! | shell | `$FILE_CONTENT`, `$FILE_PATH` (not exported, without NUL) | in front, on line 1 |
//! | Ruby | `FILE_CONTENT`, `FILE_PATH` (constants) | a second file, loaded first |
//! | Go | `FILE_CONTENT`, `FILE_PATH` (variables of the package) | a second file of the package |
//! | Rust | `FILE_CONTENT`, `FILE_PATH` (`LazyLock<String>`) | after the last line |
//! | PHP | `FILE_CONTENT`, `FILE_PATH` (constants), `$FILE_CONTENT`, `$FILE_PATH` | a second file, loaded first |
//! | Perl | `$FILE_CONTENT`, `$FILE_PATH` (bytes, as Perl reads them) | a module, loaded first |
//! | R | `FILE_CONTENT`, `FILE_PATH` | in front, on line 1 |
//! | Elixir | `file_content`, `file_path` (an upper-case name is a module there) | in front, on line 1 |
//!
//! So the line numbers in error messages are those of the code as it was given. Except in Perl and the shell, bytes that
//! are not UTF-8 are replaced by U+FFFD, as lossy decoding does.

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

/// Every language that code can be written in.
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

/// The environment variable with the path of the file that the code is about.
pub const FILE_VARIABLE: &str = "WEIR_FILE";

/// A language: its names, and what can run it.
#[derive(Debug)]
pub struct Language {
    /// The name in arguments and answers, in lower case.
    pub name: &'static str,
    /// Other names that people and models use.
    pub aliases: &'static [&'static str],
    /// The extensions of its files, without the dot; the first is what the code is written as.
    pub extensions: &'static [&'static str],
    /// What can run it, best first.
    pub runtimes: &'static [Runtime],
}

/// A program that runs code in a language.
#[derive(Debug)]
pub struct Runtime {
    /// The name of its executable.
    pub program: &'static str,
    /// The versions that will do, each from (included) and to (not included); empty when any does.
    pub versions: &'static [(Version, Version)],
    /// Commands that install it, one per system.
    pub install: &'static [&'static str],
    /// What to write and start.
    plan: fn(&Request<'_>) -> Plan,
}

/// The first two numbers of a version.
pub type Version = (u32, u32);

/// Later than every version.
const NEWEST: Version = (u32::MAX, 0);

/// A language with a runtime that is on this machine.
#[derive(Debug, Clone)]
pub struct Found {
    /// The language.
    pub language: &'static Language,
    /// Which of its runtimes was found.
    pub runtime: &'static Runtime,
    /// Where it is.
    pub program: PathBuf,
}

/// No runtime of a language is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no runtime for {language} found{}; to install one: {}", seen(.unfit), .install.join(", or "))]
pub struct Missing {
    /// The name of the language.
    pub language: &'static str,
    /// Programs that are there and will not do, with the reason.
    pub unfit: Vec<String>,
    /// Commands that install the runtime we like best, one per system.
    pub install: &'static [&'static str],
}

fn seen(unfit: &[String]) -> String {
    if unfit.is_empty() { String::new() } else { format!(" ({})", unfit.join("; ")) }
}

/// What to write and what to start, so that code runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The files to write first, each below the scratch folder.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The programs to start, one after the other, each with its arguments. All but the last are compile steps: when one
    /// of them fails, its exit code is that of the run.
    pub steps: Vec<Vec<OsString>>,
    /// What to set in the environment of all steps.
    pub env: Vec<(OsString, OsString)>,
    /// Which variable of `env` names a cache. A caller that keeps a folder from run to run may set the variable to that
    /// folder instead; until then the cache goes with the scratch folder.
    pub cache: Option<&'static str>,
}

impl Language {
    /// The language with this name or alias, in whatever case.
    pub fn find(name: &str) -> Option<&'static Language> {
        let name = name.trim().to_lowercase();
        LANGUAGES.iter().find(|language| language.name == name || language.aliases.contains(&name.as_str()))
    }

    /// The language of a file by its extension, for suggestions and nothing else.
    pub fn detect(path: &Path) -> Option<&'static Language> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        LANGUAGES.iter().find(|language| language.extensions.iter().any(|known| known.to_lowercase() == extension))
    }

    /// Finds the first of the runtimes that is in one of the folders of `path_variable`, which has the form of `PATH`.
    ///
    /// Relative folders are passed over, since a file of the project must not stand in for a runtime. `version_of` gives
    /// what a program answers to `--version`; it is asked only where the version matters.
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
    /// Plans a run of `code`, about `file` if there is one. `scratch` is an absolute path to an empty folder that the
    /// run may write to.
    pub fn plan(&self, code: &str, file: Option<&Path>, scratch: &Path) -> Plan {
        let request = Request { program: &self.program, code, has_file: file.is_some(), scratch };
        let mut plan = (self.runtime.plan)(&request);
        if let Some(file) = file {
            plan.env.push((FILE_VARIABLE.into(), file.into()));
        }
        plan
    }
}

/// What a runtime's function makes its plan from.
struct Request<'a> {
    program: &'a Path,
    code: &'a str,
    has_file: bool,
    scratch: &'a Path,
}

impl Request<'_> {
    /// The path of a file in the scratch folder.
    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// The prelude when there is a file, and nothing otherwise.
    fn prelude(&self, prelude: &'static str) -> &'static str {
        if self.has_file { prelude } else { "" }
    }

    /// A step that starts the runtime.
    fn step<const N: usize>(&self, arguments: [&OsStr; N]) -> Vec<OsString> {
        [self.program.as_os_str()].into_iter().chain(arguments).map(OsStr::to_owned).collect()
    }
}

impl Plan {
    /// Adds a file.
    fn write(mut self, path: PathBuf, text: impl Into<Vec<u8>>) -> Plan {
        self.files.push((path, text.into()));
        self
    }

    /// Adds a step.
    fn run(mut self, step: Vec<OsString>) -> Plan {
        self.steps.push(step);
        self
    }

    /// Sets a variable.
    fn set(mut self, name: &str, value: impl Into<OsString>) -> Plan {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the variable of a cache.
    fn set_cache(mut self, name: &'static str, folder: PathBuf) -> Plan {
        self.cache = Some(name);
        self.set(name, folder)
    }
}

/// The code behind a prelude on the same line. A line that says `#!` is a comment behind it as well.
fn on_first_line(prelude: &str, code: &str) -> String {
    format!("{prelude}{code}")
}

/// Whether a line of the code starts with these words, however deep it is indented.
fn has_line(code: &str, start: &str) -> bool {
    code.lines().any(|line| line.trim_start().starts_with(start))
}

//! Outlines of foreign files, made in a confined process: whatever a file does to its parser, it does there.
//!
//! A process that has answered is kept for the next file, so that a server and a map of many files start few of them.
//! Invariant: a file that brings its parser down has no outline, and nothing else is lost.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use weir_outline::{Language, NoOutline, Outline, wire};
use weir_runner::{Confined, Fences, Lost};

/// The argument that makes the program act as the parser.
pub(crate) const PARSER: &str = "parse-helper";
/// Longer than the parser itself takes before it gives up.
const PATIENCE: Duration = Duration::from_secs(8);

/// Processes that wait for the next file.
static IDLE: Mutex<Vec<Confined>> = Mutex::new(Vec::new());

/// What the program does as the parser: answers requests until its standard input is closed.
pub(crate) fn parser_main() -> ExitCode {
    weir_runner::serve(wire::answer)
}

/// The outline of a text in a language.
pub(crate) fn outline(language: &'static Language, text: &str) -> Result<Outline, NoOutline> {
    if text.len() > weir_outline::LARGEST {
        return Err(NoOutline::TooLarge);
    }
    let request = wire::request(language, text);
    // A process that has waited may have been ended by somebody else: only a new one speaks against the file.
    let answer = match take_idle().map(|parser| ask(parser, &request)) {
        None | Some(Err(NoOutline::Crashed)) => ask(start()?, &request),
        Some(answer) => answer,
    };
    wire::read(language, text, &answer?)
}

/// The outline of a file, by the language that its name and its text tell.
pub(crate) fn outline_of(path: &Path, text: &str) -> Result<Outline, NoOutline> {
    let language = weir_outline::language_of(path, text).ok_or(NoOutline::Unknown)?;
    outline(language, text)
}

/// Starts a process ahead of its first file, so that nobody has to wait for it.
pub(crate) fn prepare() {
    if idle().is_empty()
        && let Ok(parser) = start()
    {
        idle().push(parser);
    }
}

/// How parsers are confined here, in words.
pub(crate) fn fences() -> String {
    let said = start().map(|mut parser| parser.fences(PATIENCE));
    match said {
        Ok(Ok(Fences::Filtered)) => "in a process without access to files, the network or other processes".to_owned(),
        Ok(Ok(Fences::Limited)) => {
            "in a process with resource limits only, because this system supports no system call filter: a crash is \
             contained, but an attack on a parser is not"
                .to_owned()
        }
        Ok(Err(lost)) => format!("unavailable: {lost}"),
        Err(problem) => format!("unavailable: {problem}"),
    }
}

fn start() -> Result<Confined, NoOutline> {
    Confined::start(Path::new(crate::run::HELPER), PARSER).map_err(|_| NoOutline::NoParser)
}

fn ask(mut parser: Confined, request: &[u8]) -> Result<Vec<u8>, NoOutline> {
    let answer = parser.ask(request, PATIENCE).map_err(|lost| match lost {
        Lost::Crashed => NoOutline::Crashed,
        Lost::TooSlow => NoOutline::Unfit,
    })?;
    if !parser.is_worn() {
        idle().push(parser);
    }
    Ok(answer)
}

fn take_idle() -> Option<Confined> {
    idle().pop()
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Confined>> {
    // The list holds together whatever its last user did.
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Outlines untrusted files in a confined process, so that a file can harm only its parser.
//!
//! A process that has answered is kept for the next file, so a server or a map of many files starts few processes.
//! Invariant: a file that crashes its parser has no outline, and nothing else is lost.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use weir_host::mutex::lock;
use weir_host::os;
use weir_outline::{Language, Outline, OutlineError, wire};
use weir_runner::{Confined, Fences, Lost};

/// The argument that starts the program as the parser.
pub const PARSER: &str = "parse-helper";
/// How long to wait for a parser. Longer than the parser itself takes to give up.
const PARSER_TIMEOUT: Duration = Duration::from_secs(8);

/// Processes waiting for the next file.
static IDLE: Mutex<Vec<Confined>> = Mutex::new(Vec::new());

/// Runs the program as the parser: answers requests until standard input is closed.
pub fn parser_main() -> ExitCode {
    weir_runner::serve(wire::answer)
}

pub fn outline(language: &'static Language, text: &str) -> Result<Outline, OutlineError> {
    if text.len() > weir_outline::LARGEST {
        return Err(OutlineError::TooLarge);
    }
    let request = wire::request(language, text);
    // An idle process may have been killed from outside, so only a crash of a new one counts against the file.
    let answer = match take_idle().map(|parser| ask(parser, &request)) {
        None | Some(Err(OutlineError::Crashed)) => ask(start()?, &request),
        Some(answer) => answer,
    };
    wire::read(language, text, &answer?)
}

/// Outlines a file, in the language that its name and its text indicate.
pub fn outline_of(path: &Path, text: &str) -> Result<Outline, OutlineError> {
    let language = weir_outline::language_of(path, text).ok_or(OutlineError::Unknown)?;
    outline(language, text)
}

/// Starts a process before its first file arrives, so that the file does not wait for it.
pub fn prepare() {
    if idle().is_empty()
        && let Ok(parser) = start()
    {
        idle().push(parser);
    }
}

/// Describes how parsers are confined on this machine, or returns why there are none.
pub fn fences() -> Result<String, String> {
    let said = start().map(|mut parser| parser.fences(PARSER_TIMEOUT));
    match said {
        Ok(Ok(Fences::Filtered)) => {
            Ok("in a process without access to files, the network or other processes".to_owned())
        }
        Ok(Ok(Fences::Limited)) => Ok(
            "in a process with resource limits only, because this system supports no system call filter: a crash is \
                contained, but an attack on a parser is not"
                .to_owned(),
        ),
        Ok(Err(lost)) => Err(lost.to_string()),
        Err(problem) => Err(problem.to_string()),
    }
}

fn start() -> Result<Confined, OutlineError> {
    Confined::start(&os::helper(), PARSER).map_err(|_| OutlineError::NoParser)
}

fn ask(mut parser: Confined, request: &[u8]) -> Result<Vec<u8>, OutlineError> {
    let answer = parser.ask(request, PARSER_TIMEOUT).map_err(|lost| match lost {
        Lost::Crashed => OutlineError::Crashed,
        Lost::TooSlow => OutlineError::Unfit,
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
    // The list stays consistent even if its last user panicked.
    lock(&IDLE)
}

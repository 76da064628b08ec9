//! Prints the answers of commands: as JSON, as text for a person or for a model, or as a text that may be larger than
//! memory.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::ArgMatches;
use weir_core::terminal;
use weir_host::answer::{Answer, Unbounded, size};
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Reader;
use weir_host::paint::{self, written};
use weir_host::when;
use weir_store::BlobReader;

use super::super::pager;

/// The option that prints what a model would be shown.
pub(super) const FOR_MODEL: &str = "for-model";

#[derive(Debug, Clone)]
pub(super) struct Printing {
    is_json: bool,
    pub(super) reader: Reader,
    pager: Option<OsString>,
}

impl Printing {
    pub(super) fn of(env: &Env, arguments: &ArgMatches) -> Self {
        let is_for_model = arguments.get_flag(FOR_MODEL) || env.is_of_client();
        let reader = if is_for_model { Reader::Model } else { Reader::Person };
        Self { is_json: arguments.get_flag("json"), reader, pager: pager::command(env) }
    }

    /// Whether a person reads the answer as text.
    pub(super) fn is_for_person(&self) -> bool {
        !self.is_json && self.reader == Reader::Person
    }

    /// Shows a person local times from now on.
    pub(super) fn use_local_time(&self) {
        if self.is_for_person() {
            when::use_local_time();
        }
    }

    pub(super) fn finish(&self, answer: Answer) -> Result<ExitCode, CommandError> {
        self.finish_with(answer, &[])
    }

    /// Prints an answer, with these words in bold, and returns its exit code.
    pub(super) fn finish_with(&self, answer: Answer, words: &[String]) -> Result<ExitCode, CommandError> {
        let (found, exit_code) = (answer.found, answer.exit_code);
        let printed = self.print(answer, words)?;
        Ok(match exit_code {
            Some(code) => ExitCode::from(code),
            None if found => printed,
            None => ExitCode::from(ErrorKind::NotFound.exit_code()),
        })
    }

    fn print(&self, answer: Answer, words: &[String]) -> Result<ExitCode, CommandError> {
        paint::clear_progress();
        match answer.unbounded {
            Some(Unbounded::Bytes(_)) if self.is_json => {
                return Err(CommandError::usage("cannot write raw bytes as JSON").hint("omit --raw or --json"));
            }
            Some(Unbounded::Bytes(text)) => return print_bytes(&text),
            Some(Unbounded::Lines(text)) if !self.is_json => return self.print_lines(&answer.text, &text),
            _ => {}
        }
        if self.is_json {
            return written(paint::print_json(&answer.data));
        }
        written(paint::print(&answer.text, words, self.reader))
    }

    /// Prints a head and all lines of a text as a terminal would show them, through a pager if they fill more than a
    /// screen.
    fn print_lines(&self, head: &str, text: &BlobReader) -> Result<ExitCode, CommandError> {
        let is_terminal = std::io::stdout().is_terminal();
        let rows = text.line_ends_before(text.bytes())? + 2;
        let pager = self.pager.as_ref().filter(|_| is_terminal && paint::is_more_than_a_screen(rows));
        match pager.and_then(pager::Pager::start) {
            Some(mut pager) => {
                let done = write_lines(&mut pager, head, text);
                pager.wait();
                done
            }
            None => write_lines(&mut std::io::BufWriter::new(std::io::stdout().lock()), head, text),
        }
    }
}

fn write_lines(out: &mut dyn Write, head: &str, text: &BlobReader) -> Result<ExitCode, CommandError> {
    let mut done = writeln!(out, "{}", paint::head(head));
    text.each_line(1, |line| {
        done = out.write_all(terminal::shown(line.text).as_bytes());
        if line.left_out > 0 && done.is_ok() {
            done = write!(out, "… ({} more in this line; --raw prints it)", size(line.left_out));
        }
        done = std::mem::replace(&mut done, Ok(())).and_then(|()| out.write_all(b"\n"));
        if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written(done.and_then(|()| out.flush()))
}

/// Writes a text unchanged, frame by frame, since it may be larger than memory.
fn print_bytes(text: &BlobReader) -> Result<ExitCode, CommandError> {
    let mut stdout = std::io::stdout().lock();
    for number in 0..text.frame_count() {
        let frame = text.frame(number)?;
        if let Err(error) = stdout.write_all(&frame) {
            return written(Err(error));
        }
    }
    written(stdout.flush())
}

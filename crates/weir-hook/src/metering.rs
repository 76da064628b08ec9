//! Measures what programs printed: the tokens of an output in full, and those that a client would have shown of it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use weir_clients::Client;
use weir_host::answer::PrintedOutput;
use weir_store::{MeterAction, Reading};

/// What a client is taken to show at most if its own limit is not known, in characters.
const ASSUMED_CHARS: usize = 30_000;

/// Returns the tokens of an output of this many bytes: counted if the beginning is all of it, estimated otherwise.
pub fn in_full(beginning: &str, bytes: u64) -> u64 {
    let counted = weir_tokens::count(beginning) as u64;
    (counted * bytes).checked_div(beginning.len() as u64).unwrap_or(0).max(counted)
}

/// Returns the tokens of a file in full, as [`in_full`] does.
pub fn file_in_full(path: &Path) -> io::Result<u64> {
    let (mut beginning, mut file) = (Vec::new(), File::open(path)?);
    (&mut file).take(PrintedOutput::MAX_BEGINNING_BYTES as u64).read_to_end(&mut beginning)?;
    Ok(in_full(&String::from_utf8_lossy(&beginning), file.metadata()?.len()))
}

/// Returns the tokens that the client of a session would have shown of a command's output.
pub fn shown_alone(client: &str, beginning: &str, failed: bool) -> u64 {
    let cut = Client::of_session(client).and_then(|client| client.command_cut(failed));
    let shown = match cut {
        Some(cut) => cut.shown(beginning),
        None => beginning[..beginning.char_indices().nth(ASSUMED_CHARS).map_or(beginning.len(), |(at, _)| at)].into(),
    };
    weir_tokens::count(&shown) as u64
}

/// Measures an answer of one of Weir's tools, of `shown` tokens. What the programs printed that it ran counts as if the
/// client's own shell had run them.
pub fn answered(tool: &str, client: &str, printed: &[PrintedOutput], shown: u64) -> Reading {
    let output = printed.iter().map(|one| in_full(&one.beginning, one.bytes)).sum::<u64>();
    let given = printed.iter().map(|one| shown_alone(client, &one.beginning, one.failed)).sum();
    let (what, output, given, shown) = match printed.iter().all(|one| one.is_whole) {
        // What is shown in full is the program's text, and only the rest is Weir's own.
        true => (MeterAction::Answered, 0, 0, shown.saturating_sub(output)),
        false => (MeterAction::Ran, output, given, shown),
    };
    Reading { what, tool: tool.to_owned(), times: 1, output, given, shown }
}

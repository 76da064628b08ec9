//! Shows the output of a rewritten command: while the command runs, the output so far if it is short, and at the end
//! the rest or the digest of everything.
//!
//! Invariants: the relay only reads the file that the command writes, so the command continues whatever happens to the
//! relay; the relay ends with the shell it belongs to.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_clients::Client;
use weir_core::wording::one_line;
use weir_core::{EntryKind, Level, NewEntry, Origin, SessionKey};
use weir_host::config;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, store_message};
use weir_host::face::Face;
use weir_host::os::ShellEnd;
use weir_host::when;
use weir_store::{MeterAction, Patience, Reading};

use super::RewriteFiles;
use crate::client_view::ClientView;
use crate::hold::{self, OutputContext};
use crate::metering;
use crate::payload::copy;
use crate::{MAX_TITLE_CHARS, SessionLocation, environment, faults, unreadable};

/// The argument that selects this mode.
pub const RELAY: &str = "relay-output";
/// How many bytes are shown while a command runs, in whole lines: enough to see that a server has started, and little
/// before a digest.
const MAX_LIVE_BYTES: u64 = 500;
/// A command that finishes sooner is shown only at its end.
const LIVE_DELAY: Duration = Duration::from_secs(1);
/// How long the relay waits for other processes before it shows the output unchanged.
const STORE_WAIT: Duration = Duration::from_secs(5);
/// The interval at which a running command is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Shows the output of the rewritten command with this key.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let key = arguments.first().and_then(|key| key.to_str()).unwrap_or_default();
    let fault = match std::panic::catch_unwind(|| run(key)) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => error.to_string(),
        Err(panic) => faults::panic_message(&*panic).to_owned(),
    };
    faults::note(RELAY, &fault);
    ExitCode::FAILURE
}

fn run(key: &str) -> Result<(), CommandError> {
    if key.len() != 16 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(CommandError::usage(format!("unknown rewritten command `{key}`")));
    }
    let (env, paths) = environment()?;
    let files = RewriteFiles::new(&paths, key);
    let started = Instant::now();
    let mut output = File::open(&files.output).map_err(unreadable)?;
    let (shown, code) = follow(&files, &mut output, started).map_err(unreadable)?;
    // The command may have finished before the relay started, so the time is taken from its file.
    let begun = output.metadata().and_then(|about| about.created()).ok().and_then(|begun| begun.elapsed().ok());
    let millis = begun.unwrap_or_else(|| started.elapsed()).as_millis() as u64;
    let mut live = Vec::new();
    output.rewind().and_then(|()| (&mut output).take(shown).read_to_end(&mut live)).map_err(unreadable)?;
    let digest = digest(&env, &paths, &files, &CommandEnd { code, millis, live: &String::from_utf8_lossy(&live) });
    let mut out = std::io::stdout().lock();
    match &digest {
        Ok(Some(digest)) => {
            let apart = if shown > 0 { "\n" } else { "" };
            writeln!(out, "{apart}{digest}").map_err(unreadable)?;
        }
        // The output is small, or it could not be stored: it is shown unchanged.
        Ok(None) | Err(_) => {
            output.seek(SeekFrom::Start(shown)).map_err(unreadable)?;
            copy(&mut output, &mut |bytes| out.write_all(bytes)).map_err(unreadable)?;
        }
    }
    out.flush().map_err(unreadable)?;
    files.remove();
    if let Err(error) = digest {
        faults::note(RELAY, &error.to_string());
    }
    Ok(())
}

/// Shows the output until the shell reports its end or is gone. Returns how much was shown, and the exit code.
fn follow(files: &RewriteFiles, output: &mut File, started: Instant) -> std::io::Result<(u64, Option<i32>)> {
    let shell = ShellEnd::open(&files.end)?;
    let mut shown = 0;
    loop {
        // The shell may have ended before the relay listened, so the file is authoritative and the pipe only wakes the
        // relay.
        if let Ok(code) = std::fs::read_to_string(&files.code)
            && code.ends_with('\n')
        {
            return Ok((shown, code.trim().parse().ok()));
        }
        if shell.is_gone() {
            return Ok((shown, None));
        }
        if started.elapsed() > LIVE_DELAY && shown < MAX_LIVE_BYTES {
            let mut out = std::io::stdout().lock();
            let mut piece = Vec::new();
            output.take(MAX_LIVE_BYTES - shown).read_to_end(&mut piece)?;
            // An incomplete line is read again once it is complete.
            piece.truncate(piece.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
            out.write_all(&piece)?;
            out.flush()?;
            shown += piece.len() as u64;
            output.seek(SeekFrom::Start(shown))?;
        }
        shell.wait(POLL_INTERVAL)?;
    }
}

struct CommandEnd<'a> {
    code: Option<i32>,
    millis: u64,
    /// What was shown of its output while it ran.
    live: &'a str,
}

/// Returns the digest of an output that is not small, if the digest is no longer than what the client would show.
fn digest(
    env: &Env,
    paths: &Paths,
    files: &RewriteFiles,
    ended: &CommandEnd<'_>,
) -> Result<Option<String>, CommandError> {
    let CommandEnd { code, millis, live } = *ended;
    let about = std::fs::read_to_string(&files.script).map_err(unreadable)?;
    let about = about.strip_prefix("# ").and_then(|about| about.lines().next()).unwrap_or_default();
    let about: Value = serde_json::from_str(about).map_err(|error| CommandError::broken(&error.to_string()))?;
    let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
    let (config, purpose) = (config::read(&paths.config)?, weir_clients::purpose_of_command(&text("command")));
    if hold::small_file(&files.output, config.hold.limit(purpose)).map_err(unreadable)?.is_some() {
        return Ok(None);
    }
    let client = Client::of_session(&text("client"));
    let view = ClientView::of_file(client, &files.output, code != Some(0)).map_err(unreadable)?;
    let given = view.tokens();
    let session = SessionKey { client: text("client"), key: text("session") };
    let place = SessionLocation::find(env, paths, Path::new(&text("folder")), session)?;
    let placed = |error: CommandError| error.in_store(&place.folder);
    let mut store = place.open(paths, Patience::InAll(STORE_WAIT))?;
    store.set_limits(config.retention.limits());
    let mut writer = store.writer().map_err(|error| placed(error.into()))?;
    let mut file = File::open(&files.output).map_err(unreadable)?;
    copy(&mut file, &mut |bytes| writer.write(bytes).map_err(std::io::Error::other)).map_err(unreadable)?;
    let run = Some(hold::run_facts(code, millis));
    let entry =
        NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, one_line(&text("command"), MAX_TITLE_CHARS));
    let how = code.map_or_else(|| "ended".to_owned(), |code| format!("exit {code}"));
    let kept = hold::keep(&mut store, &place.scope, NewEntry { run, ..entry }, writer, when::now())
        .map_err(|failed| placed(failed.error.into()))?;
    let ask = OutputContext {
        purpose,
        path: None,
        question: None,
        file: None,
        face: Face::Mcp,
        most: given.saturating_sub(weir_tokens::count(live)),
        is_numbered: false,
        shown_lines: live.lines().count() as u64,
    };
    let shown = hold::shown(&kept, &format!("{how} in {millis} ms"), &ask).map_err(placed)?;
    let tokens = weir_tokens::count(live) + weir_tokens::count(&shown);
    if tokens > given {
        return Ok(None);
    }
    let output = metering::file_in_full(&files.output).map_err(unreadable)?;
    let (given, tokens) = (given as u64, tokens as u64);
    let reading = Reading { what: MeterAction::Held, tool: "shell".to_owned(), times: 1, output, given, shown: tokens };
    // A failure to record the measurement does not affect the model.
    if let Err(error) = store.meter(&place.scope, &reading, when::now()) {
        faults::note("metering", &store_message(&error, &place.folder));
    }
    Ok(Some(shown))
}

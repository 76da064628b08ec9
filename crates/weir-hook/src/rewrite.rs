//! Rewrites a shell command so that a large output is held back when the command ends. This is for clients that discard
//! large output, or that accept no replacement for the output of a failed command.
//!
//! The command runs as it would have, in the client's own shell and with its meaning unchanged. A line before it
//! sources a small script that redirects the shell's output to a file. A [`relay`] shows the output as it arrives while
//! it is short and, at the end, the rest or a digest of everything. The exit code is preserved. If the script cannot
//! write its file, it does nothing; if the relay cannot be run, the output is shown unchanged.
//!
//! Invariants: a command is rewritten only if it may print a lot that nobody asked for, and only if the client runs it
//! without asking the user or a safety check, which would otherwise see Weir's text; the first line is a comment with
//! the command, since that is the line that clients show; output is never lost, however the shell ends.

pub mod relay;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use weir_clients::{Done, Hook, Point, Tool, ToolCall};
use weir_core::wording::one_line;
use weir_host::env::Paths;
use weir_host::os;
use weir_store::private;

use super::{Call, MAX_TITLE_CHARS, OPT_OUT_MARK, faults, trial};

/// Words in a command that act on its shell or its streams, with which the script would interfere.
const OWN_WAYS: [&str; 9] = ["exec", "trap", "coproc", "disown", "nohup", "setsid", "fg", "wait", "jobs"];
/// The age at which the leftovers of a command are removed.
const MAX_LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The files of one rewritten command.
pub(super) struct RewriteFiles {
    /// The script that the shell sources before the command. Its first line holds the data for the relay.
    script: PathBuf,
    output: PathBuf,
    /// A pipe that wakes the relay when the shell has ended.
    end: PathBuf,
    /// The exit code of the shell, for the relay and for the client's next hook.
    code: PathBuf,
}

impl RewriteFiles {
    fn new(paths: &Paths, key: &str) -> Self {
        let script = folder(paths).join(key);
        let [output, end, code] = ["out", "end", "code"].map(|extension| script.with_extension(extension));
        Self { script, output, end, code }
    }

    /// Returns the files for a tool call. The hooks before and after the call get the same files.
    fn of(paths: &Paths, hook: &Hook, used: &ToolCall) -> Option<(String, Self)> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(hook.session.as_bytes()).update(b"\0").update(used.key.as_ref()?.as_bytes());
        let key = hasher.finalize().to_hex()[..16].to_owned();
        let files = Self::new(paths, &key);
        Some((key, files))
    }

    fn remove(&self) {
        for path in [&self.script, &self.output, &self.end] {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn folder(paths: &Paths) -> PathBuf {
    paths.data.join("held")
}

/// Returns the command to run instead, if the command is rewritten.
pub(super) fn command(call: &Call<'_>, used: &ToolCall) -> Option<String> {
    let Tool::Shell { command } = &used.tool else { return None };
    // The client is given back its whole input, so all of it must be there.
    let can = os::CAN_REWRITE && call.hook.takes.command && used.input_is_whole;
    if !can || used.background || !is_plain(command) || !weir_clients::may_flood(command) {
        return None;
    }
    let (key, files) = RewriteFiles::of(&call.paths, call.hook, used)?;
    if trial::is_untouched(call) {
        return None;
    }
    match prepare(call, command, &key, &files) {
        Ok(()) => Some(format!("# {}\n{}{command}", first_line(command), source_line(&files))),
        Err(error) => {
            faults::note("rewriting a command", &error.to_string());
            None
        }
    }
}

fn first_line(command: &str) -> String {
    one_line(command.trim_start().lines().next().unwrap_or_default(), MAX_TITLE_CHARS)
}

/// Returns the line before a command that sources the script.
fn source_line(files: &RewriteFiles) -> String {
    format!(". {} # weir holds back a long output\n", quoted(&files.script))
}

/// Whether a command leaves its shell and its streams alone.
fn is_plain(command: &str) -> bool {
    let mut words = command.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    let alone = command.replace("&&", "").replace("2>&1", "").replace(">&2", "").replace("&>", "");
    !command.contains(OPT_OUT_MARK) && !alone.contains('&') && !words.any(|word| OWN_WAYS.contains(&word))
}

fn prepare(call: &Call<'_>, command: &str, key: &str, files: &RewriteFiles) -> std::io::Result<()> {
    let folder = folder(&call.paths);
    private::folder(&folder)?;
    sweep(&folder);
    let about = json!({
        "folder": call.hook.folder, "client": call.client.session, "session": call.hook.session, "command": command,
    });
    let _ = std::fs::remove_file(&files.code);
    let [output, end, code] = [&files.output, &files.end, &files.code].map(|path| quoted(path));
    let program = quoted(&std::env::current_exe()?);
    let in_trap = |text: &str| text.replace('\'', "'\\''");
    // Meanwhile, the shell keeps its original output as descriptor 9. `1<>` opens the pipe without waiting for a
    // reader.
    write!(
        private_file(&files.script)?,
        "# {about}\n\
         if (: >{output} && mkfifo {end}) 2>/dev/null; then\n\
         {program} {relay} {key} &\n\
         weir_relay=$!\n\
         exec 9>&1 >{output} 2>&1\n\
         trap 'weir_code=$?; exec >&9 2>&9 9>&-; echo $weir_code >{code_in_trap}; \
         echo 1<>{end_in_trap}; wait $weir_relay || cat {output_in_trap}; exit $weir_code' EXIT\n\
         fi\n",
        relay = relay::RELAY,
        end_in_trap = in_trap(&end),
        code_in_trap = in_trap(&code),
        output_in_trap = in_trap(&output),
    )
}

/// Removes the leftovers of commands that never finished.
fn sweep(folder: &Path) {
    let is_old = |path: &Path| {
        let changed = std::fs::symlink_metadata(path).and_then(|about| about.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > MAX_LEFTOVER_AGE))
    };
    for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_old(&item.path()) {
            let _ = std::fs::remove_file(item.path());
        }
    }
}

/// Whether a command was rewritten, and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RewriteStatus {
    /// The command was not rewritten.
    No,
    /// The relay has shown the output, in full or as a digest.
    Relayed,
    /// The shell was killed before the relay could show the output.
    Killed,
}

/// Adds what the client does not report about a rewritten command: the original command, its exit code and, if its
/// shell was killed, its output.
pub(super) fn complete(paths: &Paths, hook: &mut Hook) -> RewriteStatus {
    let Point::AfterTool(used @ ToolCall { tool: Tool::Shell { .. }, .. }, _) = &hook.point else {
        return RewriteStatus::No;
    };
    let Some((_, files)) = RewriteFiles::of(paths, hook, used) else { return RewriteStatus::No };
    let ours = source_line(&files);
    let Point::AfterTool(used, done) = &mut hook.point else { return RewriteStatus::No };
    if let Tool::Shell { command } = &mut used.tool
        && let Some((comment, original)) = command.split_once(&ours)
        && comment.lines().count() == 1
    {
        *command = original.to_owned();
    }
    // The command goes on, and its relay shows the output when it ends.
    if used.background {
        return RewriteStatus::No;
    }
    if let Ok(code) = std::fs::read_to_string(&files.code) {
        let _ = std::fs::remove_file(&files.code);
        let code: Option<i32> = code.trim().parse().ok();
        *done = Done { exit_code: done.exit_code.or(code), failed: done.failed || code != Some(0), ..done.clone() };
        return RewriteStatus::Relayed;
    }
    if !files.output.is_file() {
        return RewriteStatus::No;
    }
    done.output.saved = Some(files.output);
    done.output.cut = false;
    RewriteStatus::Killed
}

/// Removes the leftovers of a command whose shell was killed.
pub(super) fn clear(call: &Call<'_>, used: &ToolCall) {
    if let Some((_, files)) = RewriteFiles::of(&call.paths, call.hook, used) {
        files.remove();
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn private_file(path: &Path) -> std::io::Result<File> {
    private::open(path, private::options().truncate(true))
}

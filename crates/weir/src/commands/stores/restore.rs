//! `weir restore`: restores a backup, also into another folder than the original one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::{ArgMatches, Command};
use serde_json::{Value, json};
use weir_context::Context;
use weir_host::answer::{Answer, counted};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::scratch::{Scratch, cannot_use};
use weir_store::{Store, StoreError};

use super::backup::{FORMAT, MANIFEST, VERSION};
use super::{StoreTarget, file_argument, force_argument, new_private_file, path_of, set_aside_old, still_open};

const MAX_MANIFEST_BYTES: u64 = 16 << 20;

pub(super) fn command() -> Command {
    Command::new("restore")
        .about("Restore this project's store from a backup")
        .after_long_help(
            "Examples:\n  weir restore ~/backups/project.weir\n  weir -C ~/src/other restore project.weir\n\n\
             The whole backup is checked before anything is changed. A store that is not empty is replaced only with \
             --force, and the old one is set aside. A backup made with --user is restored as the user store.",
        )
        .arg(file_argument("Backup to restore").required(true))
        .arg(force_argument("Replace a store that is not empty"))
}

pub(super) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let Some(file) = path_of(context, arguments, "file") else { return Err(CommandError::usage("name a backup")) };
    let input = File::open(&file)
        .map_err(|error| CommandError::new(ErrorKind::NotFound, format!("cannot open {}: {error}", file.display())))?;
    let mut archive = tar::Archive::new(zstd::Decoder::new(input).map_err(|error| damaged(&file, &error))?);
    let mut entries = archive.entries().map_err(|error| damaged(&file, &error))?;
    let manifest = manifest(entries.next()).map_err(|error| damaged(&file, &error))?;
    let which = if manifest["owner"] == "user" { StoreTarget::user(context) } else { StoreTarget::project(context) };
    let force = arguments.get_flag("force");
    which.check_free(force)?;

    let within = which.folder.parent().unwrap_or(Path::new("/")).to_owned();
    let scratch = Scratch::new(&within)?;
    let made = scratch.path().join("store");
    weir_store::private::folder(&made.join("blobs")).map_err(|error| cannot_use(&made, &error))?;
    let (mut texts, mut has_log) = (0, false);
    for entry in entries {
        let name = entry.and_then(|entry| unpack(entry, &made)).map_err(|error| damaged(&file, &error))?;
        texts += u64::from(name.starts_with("blobs/"));
        has_log |= name == "log.db";
        if texts.is_multiple_of(100) {
            context.report_progress(&format!("reading text {texts}"));
        }
    }
    // The checksum is at the very end.
    std::io::copy(&mut archive.into_inner(), &mut std::io::sink()).map_err(|error| damaged(&file, &error))?;
    if manifest["texts"] != texts || !has_log {
        return Err(damaged(&file, &std::io::Error::other("it is not complete")));
    }
    let tell = |number: u64| {
        if number.is_multiple_of(100) {
            context.report_progress(&format!("checking text {number}"));
        }
    };
    let checked =
        Store::take_over_copy(&made, &which.owner, tell).map_err(|error| cannot_take_over(&file, &made, error))?;
    which.check_free(force)?;
    let open = still_open(&which.folder);
    let old = scratch.put_in_place(&made, &which.folder)?;
    let aside = set_aside_old(old, &which)?;
    let mut text = format!(
        "restored {} and {} from {}, made at {}",
        counted(checked.entries as usize, "entry", "entries"),
        counted(checked.events as usize, "event", "events"),
        file.display(),
        manifest["made_at"].as_str().unwrap_or("an unknown time"),
    );
    if checked.lost > 0 {
        let lost = counted(checked.lost as usize, "text", "texts");
        text.push_str(&format!("\n{lost} could not be restored; `weir doctor --deep` names the entries"));
    }
    if let Some(aside) = &aside {
        text.push_str(&format!("\nthe previous store is in {}; remove it once you no longer need it", aside.display()));
    }
    text.extend(open.iter().map(|open| format!("\n{open}")));
    let data = json!({
        "entries": checked.entries, "events": checked.events, "lost": checked.lost,
        "from": file.display().to_string(), "made_at": manifest["made_at"],
        "replaced": aside.map(|aside| aside.display().to_string()), "open": open,
    });
    Ok(Answer { found: checked.lost == 0, ..Answer::new(text, data) })
}

fn cannot_take_over(file: &Path, made: &Path, error: StoreError) -> CommandError {
    let hint = match error.may_pass() {
        true => "nothing was changed; try again",
        false => "nothing was changed; try an older backup",
    };
    let error = CommandError::from(error).in_store(made);
    CommandError::new(error.kind, format!("cannot restore {}: {}", file.display(), error.message)).hint(hint)
}

fn manifest(first: Option<std::io::Result<tar::Entry<'_, impl Read>>>) -> std::io::Result<Value> {
    let wrong = || std::io::Error::other("it is not a Weir backup");
    let mut entry = first.ok_or_else(wrong)??;
    if entry.path()?.as_os_str() != MANIFEST || entry.size() > MAX_MANIFEST_BYTES {
        return Err(wrong());
    }
    let mut text = String::new();
    entry.read_to_string(&mut text)?;
    let manifest: Value = serde_json::from_str(&text)?;
    if manifest["format"] != FORMAT {
        return Err(wrong());
    }
    if manifest["version"] != VERSION {
        return Err(std::io::Error::other(format!("it was made by a newer version of Weir ({})", manifest["weir"])));
    }
    Ok(manifest)
}

/// Writes one file of a backup. Refuses names that a backup does not contain, because they could lead elsewhere.
fn unpack(mut entry: tar::Entry<'_, impl Read>, folder: &Path) -> std::io::Result<String> {
    let name = entry.path()?.to_str().unwrap_or_default().to_owned();
    let text = name.strip_prefix("blobs/").and_then(|file| file.strip_suffix(".zst"));
    let known = name == "log.db" || text.is_some_and(|hash| blake3::Hash::from_hex(hash).is_ok());
    if !known || !entry.header().entry_type().is_file() {
        return Err(std::io::Error::other(format!("`{name}` does not belong there")));
    }
    let mut file = new_private_file(&folder.join(&name))?;
    std::io::copy(&mut entry, &mut file)?;
    file.sync_all()?;
    Ok(name)
}

fn damaged(file: &Path, error: &std::io::Error) -> CommandError {
    // What the system itself reports says nothing about the content of the file.
    let hint = match error.raw_os_error() {
        Some(_) => "nothing was changed; make sure that the file can be read and that the disk has free space",
        None => "nothing was changed; the file is damaged or is not a backup",
    };
    CommandError::new(ErrorKind::Failed, format!("cannot restore {}: {error}", file.display())).hint(hint)
}

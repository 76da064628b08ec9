//! `weir backup`: writes the log and the texts of a store to one file, as of a single moment.

use std::fs::File;
use std::io::Write;

use clap::{ArgMatches, Command};
use serde_json::json;
use weir_context::Context;
use weir_host::answer::{Answer, counted, size};
use weir_host::error::CommandError;
use weir_host::scratch::{Scratch, cannot_use};
use weir_host::when;
use weir_store::{Copied, Owner};

use super::{StoreTarget, UnfinishedFile, check_new, file_argument, force_argument, path_of, user_argument};

/// The first file of a backup, which identifies it.
pub(super) const MANIFEST: &str = "weir-backup.json";
/// The format in the manifest.
pub(super) const FORMAT: &str = "weir-backup";
pub(super) const VERSION: u64 = 1;
/// The compression level. Texts are already compressed, so more effort would gain nothing.
const COMPRESSION_LEVEL: i32 = 3;

pub(super) fn command() -> Command {
    Command::new("backup")
        .about("Back up this project's store to one file")
        .after_long_help(
            "Examples:\n  weir backup ~/backups/project.weir\n  weir backup --user ~/backups/user.weir\n\n\
             The file is a consistent copy of everything in the store; other processes can keep writing meanwhile. \
             `weir restore FILE` restores it. It is a tar file, compressed with zstd. The search index is not included: \
             it is rebuilt from the rest.",
        )
        .arg(file_argument("File to write").required(true))
        .arg(user_argument())
        .arg(force_argument("Overwrite an existing file"))
}

pub(super) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let Some(file) = path_of(context, arguments, "file") else { return Err(CommandError::usage("name a file")) };
    check_new(&file, arguments)?;
    let which = StoreTarget::asked(context, arguments);
    context.report_progress("copying the log");
    // On the disk of the store, so that texts are not copied twice.
    let scratch = Scratch::new(&which.folder)?;
    let level = which.level;
    let copied = context.with_stores_here(|open| Ok(open.store(level)?.copy_to(scratch.path())?))?;
    let unavailable = copied.unavailable.iter().map(|(name, _)| name);
    let manifest = json!({
        "format": FORMAT,
        "version": VERSION,
        "weir": env!("CARGO_PKG_VERSION"),
        "made_at": when::for_data(when::now()),
        "owner": if which.owner == Owner::User { "user" } else { "project" },
        "project": context.project().root.display().to_string(),
        "entries": copied.entries,
        "events": copied.events,
        "texts": copied.texts.len(),
        "missing": copied.missing.iter().chain(&copied.damaged).chain(unavailable).collect::<Vec<_>>(),
    });
    let mut unfinished = UnfinishedFile::new(&file)?;
    let written = write(context, &mut unfinished, &manifest.to_string(), &copied);
    let bytes =
        written.and_then(|bytes| unfinished.finish().map(|()| bytes)).map_err(|error| cannot_use(&file, &error))?;
    let mut text = format!(
        "backed up {} and {} to {} ({}); restore them with `weir restore`",
        counted(copied.entries as usize, "entry", "entries"),
        counted(copied.events as usize, "event", "events"),
        file.display(),
        size(bytes)
    );
    let left_out = left_out(&copied);
    text.extend(left_out.iter().map(|line| format!("\n{line}")));
    let mut data = manifest;
    data["file"] = json!(file.display().to_string());
    data["bytes"] = json!(bytes);
    Ok(Answer { found: left_out.is_empty(), ..Answer::new(text, data) })
}

/// Says which texts the backup does not have, and why.
fn left_out(copied: &Copied) -> Vec<String> {
    let texts = |count: usize| counted(count, "text", "texts");
    let mut lines = Vec::new();
    if !copied.missing.is_empty() {
        let missing = texts(copied.missing.len());
        lines.push(format!("cannot back up {missing}: the files are missing; run `weir doctor`"));
    }
    if !copied.damaged.is_empty() {
        let damaged = texts(copied.damaged.len());
        lines.push(format!("cannot back up {damaged}: damaged; run `weir doctor --deep`"));
    }
    if let Some((_, why)) = copied.unavailable.first() {
        let unavailable = texts(copied.unavailable.len());
        lines
            .push(format!("cannot back up {unavailable} at the moment: {why}; make another backup once that is fixed"));
    }
    lines
}

/// Writes the file and flushes it to disk. Returns its length.
fn write(context: &Context, file: &mut UnfinishedFile, manifest: &str, copied: &Copied) -> std::io::Result<u64> {
    let mut encoder = zstd::Encoder::new(&mut file.file, COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    let mut archive = tar::Builder::new(encoder);
    append(&mut archive, MANIFEST, manifest.len() as u64, manifest.as_bytes())?;
    let log = File::open(&copied.log)?;
    append(&mut archive, "log.db", log.metadata()?.len(), log)?;
    for (number, path) in copied.texts.iter().enumerate() {
        let text = File::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        append(&mut archive, &format!("blobs/{name}"), text.metadata()?.len(), text)?;
        if number.is_multiple_of(100) {
            context.report_progress(&format!("writing text {} of {}", number + 1, copied.texts.len()));
        }
    }
    let file = archive.into_inner()?.finish()?;
    file.flush()?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

fn append(
    archive: &mut tar::Builder<impl Write>,
    name: &str,
    length: u64,
    content: impl std::io::Read,
) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(length);
    header.set_mode(0o600);
    header.set_cksum();
    archive.append_data(&mut header, name, content)
}

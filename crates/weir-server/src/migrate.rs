//! `weir-server migrate`: moves a team from SQLite and files to PostgreSQL, while its server goes on.

use std::path::Path;

use clap::ArgMatches;
use serde_json::{Value, json};
use weir_host::answer::{Answer, counted};
use weir_host::error::CommandError;
use weir_host::paint;
use weir_records::moving::{MoveFigures, MovePhase, MoveProgress, MoveSource, MoveTarget, contents, move_team};
use weir_records::{Blobs, PortError, sqlite};

use crate::failure::failed;
use crate::storage::Place;

/// Moves a team, says what would be moved, or takes back the lock of a move that did not finish.
pub(super) fn run(place: &Place, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let folder = place.unmoved_folder()?;
    let (log, accounts, blobs) = sqlite::open_for_move(folder).map_err(failed)?;
    let source = MoveSource { log: &log, accounts: &accounts, blobs: &blobs };
    if arguments.get_flag("cancel") {
        let was_locked = log.unlock_after_move().map_err(failed)?;
        let text = if was_locked { "the old server may write again" } else { "no move has begun" };
        return Ok(Answer::new(text.to_owned(), json!({ "unlocked": was_locked })));
    }
    if arguments.get_flag("dry-run") {
        let figures = contents(&source).map_err(failed)?;
        let lines: Vec<String> =
            [format!("would move {}", describe(&figures))].into_iter().chain(left_audit(&figures, folder)).collect();
        return Ok(Answer::new(lines.join("\n"), data(&figures)));
    }
    let prepared = place.prepare()?;
    if !prepared.ran.is_empty() {
        paint::warn(&format!("weir: prepared the database: {}", prepared.ran.join(", ")));
    }
    let new = place.postgres()?;
    let texts = place.copied_texts()?;
    let target = MoveTarget {
        records: &new.log,
        log: &new.log,
        accounts: &new.accounts,
        blobs: texts.as_ref().map(|texts| texts as &dyn Blobs),
        place: &new.place,
    };
    let moved = move_team(&source, &target, &|progress| paint::show_progress(&shown(progress)));
    paint::show_progress("");
    let figures = moved.map_err(unfinished)?;
    Ok(Answer::new(arrived(&figures, &new.place, folder, texts.is_none()), data(&figures)))
}

fn shown(progress: MoveProgress) -> String {
    let MoveProgress { phase, done, of } = progress;
    let doing = match phase {
        MovePhase::Copying => "copying",
        MovePhase::CopyingRest => "copying the rest, and the old server refuses writes",
        MovePhase::Comparing => "comparing both sides",
    };
    format!("{doing}: record {done} of {}", of.max(done))
}

fn arrived(figures: &MoveFigures, place: &str, folder: &Path, texts_stay: bool) -> String {
    let mut lines = vec![format!("moved {} to {place}, and compared both sides", describe(figures))];
    if figures.lost_texts > 0 {
        lines.push(format!(
            "{} could not be read at the old place either, and are missing now",
            many(figures.lost_texts, "text", "texts")
        ));
    }
    lines.extend(left_audit(figures, folder));
    let texts = if texts_stay {
        lines.push(format!("the texts stay in {}", folder.join("texts").display()));
        format!(" --texts {}", folder.join("texts").display())
    } else {
        " --texts with the place that they were copied to".to_owned()
    };
    lines.push(format!("stop the old server, and start `weir-server serve --data DIR --database URL`{texts}"));
    lines.join("\n")
}

/// Says what of deleted tenants stays where it is, if there were any.
fn left_audit(figures: &MoveFigures, folder: &Path) -> Option<String> {
    (figures.deleted_tenants > 0).then(|| {
        format!(
            "{} of {} are not moved, and stay in {}",
            many(figures.left_audit_rows, "row of the audit", "rows of the audit"),
            many(figures.deleted_tenants, "deleted tenant", "deleted tenants"),
            folder.join("records.db").display(),
        )
    })
}

fn describe(figures: &MoveFigures) -> String {
    format!(
        "{} with {}, {} in {} ({} erased), {}, {} and {}",
        many(figures.tenants, "tenant", "tenants"),
        many(figures.tokens, "token", "tokens"),
        many(figures.records, "record", "records"),
        many(figures.projects, "project", "projects"),
        figures.erased,
        many(figures.texts, "text", "texts"),
        many(figures.hosts, "host", "hosts"),
        many(figures.audit_rows, "row of the audit", "rows of the audit"),
    )
}

fn many(count: u64, one: &str, more: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), one, more)
}

fn data(figures: &MoveFigures) -> Value {
    json!({
        "tenants": figures.tenants,
        "projects": figures.projects,
        "records": figures.records,
        "erased": figures.erased,
        "tokens": figures.tokens,
        "audit_rows": figures.audit_rows,
        "hosts": figures.hosts,
        "texts": figures.texts,
        "lost_texts": figures.lost_texts,
        "deleted_tenants": figures.deleted_tenants,
        "left_audit_rows": figures.left_audit_rows,
    })
}

fn unfinished(error: PortError) -> CommandError {
    failed(error).hint("the old server goes on; run the command again, and it continues where it was")
}

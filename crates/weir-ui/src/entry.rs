//! One entry: its digest beside its text, by lines.

mod digest;
mod lines;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use weir_context::{Context, LockedStores};
use weir_core::run::{Ended, RunFacts};
use weir_core::{Entry, EntryKind, Gone, Level, Origin, Reference, Scope, SessionKey, WhyGone};
use weir_host::error::{CommandError, ErrorKind};
use weir_knowledge::staleness;
use weir_pages::Text;
use weir_pages::entry::{AskedAgain, DigestLine, EntryPage, Figures, Piece, SessionLink};
use weir_pages::words::{Badge, Words};
use weir_run::background;
use weir_store::{BlobReader, Found};

use super::answer;
use super::known::{ViewedProject, Visit};
use super::view::{View, client_name, entry_title, session_text, words_of};
use lines::WantedLines;

/// The largest text whose tokens are counted and that is digested, in bytes.
const MAX_DIGESTED_BYTES: u64 = 4 << 20;
const MAX_RAW_BYTES: u64 = 64 << 20;

pub(super) async fn page(view: &View<'_>, reference: &str) -> Result<Response, CommandError> {
    let reference = parse(reference)?;
    let wanted = WantedLines::read(&view.fields)?;
    let place = find(view, reference).await?;
    if let (Some(project), None) = (&place.project, &view.project) {
        return Ok(answer::redirect(&view.address_in(project)));
    }
    let visit = place.visit(view).await;
    let read = read(&visit, place.level(), reference, wanted).await?;
    let status = if matches!(read, ReadEntry::Gone(_)) { StatusCode::GONE } else { StatusCode::OK };
    let page = match read {
        ReadEntry::Gone(gone) => gone_page(view, reference, gone),
        ReadEntry::Here(read) => {
            let doubts = staleness::labels(&visit, &[&read.entry], staleness::GIT_TIMEOUT).await.concat();
            let mut page = show(view, *read);
            page.badges.extend(doubts.iter().map(|doubt| Badge::Doubt(doubt.to_string().into())));
            page
        }
        ReadEntry::Running(title, shown) => running_page(view, reference, &title, shown),
    };
    Ok(answer::page(status, page.render(&view.shell)))
}

/// Answers with the text as it is stored.
pub(super) async fn raw(view: &View<'_>, reference: &str) -> Result<Response, CommandError> {
    let reference = parse(reference)?;
    let place = find(view, reference).await?;
    let (visit, level) = (place.visit(view).await, place.level());
    let scope = visit.scope();
    let text = visit.with_stores(move |open| {
        let text = open.store(level)?.text(&scope, reference)?.ok_or_else(|| never(reference))?;
        if text.bytes() > MAX_RAW_BYTES {
            let hint = "`weir get --raw` with its reference prints it as it is, to be written to a file";
            return Err(CommandError::usage("this text is too long for a page").hint(hint));
        }
        Ok(text.all()?)
    });
    Ok(answer::raw(text.await?))
}

/// Where an entry is: in the store of a project, or in the user's.
pub(super) struct EntryPlace {
    project: Option<Arc<ViewedProject>>,
}

impl EntryPlace {
    pub(super) async fn visit(&self, view: &View<'_>) -> Visit {
        // The user's store can be reached from every project.
        match self.project.as_ref().or(view.project.as_ref()).or(view.projects.first()) {
            Some(project) => project.visit().await,
            None => view.ui.projects.visit().await,
        }
    }

    pub(super) fn level(&self) -> Level {
        if self.project.is_some() { Level::Project } else { Level::User }
    }
}

/// Finds the store that has or had an entry: that of the view's project, of any project, or the user's.
pub(super) async fn find(view: &View<'_>, reference: Reference) -> Result<EntryPlace, CommandError> {
    let mut unread = Vec::new();
    for project in view.places() {
        let visit = project.visit().await;
        let (scope, is_running) = (visit.scope(), background::list(&visit).contains(&reference));
        let has = visit.with_stores(move |open| has(open, Level::Project, &scope, reference)).await;
        if is_running || view.if_readable(project, has, &mut unread)? == Some(true) {
            return Ok(EntryPlace { project: Some(Arc::clone(project)) });
        }
    }
    let visit = view.ui.projects.visit().await;
    let scope = visit.scope();
    match visit.with_stores(move |open| has(open, Level::User, &scope, reference)).await? {
        true => Ok(EntryPlace { project: None }),
        false => Err(unread.into_iter().chain(view.not_looked_through()).fold(never(reference), CommandError::hint)),
    }
}

fn has(open: &mut LockedStores<'_>, level: Level, scope: &Scope, reference: Reference) -> Result<bool, CommandError> {
    let now = open.now;
    let store = open.store(level)?;
    // Only what is not there any more has to be looked up in the way that counts as a use.
    Ok(store.entry(scope, reference)?.is_some() || !matches!(store.get(scope, reference, now)?, Found::Never))
}

/// What is known of an entry.
enum ReadEntry {
    Here(Box<StoredEntry>),
    Gone(Gone),
    /// A run in progress: its title, and the end of its output.
    Running(String, Vec<Piece>),
}

struct StoredEntry {
    entry: Entry,
    session: Option<SessionKey>,
    figures: Figures,
    digest: Vec<DigestLine>,
    text: Vec<Piece>,
    remarks: Vec<String>,
}

async fn read(
    visit: &Visit,
    level: Level,
    reference: Reference,
    wanted: WantedLines,
) -> Result<ReadEntry, CommandError> {
    let context: Context = (**visit).clone();
    let scope = visit.scope();
    visit
        .with_stores(move |open| {
            let now = open.now;
            let store = open.store(level)?;
            match store.get(&scope, reference, now)? {
                Found::Here(entry) => {
                    let text = store.text(&scope, reference)?.ok_or_else(|| never(reference))?;
                    let session = store.session_of(&scope, reference)?;
                    return Ok(ReadEntry::Here(Box::new(stored(*entry, session, &text, &wanted)?)));
                }
                Found::Gone(gone) => return Ok(ReadEntry::Gone(gone)),
                Found::Never => {}
            }
            let run = background::running(&context).into_iter().find(|run| run.reference == reference);
            let run = run.ok_or_else(|| never(reference))?;
            let text = background::output_of(&context, reference);
            Ok(ReadEntry::Running(run.title, lines::end_of(&text)?))
        })
        .await
}

fn stored(
    entry: Entry,
    session: Option<SessionKey>,
    text: &BlobReader,
    wanted: &WantedLines,
) -> Result<StoredEntry, CommandError> {
    let is_output = matches!(entry.kind, EntryKind::Run | EntryKind::File | EntryKind::Page);
    let is_short = entry.bytes <= MAX_DIGESTED_BYTES;
    let digest = if is_output && is_short { digest::of(&entry, text)? } else { digest::Digested::default() };
    let shown = lines::shown(text, &digest.lines_named(), wanted)?;
    let tokens = match is_short {
        true => Some(weir_tokens::count(&String::from_utf8_lossy(&text.range(0..entry.bytes)?)) as u64),
        false => None,
    };
    let mut remarks = shown.remarks;
    if is_output && !is_short {
        remarks.push("A text of more than 4 MiB is not digested here; `weir get` shows its digest.".to_owned());
    }
    let figures = Figures {
        tokens,
        digest_tokens: digest.tokens,
        lines: Some(shown.lines),
        bytes: entry.bytes,
        redactions: u64::from(entry.redactions),
    };
    Ok(StoredEntry { entry, session, figures, digest: digest.lines, text: shown.pieces, remarks })
}

fn show(view: &View<'_>, read: StoredEntry) -> EntryPage {
    let StoredEntry { entry, session, figures, digest, text, remarks } = read;
    let facts = view.ui.transcripts.facts();
    let own = session.as_ref().and_then(|session| facts.of(session));
    let again = own.map(|own| {
        let of_entry = own.asked.iter().filter(|asked| asked.reference == entry.reference);
        let again =
            of_entry.map(|asked| AskedAgain { lines: asked.lines, request: Some(asked.request), tokens: asked.tokens });
        again.collect()
    });
    let title = |session: &SessionKey| -> Text {
        let said = own.map(|own| own.title.as_str()).filter(|title| !title.is_empty());
        said.unwrap_or(client_name(&session.client)).into()
    };
    let link = session.as_ref().map(|session| SessionLink {
        key: session_text(session),
        title: title(session),
        request: own
            .and_then(|own| own.held.iter().find(|one| one.reference == Some(entry.reference)))
            .map(|one| one.request),
    });
    EntryPage {
        reference: entry.reference.as_str().into(),
        title: entry_title(&entry).into(),
        is_code: matches!(entry.kind, EntryKind::Run | EntryKind::File | EntryKind::Document),
        words: words_of(&entry),
        source: entry.source.as_deref().or(Some(entry.kind.as_str())).map(Into::into),
        at: view.moment(entry.at),
        expires: entry.expires_at.map(|at| view.moment(at)),
        is_pinned: entry.pinned,
        badges: entry.run.iter().filter_map(ending).collect(),
        session: link,
        figures: Some(figures),
        digest,
        remarks: remarks.into_iter().map(Into::into).collect(),
        text,
        asked_for: view.fields.get("lines").map(Text::from),
        again,
        gone: None,
    }
}

/// Returns how a run ended, unless it ended well.
fn ending(run: &RunFacts) -> Option<Badge> {
    let text = match (run.ended, run.exit_code, run.signal) {
        (Ended::Exited, Some(0), _) => return None,
        (Ended::Exited, Some(code), _) => format!("exit {code}"),
        (Ended::Exited, None, Some(signal)) => format!("ended by signal {signal}"),
        (Ended::Exited, None, None) => return None,
        (ended, ..) => ended.to_string(),
    };
    Some(Badge::Bad(text.into()))
}

fn bare(view: &View<'_>, reference: Reference) -> EntryPage {
    EntryPage {
        reference: reference.as_str().into(),
        title: format!("[ctx:{}]", reference.as_str()).into(),
        is_code: false,
        words: Words::of(Origin::Tool),
        source: None,
        at: view.clock.present(),
        expires: None,
        is_pinned: false,
        badges: Vec::new(),
        session: None,
        figures: None,
        digest: Vec::new(),
        remarks: Vec::new(),
        text: Vec::new(),
        asked_for: None,
        again: None,
        gone: None,
    }
}

fn gone_page(view: &View<'_>, reference: Reference, gone: Gone) -> EntryPage {
    let how = match gone.why {
        WhyGone::Expired => "It has expired. A note that cites an entry keeps it.",
        WhyGone::Evicted => "It was removed to stay within the quota. A note that cites an entry keeps it.",
        WhyGone::Forgotten => "It was forgotten on request, and nothing is left of it.",
        WhyGone::Replaced => "A newer text of the same file or page has replaced it.",
        WhyGone::Lost => "It could no longer be read, and was removed.",
    };
    EntryPage {
        at: view.moment(gone.at),
        source: Some(format!("{}, gone", gone.kind).into()),
        badges: vec![Badge::Plain(gone.why.as_str().into())],
        gone: Some(how.into()),
        ..bare(view, reference)
    }
}

fn running_page(view: &View<'_>, reference: Reference, title: &str, text: Vec<Piece>) -> EntryPage {
    EntryPage {
        title: title.into(),
        is_code: true,
        badges: vec![Badge::Plain("still running".into())],
        remarks: vec!["This is the end of its output so far. Reload the page to see more.".into()],
        text,
        ..bare(view, reference)
    }
}

fn parse(reference: &str) -> Result<Reference, CommandError> {
    Reference::parse(reference).map_err(|error| CommandError::new(ErrorKind::NotFound, error.to_string()))
}

pub(super) fn never(reference: Reference) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("no entry {reference} was found"))
        .hint("check the ten characters of the reference, or search for the entry")
}

//! Listens to the server of a connected project, so that teammates' notes come at once, and new ones leave at once.
//!
//! Invariants: one process at a time listens for a store, and hooks know it; the server learns the project and how far
//! its log was read, and nothing else; after failures, the pauses grow.

use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use weir_context::Context;
use weir_core::{Origin, Timestamp};
use weir_host::error::{CommandError, ErrorKind};
use weir_store::{TeamConnection, TeamDb};

use super::server::{Answered, ConnectedServer, Heard, wait};
use super::session_end::{is_due, start_exchange};
use super::shared_folder::GIT;
use super::token::read_token;

/// Locked by the process that listens.
const LOCK_FILE: &str = "team.listening";
/// How long a server may say nothing until its listener counts as cut off. It says every 25 seconds that it is there.
const MAX_SILENCE: Duration = Duration::from_secs(90);
/// How long at least between two things that the server says, so that one that never stops cannot keep this machine busy.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// How long an answer lasts at least. One that ends sooner, as behind some proxies, counts as a failure.
const MIN_LISTENING: Duration = Duration::from_secs(60);
/// How often a process that would listen looks whether another one still does.
const RETRY: Duration = Duration::from_secs(60);
/// How long to wait after a failure, at first and at most. Each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const MAX_PAUSE: Duration = Duration::from_secs(5 * 60);

/// The process that listens for a store. Another one can when it is dropped.
pub struct NewsListener<'a> {
    context: &'a Context,
    folder: PathBuf,
    /// Its time says when the server was heard last.
    lock: File,
}

/// Whether some process listens for the store in a folder, and the server has said something lately.
pub(super) fn is_listened(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(LOCK_FILE)) else { return false };
    let heard = file.metadata().and_then(|about| about.modified());
    let is_fresh = heard.is_ok_and(|heard| heard.elapsed().is_ok_and(|age| age < MAX_SILENCE));
    is_fresh && matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Listens as long as the project is connected, and starts an exchange in its own process whenever there is something
/// new. Returns at once without a server.
pub fn keep_in_step(context: &Context) {
    let (folder, project) = (context.project_folder(), context.project().root.clone());
    while matches!(connection(&folder), Ok(Some(_))) {
        match NewsListener::try_new(context) {
            Ok(Some(listener)) => {
                let start = || start_exchange(&folder, &project).map_err(|error| cannot_listen(&error));
                // A failure is noted by the exchange that hooks start from time to time, and shown by `weir doctor`.
                listener.listen(start, |_| ());
                return;
            }
            Ok(None) => wait(RETRY),
            Err(_) => return,
        }
    }
}

impl<'a> NewsListener<'a> {
    /// Returns the listener of the project, or `None` if another process listens.
    pub fn try_new(context: &'a Context) -> Result<Option<Self>, CommandError> {
        let folder = context.project_folder();
        connection(&folder)?.ok_or_else(not_connected)?;
        let path = folder.join(LOCK_FILE);
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| cannot_listen(&error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { context, folder, lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(cannot_listen(&error)),
        }
    }

    /// Listens as long as the project is connected, and calls `exchange` whenever there is something to receive or to
    /// send. `failed` is told of what goes wrong before it is tried again. Returns why it ended.
    pub fn listen(
        &self,
        mut exchange: impl FnMut() -> Result<(), CommandError>,
        mut failed: impl FnMut(&CommandError),
    ) -> CommandError {
        let mut pause = FIRST_PAUSE;
        loop {
            let begun = Instant::now();
            match self.hear(&mut exchange) {
                Ok(ControlFlow::Break(ended)) => return ended,
                Ok(ControlFlow::Continue(Some(asked))) => {
                    wait(asked.min(MAX_PAUSE));
                    continue;
                }
                Ok(ControlFlow::Continue(None)) => {}
                Err(error) => failed(&error),
            }
            if begun.elapsed() >= MIN_LISTENING {
                pause = FIRST_PAUSE;
            }
            wait(pause);
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Listens until the server ends its answer, and returns how long it asks to wait before the next request.
    fn hear(
        &self,
        exchange: &mut impl FnMut() -> Result<(), CommandError>,
    ) -> Result<ControlFlow<CommandError, Option<Duration>>, CommandError> {
        let Some(known) = connection(&self.folder)? else { return Ok(ControlFlow::Break(not_connected())) };
        let token = read_token(Path::new(&known.token_file))?;
        let server = ConnectedServer::for_news(self.context.env(), &known.server, token, known.project.clone())?;
        let (mut failed, mut last) = (None, None::<Instant>);
        let answered = server.listen(known.position, |heard| {
            if let Some(last) = last.replace(Instant::now()) {
                wait(MIN_INTERVAL.saturating_sub(last.elapsed()));
            }
            // Hooks that do not see it ask the server themselves.
            let _ = self.lock.set_modified(SystemTime::now());
            let done = match heard {
                Heard::News => exchange(),
                Heard::Nothing if self.has_something_to_send() => exchange(),
                Heard::Nothing => Ok(()),
            };
            match (done, connection(&self.folder)) {
                (Ok(()), Ok(Some(now))) if now.is_same_place(&known) => return ControlFlow::Continue(()),
                (Ok(()), Ok(_)) => {}
                (Err(error), _) | (_, Err(error)) => failed = Some(error),
            }
            ControlFlow::Break(())
        })?;
        match answered {
            Answered::Ended => Ok(ControlFlow::Continue(None)),
            Answered::Later(pause) => Ok(ControlFlow::Continue(Some(pause))),
            Answered::Unknown => Ok(ControlFlow::Break(no_news())),
            Answered::Left => failed.map_or_else(|| Ok(ControlFlow::Break(not_connected())), Err),
        }
    }

    /// Whether a note was written, confirmed or removed here since the last exchange.
    fn has_something_to_send(&self) -> bool {
        if is_due(&self.folder) {
            return true;
        }
        let tried = connection(&self.folder).ok().flatten().and_then(|known| known.tried_at);
        let scope = self.context.scope();
        let newest = self.context.with_stores_here(|open| Ok(open.project()?.notes(&scope, 1)?.pop()));
        let newest = newest.ok().flatten().filter(|note| note.entry.origin != Origin::Teammate);
        newest.is_some_and(|note| note.entry.at > tried.unwrap_or(Timestamp(0)))
    }
}

/// Returns the connection of a store to a server.
fn connection(folder: &Path) -> Result<Option<TeamConnection>, CommandError> {
    let Some(db) = TeamDb::open_existing(folder)? else { return Ok(None) };
    Ok(db.connection()?.filter(|known| known.server != GIT))
}

fn cannot_listen(error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot listen for news: {error}"))
        .hint("check that Weir's data can be written: weir doctor")
}

fn not_connected() -> CommandError {
    CommandError::new(ErrorKind::NotFound, "cannot listen for news: this project is not connected to a team server")
}

fn no_news() -> CommandError {
    CommandError::new(ErrorKind::Failed, "this server does not tell news: it is older than this program")
        .hint("`weir sync` asks for what is new")
}

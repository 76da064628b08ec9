//! Opens the index and lets it follow the log.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Store;
use crate::db::{Db, exists};
use crate::error::Result;
use crate::index::again::TriedAgain;
use crate::index::apply::{BatchLimits, ForgottenWords};
use crate::index::origin::Standing;
use crate::index::{self, Learner};
use crate::layout::INDEX_FILE;
use crate::log::feed::LogFeed;

/// Time limit for indexing after an entry is kept. The entry is already safe in the log by then.
const MAX_INDEX_TIME: Duration = Duration::from_secs(1);
/// Time limit for one wait on another process that is indexing.
const MAX_INDEX_WAIT: Duration = Duration::from_millis(200);

/// How far the index has followed the log.
pub(super) enum Progress {
    /// The index has taken in everything.
    Done,
    /// Another process is indexing, or the rest would take too long to wait for.
    Behind,
}

impl Store {
    /// Brings the index up to date with the log, and returns how many changes it followed. Everything that queries the
    /// index calls this; it is cheap if nothing has changed.
    pub fn catch_up(&mut self) -> Result<usize> {
        self.catch_up_forgetting(&ForgottenWords::default())
    }

    pub(super) fn catch_up_forgetting(&mut self, forgotten: &ForgottenWords) -> Result<usize> {
        self.open_index()?;
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(0) };
        let followed = index::apply::catch_up(index, &LogFeed { log, blobs }, learner, forgotten, |_| ())?;
        self.note_index_size();
        Ok(followed)
    }

    /// Brings the index up to date with the log as far as possible within [`MAX_INDEX_TIME`].
    pub(super) fn catch_up_soon(&mut self) -> Result<Progress> {
        self.open_index()?;
        let begun = Instant::now();
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(Progress::Behind) };
        let feed = LogFeed { log, blobs };
        while index::apply::standing(index, &feed)? != Standing::CaughtUp {
            let step = index::apply::step_within(MAX_INDEX_WAIT, BatchLimits::USUAL, index, &feed, learner)?;
            let is_free = step.is_some();
            if !is_free || begun.elapsed() > MAX_INDEX_TIME {
                break;
            }
        }
        let is_done = index::apply::standing(index, &feed)? == Standing::CaughtUp;
        self.note_index_size();
        Ok(if is_done { Progress::Done } else { Progress::Behind })
    }

    /// Indexes entries again whose text could not be read before. See [`index::again::read_again`].
    pub(super) fn read_again(&mut self, tried: TriedAgain, limit: Duration) -> Result<()> {
        if self.index.is_none() && !exists(&self.index_path())? {
            return Ok(());
        }
        self.open_index()?;
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(()) };
        index::again::read_again(index, &LogFeed { log, blobs }, learner, tried, limit)
    }

    pub(super) fn open_index(&mut self) -> Result<()> {
        self.opened_index().map(drop)
    }

    pub(super) fn opened_index(&mut self) -> Result<&mut Db> {
        // Another process may have set the index aside, and a full disk may have space again.
        let opened = match self.index.take().filter(|index| !index.was_moved() && !index.is_read_only()) {
            Some(index) => index,
            None => {
                self.learner = Learner::default();
                let open = if self.as_is { Db::open_as_is } else { Db::open };
                let mut index = open(&self.index_path(), index::MIGRATIONS, self.log.patience())?;
                index.keep_log_small();
                index
            }
        };
        Ok(self.index.insert(opened))
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.folder.join(INDEX_FILE)
    }
}

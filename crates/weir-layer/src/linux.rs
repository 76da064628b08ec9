//! Layers on Linux.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Applied, Change, LayerError, Recovered, Undone, Verdict, WhyNot};

/// What one run wrote: a private folder, locked as long as this exists.
#[derive(Debug)]
pub struct Layer {
    upper: PathBuf,
    work: PathBuf,
}

impl Layer {
    /// Creates the folders for one run on `project` below `place`, a folder of Weir, which is created if necessary.
    pub fn create(place: &Path, project: &Path) -> io::Result<Self> {
        let _ = (place, project);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The folder that the run writes to: the overlay's `upperdir`.
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    /// The folder that the kernel works in: the overlay's `workdir`.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Everything that the run changed, sorted by path, folders before their content.
    pub fn changes(&self) -> Result<Vec<Change>, LayerError> {
        Err(LayerError::Unsupported)
    }

    /// The project's and the run's content of a changed file, unless it is longer than `limit` or no file.
    pub fn versions(&self, change: &Change, limit: u64) -> io::Result<(Option<Vec<u8>>, Option<Vec<u8>>)> {
        let _ = (change, limit);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Carries over to the project what `judge` accepts, and moves the rest into the private folder `held_to`.
    ///
    /// The judge is asked about every change without a conflict; if it holds a folder, not about what is in it. What is
    /// replaced stays in the layer for [`undo`], unless it has more than `undo_limit` bytes.
    pub fn apply(
        self,
        held_to: &Path,
        undo_limit: u64,
        judge: &mut dyn FnMut(&Change) -> Verdict,
    ) -> Result<Applied, LayerError> {
        let _ = (held_to, undo_limit, judge);
        Err(LayerError::Unsupported)
    }

    /// Removes everything that the run wrote.
    pub fn discard(self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether a project can have a layer below `place`, and why not.
pub fn check(place: &Path, project: &Path) -> Result<(), WhyNot> {
    let _ = (place, project);
    Err(WhyNot::System)
}

/// Takes back what was last applied to a project, except for what has changed since.
pub fn undo(place: &Path, project: &Path) -> Result<Undone, LayerError> {
    let _ = (place, project);
    Err(LayerError::Unsupported)
}

/// Finishes every layer below `place` that a process left behind.
pub fn recover(place: &Path) -> Vec<Recovered> {
    let _ = place;
    Vec::new()
}

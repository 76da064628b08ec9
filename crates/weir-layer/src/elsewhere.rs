//! What systems other than Linux have of this crate: the names, so that callers need not know.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use crate::{Applied, Change, LayerError, Recovered, Undone, Verdict, Versions, WhyNot};

/// What one run wrote: there is none.
#[derive(Debug)]
pub struct Layer(Infallible);

impl Layer {
    pub fn create(_: &Path, _: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn upper(&self) -> &Path {
        match self.0 {}
    }

    pub fn work(&self) -> &Path {
        match self.0 {}
    }

    pub fn changes(&self) -> Result<Vec<Change>, LayerError> {
        match self.0 {}
    }

    pub fn versions(&self, _: &Change, _: u64) -> io::Result<Versions> {
        match self.0 {}
    }

    pub fn apply(self, _: &Path, _: u64, _: &mut dyn FnMut(&Change) -> Verdict) -> Result<Applied, LayerError> {
        match self.0 {}
    }

    pub fn discard(self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Fails: there are no layers.
pub fn check(_: &Path, _: &Path) -> Result<(), WhyNot> {
    Err(WhyNot::System)
}

/// Fails: nothing was ever applied.
pub fn undo(_: &Path, _: &Path) -> Result<Undone, LayerError> {
    Err(LayerError::Unsupported)
}

pub fn recover(_: &Path) -> Vec<Recovered> {
    Vec::new()
}

//! Windows has no sandbox yet. Invariant: every run is refused, whatever the settings say.

use std::io;

use weir_core::run::Stream;

use crate::elsewhere::refusal;
use crate::{Outcome, Run, RunError};

pub(crate) fn run(_: &Run<'_>, _: &mut dyn FnMut(Stream, &[u8]) -> io::Result<()>) -> Result<Outcome, RunError> {
    Err(refusal("runs are not supported on Windows; in WSL 2 they are"))
}

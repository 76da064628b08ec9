//! Text written by people, and pages: prose, Markdown, HTML, source code.

pub(super) mod accessibility;
mod grid;
pub(super) mod html;
pub(super) mod markdown;
mod outline;
mod passages;
pub(super) mod prose;
pub(super) mod source;

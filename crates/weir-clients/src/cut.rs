//! How clients shorten long outputs by themselves, and how long they keep what they have shown.

use std::borrow::Cow;

use crate::Client;
use crate::hook::Tool;

/// How a client shortens an output that is too long for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCut {
    /// The outputs that it shortens in this way.
    pub of: CutOutput,
    /// The length above which it shortens them, in UTF-16 code units.
    pub above: usize,
    /// The most that it looks at, from the beginning. What follows is dropped.
    pub within: usize,
    /// The number of characters that it shows from the beginning.
    pub head: usize,
    /// The number of characters that it shows from the end.
    pub tail: usize,
    /// What it writes around them, apart from sizes and a path.
    pub around: &'static str,
}

/// The outputs that a client shortens in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutOutput {
    /// Those of commands that succeeded.
    Shell,
    /// Those of commands that failed.
    FailedShell,
    Search,
    /// Those of MCP tools.
    Mcp,
    /// Those of any tool but reads.
    Any,
}

impl OwnCut {
    /// A cut of nothing, to be filled in.
    pub(crate) const NONE: Self =
        Self { of: CutOutput::Any, above: usize::MAX, within: usize::MAX, head: 0, tail: 0, around: "" };

    /// Returns the parts of an output that the client shows: its beginning and its end. If it shows everything, the end
    /// is empty.
    pub fn parts<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        if text.len() <= self.above || text.encode_utf16().count() <= self.above {
            return (text, "");
        }
        let text = &text[..chars(text, self.within)];
        let head = chars(text, self.head);
        let tail = text.char_indices().rev().nth(self.tail.saturating_sub(1)).map_or(0, |(at, _)| at);
        (&text[..head], if self.tail == 0 { "" } else { &text[tail.max(head)..] })
    }

    /// Returns what the model gets to see of an output if nothing replaces it.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.parts(text) {
            (head, "") if head.len() == text.len() => head.into(),
            (head, tail) => format!("{}\n{head}\n{tail}", self.around).into(),
        }
    }

    fn applies(&self, tool: &Tool, failed: bool) -> bool {
        match (self.of, tool) {
            // Of a file, a hook gets what the client shows.
            (CutOutput::Any, tool) => !matches!(tool, Tool::Read { .. }),
            (CutOutput::Search, Tool::Search { .. }) | (CutOutput::Mcp, Tool::Mcp { .. }) => true,
            (CutOutput::Shell, Tool::Shell { .. }) => !failed,
            (CutOutput::FailedShell, Tool::Shell { .. }) => failed,
            _ => false,
        }
    }
}

impl Client {
    /// Returns how the client shortens the outputs of a tool.
    pub fn cut(&self, tool: &Tool, failed: bool) -> Option<&'static OwnCut> {
        self.cuts.iter().find(|cut| cut.applies(tool, failed))
    }

    /// Returns how the client shortens the outputs of commands.
    pub fn command_cut(&self, failed: bool) -> Option<&'static OwnCut> {
        self.cut(&Tool::Shell { command: String::new() }, failed)
    }

    /// Returns whether the client itself has shortened a text that it shows.
    pub fn has_cut(&self, shown: &str) -> bool {
        self.cut_marks.iter().any(|mark| shown.contains(mark))
    }

    /// Returns the client that stores its sessions under this name.
    pub fn of_session(session: &str) -> Option<&'static Self> {
        crate::all().find(|client| client.session == session)
    }
}

/// Returns the length in bytes of the first `count` characters.
fn chars(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// How long a conversation certainly keeps what its model was shown. A compaction that a hook announces ends it in any
/// client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Until one of these texts is in the transcript.
    Session(&'static [&'static str]),
    /// Until the next prompt, or until one of these texts is in the transcript: between turns, the client drops texts
    /// without a trace.
    Turn(&'static [&'static str]),
    /// It may drop a text at any time.
    Unknown,
}

impl Retention {
    /// Returns the texts of a transcript that say that the conversation was shortened.
    pub fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Session(marks) | Self::Turn(marks) => marks,
            Self::Unknown => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_shows_both_ends_of_what_it_cuts() {
        let cut = OwnCut { above: 10, head: 3, tail: 2, around: "cut", ..OwnCut::NONE };
        assert_eq!(cut.parts("0123456789"), ("0123456789", ""));
        assert_eq!(cut.parts("0123456789a"), ("012", "9a"));
        assert_eq!(cut.shown("0123456789a"), "cut\n012\n9a");
        assert_eq!(cut.shown("short"), "short");
        assert_eq!(OwnCut { within: 8, ..cut }.parts("0123456789a"), ("012", "67"));
        assert_eq!(OwnCut { tail: 0, ..cut }.parts("0123456789a"), ("012", ""));
        assert_eq!(OwnCut { head: 8, tail: 8, ..cut }.parts("0123456789a"), ("01234567", "89a"));
        // Clients count as JavaScript does.
        assert_eq!(cut.parts("ää34567890"), ("ää34567890", ""));
        assert_eq!(cut.parts("😀😀34567890"), ("😀😀3", "90"));
    }

    #[test]
    fn a_command_that_fails_is_cut_in_another_way() {
        let shell = Tool::Shell { command: "make".to_owned() };
        let claude = crate::find("claude").unwrap();
        let shown = |failed: bool| {
            let text = "x".repeat(100_000);
            claude.cut(&shell, failed).unwrap().parts(&text).0.len()
        };
        assert_eq!((shown(false), shown(true)), (2_000, 5_000));
        assert!(claude.cut(&Tool::Read { path: "a".to_owned(), part: false }, false).is_none());
    }
}

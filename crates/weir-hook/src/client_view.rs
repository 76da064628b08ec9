//! What a client shows of an output if nothing replaces it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use weir_clients::{Client, Done, Shown, Text, Tool, ToolCall};

use super::Call;

/// How much of an output is counted, in bytes. No client shows more.
const MAX_COUNTED_BYTES: usize = 256 << 10;

/// What a client shows of an output if nothing replaces it.
pub(super) struct ClientView<'a> {
    /// The text, with what the client writes around it.
    pub text: Cow<'a, str>,
    /// Whether the client shows only a part of the output.
    pub is_part: bool,
}

/// The size of a client's view of an output.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedView {
    pub tokens: usize,
    /// Whether the client shows all of the output.
    pub is_whole: bool,
}

impl<'a> ClientView<'a> {
    /// Returns the client's view of the output of a tool call.
    pub(super) fn of(call: &Call<'_>, used: &ToolCall, done: &'a Done) -> Self {
        let output = &done.output;
        if let Shown::Part(part) = &output.shown {
            return Self { text: part.into(), is_part: true };
        }
        let is_part = output.cut || output.saved.is_some();
        let is_cut = is_part || output.shown == Shown::Text;
        let cut = call.client.cut(&used.tool, done.failed).filter(|_| !is_cut);
        let text = match (&output.text, cut) {
            (Text::Here(text), None) => Cow::Borrowed(text.as_str()),
            (Text::Here(text), Some(cut)) => cut.shown(text),
            (long, Some(cut)) => cut.shown(&long.brief()).into_owned().into(),
            (long, None) => call.payload.beginning(long, MAX_COUNTED_BYTES).into(),
        };
        let is_shortened = cut.is_some() && text.len() as u64 != output.text.bytes();
        Self { text, is_part: is_part || is_shortened }
    }

    pub(super) fn of_file(client: Option<&Client>, printed: &Path, failed: bool) -> io::Result<Self> {
        let (mut file, mut bytes) = (File::open(printed)?, Vec::new());
        (&mut file).take(MAX_COUNTED_BYTES as u64).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let cut = client.and_then(|client| client.command_cut(failed));
        let shown = cut.map_or_else(|| text.clone(), |cut| cut.shown(&text).into_owned());
        Ok(Self { is_part: shown.len() as u64 != file.metadata()?.len(), text: shown.into() })
    }

    /// Returns whether a replacement may be longer than the view: never for the output of a command, a search or a
    /// read, but for a result of another tool of which the client shows next to nothing.
    pub(super) fn may_grow(&self, tool: &Tool) -> bool {
        self.is_part && !matches!(tool, Tool::Shell { .. } | Tool::Read { .. } | Tool::Search { .. })
    }

    /// Returns the number of tokens of the view, and whether they are those of the whole output.
    pub(super) fn counted(&self) -> CountedView {
        CountedView { tokens: self.tokens(), is_whole: !self.is_part }
    }

    pub(super) fn tokens(&self) -> usize {
        weir_tokens::count(&self.text)
    }
}

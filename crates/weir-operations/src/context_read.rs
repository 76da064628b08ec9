//! `context_read`: reads a file or some of its lines, and makes it the session's active file.

use std::borrow::Cow;

use weir_context::{Context, LockedStores};
use weir_core::Scope;
use weir_core::unseen::named;
use weir_files::outlining::outline_of;
use weir_files::{Access, Content, Delivery, FileAction, FileLocation, FileUse, LineSelection, Range, Text};
use weir_host::answer::{Answer, counted, fence, name};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::random;
use weir_host::when;
use weir_outline::Level;
use weir_store::SessionFile;

use super::{Declared, Effect};
use crate::schema::silent;

/// A file of up to this many tokens is shown in full; of a larger one, the outline is shown. Hooks use the same limit
/// for what a client's own tool reads.
const MAX_WHOLE_TOKENS: usize = 8_000;

/// Read a project file; unchanged files are not repeated.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextRead {
    /// File to read
    #[schemars(transform = silent)]
    path: String,
    /// 10-40, 10-, -20
    #[serde(default)]
    #[arg(long)]
    lines: Option<String>,
    /// Even if unchanged
    #[serde(default)]
    #[arg(long)]
    again: bool,
}

impl Declared for ContextRead {
    type Context = Context;
    type Data = ReadData;

    const TOOL: &'static str = "context_read";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<ReadData>, CommandError> {
        let range = self.lines.as_deref().map(Range::parse).transpose()?;
        let place = weir_files::permit(context, Self::TOOL, &self.path, Access::Read).await?;
        let (scope, again) = (context.scope(), self.again);
        context.with_stores(move |open| read(open, &scope, &place, range, again)).await
    }
}

/// A file that was read.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ReadData {
    path: String,
    hash: String,
    /// Whether the model now has the complete text.
    whole: bool,
}

fn read(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    place: &FileLocation,
    range: Option<Range>,
    again: bool,
) -> Result<Answer<ReadData>, CommandError> {
    let content = Content::read(place)?;
    let text = content.text(place)?;
    let known = open.project()?.session_file(scope, &place.shown)?;
    let known = known.filter(|known| known.shown && known.hash == content.hash && range.is_none() && !again);
    let file = File { place, content: &content, text: &text };
    let said = match known {
        Some(known) => file.unchanged(&known),
        None => file.shown(range)?,
    };
    let (text, how) = (&text.text, FileAction::Read);
    let given = Some((said.given, weir_tokens::count(&said.text) as u64));
    let seen = FileUse { place, content: &content, text, how, shown: said.whole, given };
    let before = weir_files::keep(open, scope, &seen)?;
    let mut parts = vec![said.text];
    parts.extend(before.as_ref().and_then(held));
    let data = ReadData { path: place.shown.clone(), hash: content.hash, whole: said.whole };
    Ok(Answer::new(parts.join("\n"), data))
}

/// Describes what replaces the file that was active before.
fn held(before: &SessionFile) -> Option<String> {
    before
        .outline_tokens
        .map(|_| format!("{} is now kept as an outline: see context_peek", name(&before.path, usize::MAX)))
}

struct File<'a> {
    place: &'a FileLocation,
    content: &'a Content,
    text: &'a Text<'a>,
}

struct ReadAnswer {
    text: String,
    /// Whether the model now has the complete text.
    whole: bool,
    given: Delivery,
}

impl File<'_> {
    fn head(&self) -> String {
        let lines = counted(self.text.text.lines().count(), "line", "lines");
        let mut head = format!("{}: {lines}, hash {}", self.place.label(), self.content.short_hash());
        if self.text.utf16 {
            head.push_str("; UTF-16, which cannot be edited");
        }
        if self.text.replaced {
            let encoding = if self.text.utf16 { "UTF-16" } else { "UTF-8" };
            head.push_str(&format!("; not {encoding}: invalid bytes are shown as \u{fffd}"));
        }
        if !self.text.text.is_empty() && !self.text.text.ends_with('\n') {
            head.push_str("; no newline at the end");
        }
        if self.text.text.contains("\r\n") {
            head.push_str("; CRLF line endings, which edits keep");
        }
        if matches!(named(&self.text.text), Cow::Owned(_)) {
            head.push_str("; invisible characters are shown by their names, as in <U+200B>");
        }
        head
    }

    fn unchanged(&self, known: &SessionFile) -> ReadAnswer {
        let lines = counted(known.lines as usize, "line", "lines");
        let (path, at, hash) = (self.place.label(), when::show(known.known_at), self.content.short_hash());
        let text = format!("{path} is unchanged since {at} ({lines}, hash {hash}); to see it again: again=true");
        ReadAnswer { text, whole: true, given: Delivery::Unchanged }
    }

    fn shown(&self, range: Option<Range>) -> Result<ReadAnswer, CommandError> {
        let text = named(&self.text.text);
        let part = range.unwrap_or(Range::Between(1, usize::MAX)).of(&text, MAX_WHOLE_TOKENS);
        let whole = range.is_none() && !part.cut;
        if range.is_none()
            && part.cut
            && let Some(outline) = self.outline()?
        {
            return Ok(outline);
        }
        let mut said = self.head();
        if !whole {
            said.push_str(&which(&part, self.place.face));
        }
        // A random mark, which the text cannot contain on purpose.
        let mark = random::mark()?;
        said.push_str(&format!("\n{}", fence(mark, &part.text.replace("\r\n", "\n"))));
        Ok(ReadAnswer { text: said, whole, given: Delivery::Text })
    }

    /// Returns the outline that replaces a file that is too large.
    fn outline(&self) -> Result<Option<ReadAnswer>, CommandError> {
        let (path, text) = (std::path::Path::new(&self.place.shown), &self.text.text);
        let Ok(outline) = outline_of(path, text) else { return Ok(None) };
        let mut outlined = weir_outline::show(&outline, text, Level::Standard);
        if weir_tokens::fit(&outlined.text, MAX_WHOLE_TOKENS) < outlined.text.len() {
            outlined = weir_outline::show(&outline, text, Level::Minimal);
        }
        if outlined.level.is_none() {
            return Ok(None);
        }
        let mark = random::mark()?;
        let (shown, left) = weir_files::whole_lines(&outlined.text, MAX_WHOLE_TOKENS);
        let left = match left {
            0 => String::new(),
            left => format!("; {} not shown", counted(left, "more outline line", "more outline lines")),
        };
        let tokens = weir_tokens::count(text);
        let head = self.head();
        let text = format!(
            "{head}; {tokens} tokens, so this is an outline; lines=10-40 reads a part{left}\n{}",
            fence(mark, shown)
        );
        Ok(Some(ReadAnswer { text, whole: false, given: Delivery::Outline }))
    }
}

/// States which lines are shown, and how to continue.
fn which(part: &LineSelection<'_>, face: Face) -> String {
    match part.last < part.first {
        true => "; no such lines".to_owned(),
        // Otherwise, only whole lines are shown.
        false if part.cut && !part.text.ends_with('\n') => {
            let (line, execute_file) = (part.first, face.execute_file());
            format!("; only the beginning of line {line}, which is too long; process the file with {execute_file}")
        }
        false if part.cut => {
            format!("; lines {}-{}, continue with lines={}-", part.first, part.last, part.last + 1)
        }
        false => format!("; lines {}-{}", part.first, part.last),
    }
}

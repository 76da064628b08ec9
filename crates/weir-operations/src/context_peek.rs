//! `context_peek`: shows files by their interface.

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::{Context, LockedStores};
use weir_core::unseen::named;
use weir_core::{Scope, written_enum};
use weir_files::outlining::outline_of;
use weir_files::{Access, Content, Delivery, FileAction, FileLocation, FileUse, Range};
use weir_host::answer::{Answer, Budget, counted, fence, one_line, size};
use weir_host::choice::Choice;
use weir_host::error::CommandError;
use weir_host::random;
use weir_knowledge::mapping::{self, MapData, MapRequest, Reach};
use weir_outline::{Level, OutlineError};

use super::{Declared, Effect, map};
use crate::schema::silent;

/// The budget of all outlines in an answer, in tokens.
const TOTAL_BUDGET: usize = 6_000;
const MAX_FILES: usize = 20;
/// How many lines are shown of a file in an unknown language.
const HEAD_LINES: usize = 12;

written_enum! {
    /// How much of a file is shown.
    pub enum Detail {
        /// Names.
        Minimal = "minimal",
        /// What it offers, with signatures.
        Standard = "standard",
        /// Private items and documentation too.
        Verbose = "verbose",
    }
}

impl Detail {
    fn level(self) -> Level {
        match self {
            Self::Minimal => Level::Minimal,
            Self::Standard => Level::Standard,
            Self::Verbose => Level::Verbose,
        }
    }
}

/// Outline files: signatures with line numbers. For a folder: its most important files.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextPeek {
    /// Files to outline, or one folder
    #[schemars(transform = silent)]
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<String>,
    /// Level of detail [default: standard]
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long)]
    level: Option<Choice<Detail>>,
}

impl Declared for ContextPeek {
    type Context = Context;
    type Data = PeekData;

    const TOOL: &'static str = "context_peek";
    const COMMAND: Option<&'static str> = Some("outline");
    const EFFECT: Effect = Effect::Reads;
    const EXAMPLES: &'static str = "\
Examples:
  weir outline src/main.rs
  weir outline src/*.py --level minimal
  weir outline src/lib.rs --level verbose
  weir outline src/lib.rs --json

If an outline would not be shorter than the file, the file itself is shown. For a folder, the most important files in \
it are shown.";

    async fn run(self, context: &Context) -> Result<Answer<PeekData>, CommandError> {
        if self.paths.is_empty() || self.paths.len() > MAX_FILES {
            return Err(CommandError::usage(format!("name 1 to {MAX_FILES} files")));
        }
        if let [only] = self.paths.as_slice()
            && super::folder(context, Some(only)).is_ok()
        {
            let folder = map::folder(context, only)?;
            let budget = Budget::new(map::DEFAULT_BUDGET);
            let (reach, focus, query) = (Reach::Folder, Vec::new(), String::new());
            let order = MapRequest { folder, reach, focus, query, budget };
            return Ok(mapping::map(context, order).await?.map(PeekData::Map));
        }
        let mut places = Vec::new();
        for path in &self.paths {
            places.push(weir_files::permit(context, Self::TOOL, path, Access::Read).await);
        }
        // One file that cannot be outlined is not a reason to show none.
        if places.len() == 1 || places.iter().all(Result::is_err) {
            places = vec![Ok(places.swap_remove(0)?)];
        }
        let detail = self.level.map_or(Detail::Standard, |level| level.0);
        let scope = context.scope();
        context.with_stores(move |open| peek(open, &scope, places, detail)).await
    }
}

/// Files by their interface, or the map of a folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PeekData {
    /// The files that could be outlined.
    Files { files: Vec<FileData> },
    /// The map of a folder.
    Map(MapData),
}

/// A file by its interface.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileData {
    path: String,
    hash: String,
    language: Option<&'static str>,
    /// The level of detail of the outline; absent if there is none.
    level: Option<&'static str>,
    lines: usize,
    bytes: usize,
    /// The tokens of the complete file.
    tokens: usize,
    /// The tokens of `text`.
    outline_tokens: usize,
    /// The outline, or the file itself.
    text: String,
}

fn peek(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    places: Vec<Result<FileLocation, CommandError>>,
    detail: Detail,
) -> Result<Answer<PeekData>, CommandError> {
    let only = places.len() == 1;
    let share = TOTAL_BUDGET / places.len().max(1);
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for place in places {
        let looked = place.and_then(|place| look(open, scope, &place, detail, share));
        match looked {
            Ok((text, about)) => {
                texts.push(text);
                files.push(about);
            }
            Err(error) if only => return Err(error),
            Err(error) => texts.push(error.to_string()),
        }
    }
    Ok(Answer::new(texts.join("\n"), PeekData::Files { files }))
}

fn look(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    place: &FileLocation,
    detail: Detail,
    budget: usize,
) -> Result<(String, FileData), CommandError> {
    let content = Content::read(place)?;
    let text = content.text(place)?.text;
    let view = View::of(place, &named(&text), detail, budget);
    let given = if view.level.is_some() { Delivery::Outline } else { Delivery::Text };
    let given = Some((given, weir_tokens::count(&view.text) as u64));
    let seen = FileUse { place, content: &content, text: &text, how: FileAction::Peeked, shown: view.whole, given };
    if scope.session.is_some() {
        weir_files::keep(open, scope, &seen)?;
    }
    let mark = random::mark()?;
    let shown = format!("{}\n{}", view.head, fence(mark, &view.text));
    let about = FileData {
        path: place.shown.clone(),
        lines: text.lines().count(),
        bytes: content.bytes.len(),
        tokens: weir_tokens::count(&text),
        hash: content.hash,
        language: view.language,
        level: view.level,
        outline_tokens: weir_tokens::count(&view.text),
        text: view.text,
    };
    Ok((shown, about))
}

struct View {
    head: String,
    text: String,
    language: Option<&'static str>,
    level: Option<&'static str>,
    /// Whether it is the complete file.
    whole: bool,
}

impl View {
    fn of(place: &FileLocation, text: &str, detail: Detail, budget: usize) -> Self {
        let path = std::path::Path::new(&place.shown);
        let shown = place.label();
        let asked = detail;
        // If a level does not fit, a lower one may.
        let mut details = Detail::ALL.iter().rev().filter(|other| **other <= detail).peekable();
        let outline = match outline_of(path, text) {
            Ok(outline) => outline,
            Err(OutlineError::Unknown) => return Self::head(place, text, "no outline"),
            Err(why) => return Self::head(place, text, &format!("cannot outline: {why}")),
        };
        let language = Some(outline.language);
        while let Some(detail) = details.next() {
            let outlined = weir_outline::show(&outline, text, detail.level());
            let Some(level) = outlined.level else {
                return Self { language, ..Self::text(place, text, budget) };
            };
            let name = level_name(level);
            let said = Self::level_remark(name, asked, *detail);
            let level = Some(name);
            let (fitting, left) = weir_files::whole_lines(&outlined.text, budget);
            let head = match left {
                0 => format!("{shown}:{said}"),
                left => {
                    let left = counted(left, "more outline line", "more outline lines");
                    let and = if said.is_empty() { "" } else { ";" };
                    format!("{shown}:{said}{and} {left} not shown")
                }
            };
            if left == 0 || details.peek().is_none() {
                return Self { head, text: fitting.to_owned(), language, level, whole: false };
            }
        }
        Self::head(place, text, "no outline")
    }

    /// States which level is shown, if it is not the requested one. `tried` is the level that did not fit.
    fn level_remark(shown: &str, asked: Detail, tried: Detail) -> String {
        match (shown == asked.as_str(), tried < asked) {
            (true, _) => String::new(),
            (false, true) => format!(" shown as {shown}, since {asked} does not fit"),
            (false, false) => format!(" shown as {shown}, since {asked} would be almost as long as the file"),
        }
    }

    /// Returns the view of a file whose outline would not be shorter: as many of its lines as fit.
    fn text(place: &FileLocation, text: &str, budget: usize) -> Self {
        let (shown, read_on) = (place.label(), place.face.word("", ", read more with context_read lines"));
        let part = Range::Between(1, usize::MAX).of(text, budget);
        let head = match part.cut {
            false => format!("{shown}: whole file, since an outline would not be shorter"),
            true => {
                let (last, lines) = (part.last, counted(text.lines().count(), "line", "lines"));
                format!("{shown}: lines 1-{last} of {lines}, since an outline would not be shorter{read_on}")
            }
        };
        Self { head, text: part.text.to_owned(), language: None, level: None, whole: !part.cut }
    }

    /// Returns the view of a file without an outline.
    fn head(place: &FileLocation, text: &str, why: &str) -> Self {
        let (shown, read_on) = (place.label(), place.face.word("", ", read more with context_read lines"));
        let lines = text.lines().count();
        let first: Vec<String> = text.lines().take(HEAD_LINES).map(|line| one_line(line, 200)).collect();
        let whole = lines <= HEAD_LINES && first.iter().map(String::as_str).eq(text.lines());
        let (count, bytes) = (counted(lines, "line", "lines"), size(text.len() as u64));
        let head = match whole {
            true => format!("{shown}: {count}, {bytes}"),
            false => format!("{shown}: {count}, {bytes}, {why}; beginning only{read_on}"),
        };
        Self { head, text: first.join("\n"), language: None, level: None, whole }
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Minimal => Detail::Minimal.as_str(),
        Level::Standard => Detail::Standard.as_str(),
        Level::Verbose => Detail::Verbose.as_str(),
    }
}

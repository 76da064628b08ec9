//! `context_status`: lists the files of the session.

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::{Context, LockedStores};
use weir_files::FileSavings;
use weir_host::answer::{Answer, Budget, counted, fit_items, size};
use weir_host::error::CommandError;
use weir_store::SessionFile;

use super::context_forget::{ContextForget, ForgottenFiles};
use super::{Declared, Effect};

/// The budget of an answer, in tokens.
const MAX_TOKENS: u32 = 1_000;

/// List this session's files.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextStatus {
    /// A file to forget, or `all`
    #[serde(default)]
    forget: Option<String>,
}

impl Declared for ContextStatus {
    type Context = Context;
    type Data = StatusData;

    const TOOL: &'static str = "context_status";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Adds;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<StatusData>, CommandError> {
        if let Some(path) = self.forget.filter(|path| !path.is_empty()) {
            let forget = ContextForget { path: (path != "all").then_some(path) };
            return Ok(forget.run(context).await?.map(StatusData::Forgotten));
        }
        let scope = context.scope();
        let read = move |open: &mut LockedStores<'_>| {
            let store = open.project()?;
            Ok((store.session_files(&scope)?, FileSavings::of(&store.file_events(&scope)?)))
        };
        let (files, spared) = context.with_stores(read).await?;
        if files.is_empty() {
            return Ok(Answer::nothing(
                "no files were read in this session".to_owned(),
                StatusData::Files { files: Vec::new(), savings: None },
            ));
        }
        Ok(answer(&files, &spared))
    }
}

fn answer(files: &[SessionFile], spared: &FileSavings) -> Answer<StatusData> {
    let lines: Vec<String> = files.iter().map(line).collect();
    let (text, _) = fit_items(&head(spared), &lines, Budget::new(MAX_TOKENS), |shown| match files.len() - shown {
        0 => String::new(),
        more => format!("{more} more"),
    });
    let savings = Some(SavingsData::of(spared));
    let files = files.iter().map(FileData::of).collect();
    Answer::new(text, StatusData::Files { files, savings })
}

/// The files of a session, or how many it forgot.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StatusData {
    /// The files of the session.
    Files {
        files: Vec<FileData>,
        /// Present if there are files.
        #[serde(flatten)]
        savings: Option<SavingsData>,
    },
    /// How many files were forgotten.
    Forgotten(ForgottenFiles),
}

/// One file of the session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileData {
    path: String,
    /// Whether it is the file that the session read last.
    active: bool,
    bytes: u64,
    lines: u64,
    tokens: u64,
    outline_tokens: Option<u64>,
    /// How often the session changed it.
    edits: u64,
    hash: String,
}

/// What reading cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SavingsData {
    reads: ReadsData,
    peeked: PeekedData,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ReadsData {
    given_tokens: u64,
    without_tokens: u64,
    saved_tokens: u64,
    saved_percent: u64,
    unchanged: UnchangedData,
    outlined: OutlinedData,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnchangedData {
    reads: usize,
    saved_tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutlinedData {
    files: usize,
    saved_tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PeekedData {
    outline_tokens: u64,
    whole_tokens: u64,
}

impl SavingsData {
    fn of(spared: &FileSavings) -> Self {
        let FileSavings { given, without, unchanged, outlined, peeked } = *spared;
        let reads = ReadsData {
            given_tokens: given,
            without_tokens: without,
            saved_tokens: without - given,
            saved_percent: spared.percent(),
            unchanged: UnchangedData { reads: unchanged.0, saved_tokens: unchanged.1 },
            outlined: OutlinedData { files: outlined.0, saved_tokens: outlined.1 },
        };
        Self { reads, peeked: PeekedData { outline_tokens: peeked.0, whole_tokens: peeked.1 } }
    }
}

/// Describes what reading cost, as far as it was recorded.
fn head(spared: &FileSavings) -> String {
    let FileSavings { given, without, unchanged, outlined, peeked } = spared;
    let mut said = Vec::new();
    if *given > 0 {
        let mut line = format!("reads: {given} tokens, {without} without Weir, {} % saved", spared.percent());
        let mut ways = Vec::new();
        if unchanged.0 > 0 {
            ways.push(format!("{} by {} not repeated", unchanged.1, counted(unchanged.0, "read", "reads")));
        }
        if outlined.0 > 0 {
            ways.push(format!("{} by {}", outlined.1, counted(outlined.0, "outline", "outlines")));
        }
        if !ways.is_empty() {
            line.push_str(&format!(": {}", ways.join(", ")));
        }
        said.push(line);
    }
    if peeked.1 > 0 {
        said.push(format!("shown as outlines: {} of {} tokens", peeked.0, peeked.1));
    }
    said.join("\n")
}

fn line(file: &SessionFile) -> String {
    let state = match (file.active, file.outline_tokens, file.was_read) {
        (true, ..) => "active",
        (false, Some(_), _) => "outlined",
        (false, None, true) => "read",
        (false, None, false) => "peeked",
    };
    let outline = file.outline_tokens.map(|tokens| format!(", outline {tokens}")).unwrap_or_default();
    let edits = match file.edits {
        0 => String::new(),
        edits => format!(", {}", counted(edits as usize, "edit", "edits")),
    };
    format!("{state} {}: {}, {} tokens{outline}{edits}", file.path, size(file.bytes), file.tokens)
}

impl FileData {
    fn of(file: &SessionFile) -> Self {
        Self {
            path: file.path.clone(),
            active: file.active,
            bytes: file.bytes,
            lines: file.lines,
            tokens: file.tokens,
            outline_tokens: file.outline_tokens,
            edits: file.edits,
            hash: file.hash.clone(),
        }
    }
}

//! `ctx_execute`: runs code in the sandbox.

use std::time::Duration;

use weir_context::Context;
use weir_core::Reference;
use weir_core::wording::quoted;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::os;
use weir_run::{Attendance, LayerWish, MAX_TIMEOUT, RunData, RunRequest};
use weir_runner::runtimes::{LANGUAGES, Language};

use super::{Declared, Effect, Listing};
use crate::needs::KnowledgeContext;
use crate::references;
use crate::schema::silent;

/// The default time limit of a background run.
const MAX_BACKGROUND_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Run code in a sandbox: only the project is writable, no network. Long output is returned as a digest and a
/// reference.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Execute {
    /// Code to run; shell commands by default
    #[schemars(transform = silent)]
    #[arg(value_name = "CODE", required_unless_present = "end", num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    #[serde(default, deserialize_with = "one_text")]
    #[schemars(with = "String")]
    code: Vec<String>,
    /// shell (default), python, javascript, typescript, ruby, go, rust, php, perl, r, elixir
    #[serde(default)]
    #[arg(long, short, value_name = "LANGUAGE")]
    language: Option<String>,
    /// What to look for in long output
    #[serde(default)]
    #[arg(long, value_name = "WORDS", conflicts_with = "background")]
    intent: Option<String>,
    /// Seconds
    #[serde(default)]
    #[arg(
        long,
        value_name = "SECONDS",
        help = "End the run after this many seconds [default: no limit; for a model 50, or as configured]"
    )]
    timeout: Option<u32>,
    /// Process this file: FILE_CONTENT holds its text and FILE_PATH its path
    #[serde(skip)]
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Show what the run would change in the project, and change nothing
    #[serde(skip)]
    #[arg(long, conflicts_with = "background")]
    dry: bool,
    /// Whether changes are checked before they are live, and can be undone [default: as configured]
    #[serde(skip)]
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["background", "dry"], value_parser = ["on", "off"])]
    layer: Option<String>,
    /// Return immediately
    #[serde(default)]
    #[arg(long)]
    background: bool,
    /// Keep a background run alive after the session ends
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, requires = "background")]
    keep: bool,
    /// Background run to end
    #[serde(default)]
    #[arg(long, value_name = "REF", conflicts_with_all = ["code", "language", "intent", "timeout", "file", "dry", "layer", "background", "keep", "cwd"])]
    end: Option<String>,
    /// Folder to run in
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,
}

impl Declared for Execute {
    type Context = Context;
    type Data = ExecuteData;

    const TOOL: &'static str = weir_run::TOOL;
    const COMMAND: Option<&'static str> = Some("run");
    const EFFECT: Effect = Effect::Runs;
    const ABOUT: Option<&'static str> =
        Some("Run a command or code in a sandbox: only the project is writable, no network");
    const LISTING: Listing = Listing::Core;
    const EXAMPLES: &'static str = "\
Examples:
  weir run 'cargo test 2>&1 | tail -5'
  weir run -- cargo test --workspace
  weir run -l python 'print(2 ** 64)'
  weir run --intent 'why does login fail' -- cargo test
  weir run --background 'npm run dev'; weir run --end k7f2m9q4xz
  weir run --dry 'sed -i s/colour/color/ src/*.c'
  weir run --layer on -- ./configure; weir undo
  weir run -l python --file app.log 'print(FILE_CONTENT.count(\"x\"))'

On a terminal, the output is shown while it arrives; in a pipe, long output is a digest with a reference. Standard \
input is passed on. `weir runs` lists the runs in the background. Exits with \
the exit code of the code it ran: 124 after a timeout, 128 plus the signal number if a signal ended it, 125 if Weir \
itself failed or ended it, 126 if the rules or the sandbox did not let it start.";

    /// Joins several words from a shell into one command, quoted so that its meaning is the same.
    fn adapt_from_shell(mut self) -> Result<Self, CommandError> {
        if self.code.len() > 1 {
            self.code = vec![self.code.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")];
        }
        Ok(self)
    }

    async fn run(self, context: &Context) -> Result<Answer<ExecuteData>, CommandError> {
        if let Some(reference) = &self.end {
            return end(context, reference).await;
        }
        if self.code.concat().trim().is_empty() {
            return Err(CommandError::usage("no code to run")
                .hint(context.face().word("pass it as an argument", "pass it in `code`")));
        }
        let order = RunRequest {
            language: language(self.language.as_deref())?,
            code: self.code.concat(),
            file: self.file.as_deref().map(|path| super::file(context, path)).transpose()?,
            folder: super::folder(context, self.cwd.as_deref())?,
            timeout: timeout(
                context,
                self.timeout,
                if self.background { MAX_BACKGROUND_TIMEOUT } else { MAX_TIMEOUT },
            )?,
            source: None,
            layer: match self.layer.as_deref() {
                _ if self.dry => LayerWish::Dry,
                Some("on") => LayerWish::Layer,
                Some(_) => LayerWish::Direct,
                None => LayerWish::Configured,
            },
        };
        if self.background {
            // A command in a shell ends immediately, and its session with it.
            let kept = self.keep || context.face().is_person();
            let timeout = self.timeout.map_or(MAX_BACKGROUND_TIMEOUT, |_| order.timeout);
            return Ok(started(
                weir_run::background::start(context, RunRequest { timeout, ..order }, kept).await?,
                kept,
                context.face(),
            ));
        }
        // A caller that asks for parts of the output does not want to watch all of it.
        let live = context.live_output().filter(|_| self.intent.is_none()).cloned();
        let is_live = live.is_some();
        let input = if context.is_for_person() { os::standard_input() } else { None };
        let terminal = input.as_ref().and_then(os::TerminalMode::of);
        let done = weir_run::run_attended(context, order, Attendance { live, input }).await;
        terminal.iter().for_each(os::TerminalMode::restore);
        let done = done?;
        let answer = match is_live {
            true => weir_run::answer_after_live(&done)?,
            false => weir_run::answer(&done, self.intent.as_deref())?,
        };
        Ok(answer.map(ExecuteData::Ran))
    }
}

/// A run: finished, started in the background, or about to end.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(crate) enum ExecuteData {
    /// The run is over.
    Ran(RunData),
    /// The run was started in the background.
    Started {
        /// The reference under which its output can be read, now and later.
        reference: String,
        /// Whether it lives on after the session.
        kept: bool,
    },
    /// A background run was ended, or is about to end.
    Ending {
        /// The reference under which its output is kept.
        reference: String,
    },
}

fn started(reference: Reference, kept: bool, face: Face) -> Answer<ExecuteData> {
    let life = if kept { "until you end it" } else { "until this session ends" };
    let end = face.word("`weir run --end`", "`end`");
    let text = format!("started {reference}, runs {life}; read it with {}, end it with {end}", face.get());
    Answer::new(text, ExecuteData::Started { reference: reference.to_string(), kept })
}

async fn end(context: &Context, reference: &str) -> Result<Answer<ExecuteData>, CommandError> {
    let reference = references::resolve(&KnowledgeContext::of(context), reference).await?;
    let here = context.clone();
    let ended = tokio::task::spawn_blocking(move || weir_run::background::end(&here, reference)).await;
    let text = match ended.map_err(|error| CommandError::broken(&error.to_string()))?? {
        true => format!("ended {reference}; its output is kept under the same reference"),
        false => format!("ending {reference}; its output will be kept under the same reference"),
    };
    Ok(Answer::new(text, ExecuteData::Ending { reference: reference.to_string() }))
}

/// Returns the language with this name, or the shell if there is no name.
pub(super) fn language(name: Option<&str>) -> Result<&'static Language, CommandError> {
    let name = name.unwrap_or("shell");
    Language::find(name).ok_or_else(|| {
        let known = LANGUAGES.iter().map(|language| language.name).collect::<Vec<_>>().join(", ");
        CommandError::usage(format!("cannot run `{name}`: unknown language"))
            .hint(format!("supported languages: {known}"))
    })
}

/// Returns the time limit of a run, at most `longest`. A longer one was probably meant in milliseconds, which other
/// tools use.
pub(super) fn timeout(context: &Context, seconds: Option<u32>, longest: Duration) -> Result<Duration, CommandError> {
    // A person can see how long it takes, and end it.
    let is_for_person = context.is_for_person();
    let longest = if is_for_person { MAX_BACKGROUND_TIMEOUT } else { longest };
    let Some(seconds) = seconds else {
        return Ok(if is_for_person { weir_run::NO_TIMEOUT } else { context.config().run.timeout.min(longest) });
    };
    let asked = Duration::from_secs(u64::from(seconds.max(1)));
    if asked > longest {
        let message = format!("cannot run for {seconds} seconds: the limit is {} seconds", longest.as_secs());
        let (timeout, equals) = (context.face().option("timeout"), context.face().word("--timeout ", "timeout="));
        let meant = seconds.div_ceil(1_000);
        let hint = format!("{timeout} is in seconds; for {seconds} milliseconds use {equals}{meant}");
        return Err(CommandError::usage(message).hint(hint));
    }
    Ok(asked)
}

fn one_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    serde::Deserialize::deserialize(from).map(|text: String| vec![text])
}

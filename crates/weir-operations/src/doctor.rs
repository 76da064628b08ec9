//! `ctx_doctor`: checks the installation, and suggests a fix for every problem. Invariant: a check creates no store,
//! and changes one only if the order asks for it.

mod counts;
mod deferral;
mod gateway;
pub(crate) mod memory;
mod outputs;
mod parts;
mod rules;
mod servers;
mod store;
mod tracked;

use std::path::Path;
use std::time::Duration;

use weir_context::{Context, LockedStores};
use weir_core::Level;
use weir_core::wording::quoted;
use weir_files::outlining;
use weir_hook::faults;
use weir_host::answer::{Answer, counted, one_line};
use weir_host::error::CommandError;
use weir_host::os;
use weir_host::project::Project;
use weir_host::scratch::cannot_use;
use weir_host::switch::{Off, Switch};
use weir_host::when;
use weir_knowledge::identity;
use weir_knowledge::moved;
use weir_run::health;
use weir_setup::health as clients;
use weir_store::{Depth, HookUse, KnownProject, Patience, Spool, StoreError, StorePart};

use super::{Declared, Effect};
use crate::schema::silent;
pub use parts::counted_parts;

/// How long a check waits for another process.
const STORE_WAIT: Duration = Duration::from_secs(1);
/// How long a check waits for git.
const GIT_WAIT: Duration = Duration::from_secs(2);

/// Check the Weir installation and suggest fixes.
#[derive(Debug, Clone, Copy, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Doctor {
    /// Rebuild the search index from the log
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long)]
    rebuild_index: bool,
    /// Read every stored text and compare it with its hash
    #[schemars(skip)]
    #[serde(skip)]
    #[arg(long)]
    deep: bool,
    /// Remove entries whose text is lost
    #[schemars(skip)]
    #[serde(skip)]
    #[arg(long)]
    drop_lost: bool,
    /// Start each MCP server in your clients' settings once, and count the tokens of its tool descriptions
    #[schemars(skip)]
    #[serde(skip)]
    #[arg(long)]
    mcp: bool,
}

impl Declared for Doctor {
    type Context = Context;
    type Data = DoctorData;

    const TOOL: &'static str = "ctx_doctor";
    const COMMAND: Option<&'static str> = Some("doctor");
    const EFFECT: Effect = Effect::Adds;
    const EXAMPLES: &'static str = "\
Examples:
  weir doctor
  weir doctor --rebuild-index
  weir doctor --deep
  weir doctor --mcp
  weir doctor --json

Exits with 3 if something is wrong. Repairs nothing without --rebuild-index or --drop-lost. Nothing leaves this \
machine, unless a server that --mcp starts sends it.";

    async fn run(self, context: &Context) -> Result<Answer<DoctorData>, CommandError> {
        let here = context.clone();
        let runs = tokio::task::spawn_blocking(move || (check_runs(&here, self.mcp), repository(&here))).await;
        let (runs, repository) = runs.map_err(|error| CommandError::broken(&error.to_string()))?;
        let here = context.clone();
        let repaired = match self.repairs() {
            true => context.with_stores(move |open| patiently(open, |open| Ok(repair(open, &here, &self)))).await?,
            false => Vec::new(),
        };
        let here = context.clone();
        let look = context.with_stores_as_is();
        look.with_stores(move |open| {
            patiently(open, |open| {
                let runs = check_repository(open, repository).into_iter().chain(runs).collect();
                Ok(examine(open, &here, Findings { runs, repaired }, self.depth()))
            })
        })
        .await
    }
}

impl Doctor {
    /// Whether the order asks for more than a look.
    fn repairs(&self) -> bool {
        self.rebuild_index || self.drop_lost
    }

    fn depth(&self) -> Depth {
        if self.deep { Depth::Deep } else { Depth::Quick }
    }
}

/// Runs work on the stores that waits only a moment for other processes: diagnosing a problem must not wait for it.
fn patiently<T>(
    open: &mut LockedStores<'_>,
    work: impl FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    open.set_patience(Patience::Each(STORE_WAIT))?;
    let result = work(open);
    open.set_patience(Patience::default())?;
    result
}

/// What was found before the stores are looked at.
struct Findings {
    /// The repository, the sandbox, the languages and the servers.
    runs: Vec<Check>,
    /// What the order asked to repair.
    repaired: Vec<Check>,
}

/// The stores by the names that the report has for them.
const STORES: [(&str, Level); 2] = [("project store", Level::Project), ("user store", Level::User)];

/// Repairs the stores that exist, as the order asks.
fn repair(open: &mut LockedStores<'_>, context: &Context, order: &Doctor) -> Vec<Check> {
    let stores = STORES.into_iter().filter(|(_, level)| open.has(*level).unwrap_or(false)).collect::<Vec<_>>();
    stores.into_iter().flat_map(|(name, level)| store::repair(open, context, name, level, order)).collect()
}

/// The report.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct DoctorData {
    checks: Vec<Check>,
}

/// One line of the report.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct Check {
    name: &'static str,
    good: bool,
    text: String,
    /// What to do about a problem.
    fix: Option<String>,
    /// Whether nothing was checked, so that the line is neither good nor bad.
    #[serde(skip)]
    is_remark: bool,
}

impl Check {
    fn good(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, good: true, text: text.into(), fix: None, is_remark: false }
    }

    fn remark(name: &'static str, text: impl Into<String>) -> Self {
        Self { is_remark: true, ..Self::good(name, text) }
    }

    fn wrong(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { good: false, fix: Some(fix.into()), ..Self::good(name, text) }
    }

    fn bad(name: &'static str, error: impl Into<CommandError>) -> Self {
        let error = error.into();
        Self { good: false, fix: error.hints.into_iter().next(), ..Self::good(name, error.message) }
    }
}

impl From<clients::Finding> for Check {
    fn from(found: clients::Finding) -> Self {
        Self { good: found.good, fix: found.fix, ..Self::good(found.title, found.text) }
    }
}

/// Returns the project with the identity of its repository, if that can be determined.
fn repository(context: &Context) -> Option<KnownProject> {
    let identity = identity::of(context, context.project(), GIT_WAIT).ok()?;
    Some(KnownProject { identity: Some(identity), ..context.project().as_known(when::now()) })
}

/// Reports the identity of the repository. If the project has a store, the identity is remembered for later
/// suggestions.
fn check_repository(open: &mut LockedStores<'_>, known: Option<KnownProject>) -> Option<Check> {
    let known = known?;
    let has = |open: &mut LockedStores<'_>, level| open.has(level).unwrap_or(false);
    if has(open, Level::Project) && has(open, Level::User) {
        let _ = open.user().map(|user| user.remember_project(&known));
    }
    Some(Check::good("repository", known.identity?.to_string()))
}

fn describe_project(project: &Project) -> String {
    let root = project.root.display();
    match project.shared() {
        Some(shared) => format!("{root}, with the store of {} (`weir adopt --undo` ends that)", shared.root),
        None => root.to_string(),
    }
}

/// Checks whether code can be run and in which sandbox, and which MCP servers the user has.
fn check_runs(context: &Context, starts_servers: bool) -> Vec<Check> {
    let sandbox = match health::sandbox(context) {
        Ok(text) => Check::good("sandbox", text),
        Err(error) => Check::bad("sandbox", error),
    };
    let parsers = match outlining::fences() {
        Ok(text) => Check::good("parsers", text),
        Err(why) => Check::wrong(
            "parsers",
            format!("unavailable: {why}"),
            "until it works, files are shown by their first lines",
        ),
    };
    let mut checks = vec![sandbox, parsers, Check::good("languages", health::languages(context))];
    match health::in_background(context) {
        0 => {}
        count => checks.push(Check::good("background runs", count.to_string())),
    }
    checks.extend(tracked::check(context));
    checks.extend(servers::check(context, starts_servers));
    checks.extend(gateway::check(context));
    checks.extend(deferral::check(context));
    checks
}

fn examine(open: &mut LockedStores<'_>, context: &Context, found: Findings, depth: Depth) -> Answer<DoctorData> {
    let mut checks = vec![check_switch(context)];
    checks.extend(context.config_problem().map(|problem| Check::bad("configuration", problem.clone())));
    checks.extend([
        Check::good("project", describe_project(context.project())),
        check_modes(&context.paths().data),
        check_meaning(context),
    ]);
    checks.extend(found.runs);
    checks.extend(clients::clients(context).into_iter().map(Check::from));
    checks.extend(memory::check(context));
    checks.extend(rules::check(context, open));
    checks.extend(check_hooks(open, context));
    checks.extend(outputs::check(open));
    checks.extend(check_spool(context));
    checks.extend(check_team(context));
    checks.extend(moved::hint(context, open).map(|hint| Check::good("adopt", hint)));
    checks.extend(found.repaired);
    for (name, level) in STORES {
        checks.extend(store::check(open, context, name, level, depth));
    }
    let data = DoctorData { checks };
    let text = data.text();
    let all_good = data.checks.iter().all(|check| check.good);
    if all_good { Answer::new(text, data) } else { Answer::nothing(text, data) }
}

impl DoctorData {
    fn text(&self) -> String {
        let lines = self.checks.iter().map(|check| {
            let mark = match (check.is_remark, check.good) {
                (true, _) => "–",
                (false, true) => "✓",
                (false, false) => "✗",
            };
            // A path with a line end must not look like another check.
            let line = |text: &str| one_line(text, usize::MAX);
            let fix = check.fix.as_deref().map(|fix| format!("\n  fix: {}", line(fix))).unwrap_or_default();
            format!("{mark} {}: {}{fix}", check.name, line(&check.text))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Names the version, and says if Weir is off.
fn check_switch(context: &Context) -> Check {
    let off = Switch::read(context.paths()).all_off(context.project(), &context.env().folder);
    let places: Vec<String> = off.iter().map(Off::place).collect();
    let text = format!("{}, {}", env!("CARGO_PKG_VERSION"), places.join(", "));
    match off.first() {
        None => Check::good("weir", env!("CARGO_PKG_VERSION")),
        Some(unknown @ Off::Unknown(_)) => Check::wrong("weir", text, unknown.remedy()),
        Some(first) => Check::remark("weir", format!("{text}; {}", first.remedy())),
    }
}

fn check_meaning(context: &Context) -> Check {
    const NAME: &str = "semantic search";
    match (context.knowledge().model_problem(), context.knowledge().model()) {
        (Some(problem), _) => Check::wrong(
            NAME,
            one_line(problem, 300),
            "check `[search]` in the configuration; keyword search still works",
        ),
        (None, Some(model)) => Check::good(NAME, model.name()),
        (None, None) => Check::good(NAME, "off"),
    }
}

/// Reports when hooks last ran, and what went wrong in them.
fn check_hooks(open: &mut LockedStores<'_>, context: &Context) -> Vec<Check> {
    let seen = open.project().and_then(|store| Ok(store.hooks_seen()?)).unwrap_or_default();
    let shown = |seen: &HookUse| {
        let (at, millis) = (when::show(seen.at), seen.micros as f64 / 1e3);
        format!("{} {} at {at} in {millis:.1} ms ({} total)", seen.client, seen.event, seen.count)
    };
    let mut checks = Vec::new();
    if !seen.is_empty() {
        checks.push(Check::good("last hooks", seen.iter().map(shown).collect::<Vec<_>>().join("; ")));
    }
    let log = faults::path(context.paths());
    let faults = faults::read(context.paths()).unwrap_or_else(|error| {
        checks.push(Check::bad("hook failures", cannot_use(&log, &error)));
        Vec::new()
    });
    if let Some(last) = faults.last() {
        checks.push(Check::wrong(
            "hook failures",
            format!("{}, last: {last}", counted(faults.len(), "failure", "failures")),
            format!("after investigating, remove the log: rm {}", shell_word(&log)),
        ));
    }
    checks
}

/// Says whether the spool contains data that hooks could not write to the log. That is a problem only if the log cannot
/// be written or the data cannot be read.
fn check_spool(context: &Context) -> Vec<Check> {
    const NAME: &str = "spool";
    let spool = Spool::beside(&context.project_folder());
    let (waiting, damaged) = match spool.waiting() {
        Ok(counts) => counts,
        Err(error) => return vec![Check::bad(NAME, CommandError::from(error).in_store(&context.project_folder()))],
    };
    let mut checks = Vec::new();
    if waiting > 0 {
        let text = counted(waiting, "record from hooks waits", "records from hooks wait");
        checks.push(Check::good(NAME, format!("{text} for the next command that can write to the log")));
    }
    if damaged > 0 {
        let text = counted(damaged, "record from hooks is damaged", "records from hooks are damaged");
        checks.push(Check::wrong(
            NAME,
            text,
            format!("after investigating, remove them: rm {}/*.unreadable", shell_word(spool.folder())),
        ));
    }
    checks
}

fn shell_word(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Says what is shared with a team, with whom, and how old it is.
fn check_team(context: &Context) -> Option<Check> {
    const NAME: &str = "team";
    match weir_sync::standing(&context.project_folder()) {
        Ok(None) => None,
        Ok(Some(shared)) => Some(match shared.is_good {
            true => Check::good(NAME, shared.text),
            false => Check::wrong(NAME, shared.text, "run `weir sync` to see more"),
        }),
        Err(error) => Some(Check::bad(NAME, error)),
    }
}

/// Checks that only the user can read the data folder, which records what the user did.
fn check_modes(data: &Path) -> Check {
    match data.metadata() {
        Ok(about) if os::is_open_to_others(&about) => Check::wrong(
            "data folder",
            format!("{} is readable by other users", data.display()),
            format!("chmod -R go= {}", shell_word(data)),
        ),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let unusable = StoreError::unusable(StorePart::Folder, &error);
            Check::bad("data folder", CommandError::from(unusable).in_store(data))
        }
        _ => Check::good("data folder", data.display().to_string()),
    }
}

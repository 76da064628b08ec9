//! Decides the environment of a run: what it sees, what it may change, and which variables it gets.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_context::Context;
use weir_context::permission;
use weir_host::config;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::random;
use weir_runner::runtimes::{Found, Plan};
use weir_runner::{Caps, EGRESS_PORT, Level, Network, Problem, Spec};
use weir_store::private;

use super::outside::{self, OutsideAccess};
use super::{RunRequest, homes, masks, modules};

/// The folder of the code inside a full sandbox, in its private `/tmp`.
const SCRATCH: &str = "/tmp/weir-run";
/// Where programs are searched for if `PATH` is not set.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// By default, a run may use the machine's memory divided by this.
const SHARE_OF_MEMORY: u64 = 4;

/// Variables that tell tools that there is no network, so that they fail immediately instead of trying for a minute.
const OFFLINE: &[(&str, &str)] = &[
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
    ("npm_config_fetch_retries", "0"),
    ("npm_config_audit", "false"),
    ("npm_config_update_notifier", "false"),
    ("PIP_RETRIES", "0"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
];

pub(super) struct RunEnvironment {
    pub spec: Spec,
    /// What the run may reach outside.
    pub outside: Arc<OutsideAccess>,
    /// Remarks for the caller.
    pub remarks: Vec<String>,
}

/// Returns the `PATH` of runs.
pub fn search_path(context: &Context) -> OsString {
    let path = context.env().for_runs().find(|(name, _)| name == "PATH");
    path.map_or_else(|| USUAL_PATH.into(), |(_, path)| path.clone())
}

/// Decides the environment of a run that may change the [`writable`] folders.
pub(super) fn prepare(
    context: &Context,
    order: &RunRequest,
    found: &Found,
    writable: &[PathBuf],
) -> Result<RunEnvironment, CommandError> {
    let level = match context.config().sandbox {
        config::Sandbox::Off => Level::None,
        config::Sandbox::Seatbelt => Level::Seatbelt,
        _ => Level::Full,
    };
    let scratch = match level {
        Level::Full => PathBuf::from(SCRATCH),
        _ => new_scratch(context)?,
    };
    let root = &context.project().root;
    let mut remarks = Vec::new();
    if !writable.contains(root) {
        let root = root.display();
        remarks.push(format!(
            "{root} is not a project but contains the home folder: runs can change nothing in it and see only toolchains"
        ));
    }
    let Plan { files, steps, env, cache } = found.plan(&order.code, order.file.as_deref(), &scratch);
    let rules = permission::rules(context);
    let masks = masks::masks(context, &rules, &order.folder)?;
    remarks.extend(masks.remark);
    let homes = homes::seen(context, &rules, order, found, writable);
    homes::check_folder(context, &homes, writable, &order.folder)?;
    if let Some(file) = &order.file {
        homes::check_file(context, &homes, writable, file)?;
    }
    remarks.extend(homes::remark(context, &homes, writable, order));
    let cache_folder = cache_folder(context);
    let outside = OutsideAccess::of(context, order)?;
    let stand_ins = scratch.join("bin");
    let tools = if outside.has_tools() { modules::files(&scratch) } else { Vec::new() };
    let variables = Variables { outside: &outside, stand_ins: &stand_ins, cache: cache_folder.as_deref() };
    let spec = Spec {
        level,
        network: outside.network(),
        steps,
        environment: variables.all(context, env, cache, level),
        folder: order.folder.clone(),
        files: files.into_iter().chain(outside.stand_ins(&stand_ins)).chain(tools).collect(),
        visible: homes.shown.into_iter().chain(order.file.clone()).collect(),
        covered: homes.covered,
        links: homes.links,
        read_only: masks.read_only.into_iter().chain(masks::own_places(context, writable)).collect(),
        hidden: masks.hidden,
        programs: masks.programs,
        scratch: (level != Level::Full).then_some(scratch),
        caps: caps(context),
        overlay: None,
        writable: writable.iter().cloned().chain(cache_folder.clone()).collect(),
    };
    Ok(RunEnvironment { spec, outside: Arc::new(outside), remarks })
}

impl RunEnvironment {
    /// Falls back to the Landlock level because the full level is not available here.
    pub(super) fn fall_back_to_landlock(&mut self, context: &Context, problem: &Problem) -> Result<(), CommandError> {
        let scratch = new_scratch(context)?;
        let moved =
            |path: &Path| path.strip_prefix(SCRATCH).map_or_else(|_| path.to_owned(), |rest| scratch.join(rest));
        let text = |word: &OsString| match word.to_str() {
            Some(word) => OsString::from(word.replace(SCRATCH, &scratch.to_string_lossy())),
            None => word.clone(),
        };
        self.spec.level = Level::Landlock;
        if self.spec.network == Network::Listeners {
            self.spec.network = Network::Off;
        }
        self.spec.files.iter_mut().for_each(|(path, _)| *path = moved(path));
        self.spec.steps.iter_mut().flatten().for_each(|word| *word = text(word));
        self.spec.environment.iter_mut().for_each(|(_, value)| *value = text(value));
        self.spec.environment.retain(|(name, _)| name != "TMPDIR");
        self.spec.environment.push(("TMPDIR".into(), scratch.clone().into()));
        self.spec.scratch = Some(scratch);
        let why = format!("no full sandbox here (cannot {}: {})", problem.step, problem.why);
        self.remarks.push(format!("{why}: files are protected by Landlock; no network, not even loopback{}", open()));
        Ok(())
    }
}

/// Describes what the Landlock of an older kernel leaves open in addition to what the documentation lists.
fn open() -> &'static str {
    match weir_runner::landlock_version() {
        Ok(version) if version >= 6 => "",
        _ => "; it can signal your other processes, which Linux 6.12 prevents",
    }
}

/// Returns the folders that a run may change: those that the user named, and the project unless it contains the home
/// folder.
pub(super) fn writable(context: &Context) -> Vec<PathBuf> {
    let home = context.env().home.as_deref();
    let project = (!permission::holds_home(context)).then(|| context.project().root.clone());
    let named = context.config().run.writable.iter().map(|path| from_home(path, home));
    project.into_iter().chain(named.filter_map(|path| path.canonicalize().ok())).collect()
}

/// Expands `~` in a path that the user wrote.
pub(super) fn from_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Returns the folder in which tools keep data between runs. It belongs to the project and only runs use it, so nothing
/// that a run leaves there is ever used outside a sandbox.
fn cache_folder(context: &Context) -> Option<PathBuf> {
    let folder = context.paths().cache.join("runs").join(context.project().own_folder_name());
    private::folder(&folder).ok()?;
    folder.canonicalize().ok()
}

pub fn new_scratch(context: &Context) -> Result<PathBuf, CommandError> {
    let folder = context.paths().cache.join("scratch").join(random::name()?);
    let made = private::folder(&folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| {
        CommandError::new(ErrorKind::Failed, format!("cannot create {}: {error}", folder.display()))
            .hint("make sure you own the parent folder")
    })
}

fn caps(context: &Context) -> Caps {
    let usual = Caps::default();
    let machine = weir_runner::machine_memory().unwrap_or(usual.memory_bytes);
    let memory_bytes = context.config().run.memory_bytes.unwrap_or(machine / SHARE_OF_MEMORY * 3);
    Caps { memory_bytes, tmp_bytes: usual.tmp_bytes.min(machine / SHARE_OF_MEMORY), ..usual }
}

/// The values that a run's variables depend on.
struct Variables<'a> {
    outside: &'a OutsideAccess,
    stand_ins: &'a Path,
    cache: Option<&'a Path>,
}

type Pairs = Vec<(OsString, OsString)>;

impl Variables<'_> {
    /// Returns all variables of a run. Of two with the same name, the later one counts.
    fn all(&self, context: &Context, plan: Pairs, plan_cache: Option<&str>, level: Level) -> Pairs {
        let mut all: Pairs = context.env().for_runs().cloned().collect();
        all.extend(context.env().named(&context.config().run.environment));
        let tmp = match (level, self.stand_ins.parent()) {
            (Level::Full, _) | (_, None) => "/tmp".into(),
            (_, Some(scratch)) => scratch.as_os_str().to_owned(),
        };
        let set = [("PATH", self.path(context)), ("TMPDIR", tmp), ("TERM", "dumb".into()), ("NO_COLOR", "1".into())];
        all.extend(set.map(|(name, value)| (name.into(), value)));
        all.extend(plan);
        if self.outside.has_tools()
            && let Some(scratch) = self.stand_ins.parent()
        {
            modules::add_to(&mut all, scratch);
        }
        if let Some(folder) = self.cache {
            all.push(("XDG_CACHE_HOME".into(), folder.into()));
            all.push(("npm_config_cache".into(), folder.join("npm").into()));
            all.extend(plan_cache.map(|name| (name.into(), folder.join(name.to_lowercase()).into())));
        }
        if self.outside.is_offline() {
            all.extend(OFFLINE.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        }
        all.extend(self.outside.token().map(|token| (outside::TOKEN.into(), token.into())));
        if self.outside.has_proxy() {
            let proxy = OsString::from(format!("http://127.0.0.1:{EGRESS_PORT}"));
            let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
            all.extend(names.map(|name| (name.into(), proxy.clone())));
            all.extend(["no_proxy", "NO_PROXY"].map(|name| (name.into(), "localhost,127.0.0.1,::1".into())));
        }
        last_of_each(all)
    }

    fn path(&self, context: &Context) -> OsString {
        let path = search_path(context);
        if !self.outside.has_stand_ins() {
            return path;
        }
        let folders = [self.stand_ins.to_owned()].into_iter().chain(std::env::split_paths(&path));
        std::env::join_paths(folders).unwrap_or(path)
    }
}

/// Keeps the last of each name, because a program that finds a name twice may use either.
fn last_of_each(pairs: Pairs) -> Pairs {
    let mut last: Pairs = Vec::with_capacity(pairs.len());
    for (name, value) in pairs {
        match last.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => last.push((name, value)),
        }
    }
    last
}

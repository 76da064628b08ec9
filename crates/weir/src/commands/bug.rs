//! `weir bug`: writes a report for those who look into a problem. Invariant: it has only numbers, and words that this
//! program knows: what a user, a client, a file or the machine wrote is compared with such words, and never copied.

mod kinds;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::Level;
use weir_hook::faults;
use weir_host::answer::{Answer, counted, size};
use weir_host::config;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::settings::{SETTINGS, set_lines};
use weir_operations::{Arguments, OPERATIONS};
use weir_setup::health;
use weir_store::private;

pub(crate) const BUG: &str = "bug";

/// How many of the newest failures of hooks are described.
const MAX_FAILURES: usize = 5;

const LONG_ABOUT: &str = "\
Write a report for a bug: the version, the system, the sandbox, how clients are set up, which settings are set, what `weir doctor` found, \
the sizes of the stores, and the kinds of the last failures.

The report has only numbers and words of Weir's own. It has no stored text, no path, no command, no text of a setting, and no name of a \
project, a host, a user or a server. It is sent nowhere: read it, and add it to your description of the problem.";

const LEFT_OUT: &str = "\
Left out: every stored text, title and note, commands, paths, messages of errors, texts of settings, and the names of projects, branches, \
users, hosts and servers.";

pub(crate) fn command() -> Command {
    let output = Arg::new("output").short('o').long("output").value_name("FILE").value_parser(value_parser!(PathBuf));
    Command::new(BUG)
        .about("Write a report for a bug, without texts, names, paths or secrets")
        .long_about(LONG_ABOUT)
        .after_long_help("Examples:\n  weir bug\n  weir bug --output report.txt\n  weir bug --json")
        .arg(output.help("Write the report to this new file"))
}

pub(crate) async fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let report = Report {
        system: system(),
        doctor: doctor(context).await?,
        clients: clients(context),
        settings: settings(context),
        stores: stores(context),
        failures: failures(context),
    };
    let (text, data) = (report.text(), report.data());
    let Some(path) = arguments.get_one::<PathBuf>("output").map(|path| context.env().folder.join(path)) else {
        return Ok(Answer::new(text, data));
    };
    private::open(&path, private::options().create_new(true))
        .and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()))
        .map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot write {}: {error}", path.display()))
                .hint("name a file that does not exist, in a folder that you own")
        })?;
    let text = format!("✓ wrote {}; read it before you pass it on", path.display());
    Ok(Answer::new(text, json!({ "path": path.display().to_string() })))
}

/// What is known about this installation, in words of this program's.
struct Report {
    system: String,
    doctor: Findings,
    /// A client, and how it is set up.
    clients: Vec<(&'static str, String)>,
    /// A setting, and the kind of its value.
    settings: Vec<(String, String)>,
    /// A store, and its size.
    stores: Vec<(&'static str, String)>,
    failures: Failures,
}

/// The checks of `weir doctor` by their names.
#[derive(Default)]
struct Findings {
    sandbox: &'static str,
    good: Vec<String>,
    wrong: Vec<String>,
}

/// The failures of hooks that were logged.
#[derive(Default)]
struct Failures {
    count: usize,
    newest: Vec<String>,
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!("Weir {}\nsystem: {}\n", env!("CARGO_PKG_VERSION"), self.system);
        let _ = writeln!(text, "sandbox: {}", self.doctor.sandbox);
        let mut list = |title: &str, lines: Vec<String>| {
            let lines = if lines.is_empty() { " none".to_owned() } else { format!("\n  {}", lines.join("\n  ")) };
            let _ = writeln!(text, "{title}:{lines}");
        };
        list("clients", self.clients.iter().map(|(title, state)| format!("{title}: {state}")).collect());
        list("settings", self.settings.iter().map(|(key, kind)| format!("{key}: {kind}")).collect());
        let found = |mark: &str, names: &[String]| (!names.is_empty()).then(|| format!("{mark} {}", names.join(", ")));
        let doctor = [found("✗", &self.doctor.wrong), found("✓", &self.doctor.good)];
        list("doctor", doctor.into_iter().flatten().collect());
        list("stores", self.stores.iter().map(|(name, state)| format!("{name}: {state}")).collect());
        list(&format!("failures of hooks ({})", self.failures.count), self.failures.newest.clone());
        format!("{text}\n{LEFT_OUT}")
    }

    fn data(&self) -> Value {
        let pairs = |pairs: Vec<(&str, &str)>| -> Value {
            pairs
                .into_iter()
                .map(|(name, state)| (name.to_owned(), json!(state)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "system": self.system,
            "sandbox": self.doctor.sandbox,
            "clients": pairs(self.clients.iter().map(|(title, state)| (*title, state.as_str())).collect()),
            "settings": pairs(self.settings.iter().map(|(key, kind)| (key.as_str(), kind.as_str())).collect()),
            "doctor": { "wrong": self.doctor.wrong, "good": self.doctor.good },
            "stores": pairs(self.stores.iter().map(|(name, state)| (*name, state.as_str())).collect()),
            "failures": { "count": self.failures.count, "newest": self.failures.newest },
        })
    }
}

fn system() -> String {
    let mut parts = vec![format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)];
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    // What a builder or a company has added to the number is a name.
    parts.extend(kinds::version(read("/proc/sys/kernel/osrelease").trim()).map(|version| format!("kernel {version}")));
    parts.extend(kinds::distribution(&read("/etc/os-release")));
    parts
        .extend(std::thread::available_parallelism().ok().map(|count| counted(count.get(), "processor", "processors")));
    parts.join(", ")
}

async fn doctor(context: &Context) -> Result<Findings, CommandError> {
    let doctor = OPERATIONS.iter().find(|operation| operation.command == Some("doctor"));
    let doctor = doctor.ok_or_else(|| CommandError::broken("there is no command `doctor`"))?;
    let answer = doctor.start(context.clone(), Arguments::Json(json!({})))?.await?;
    let mut findings = Findings::default();
    for check in answer.data["checks"].as_array().into_iter().flatten() {
        let (name, text) = (check["name"].as_str().unwrap_or_default(), check["text"].as_str().unwrap_or_default());
        let is_good = check["good"] == true;
        if name == "sandbox" {
            findings.sandbox = if is_good { kinds::sandbox(text) } else { "does not work" };
        }
        let names = if is_good { &mut findings.good } else { &mut findings.wrong };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(findings)
}

fn clients(context: &Context) -> Vec<(&'static str, String)> {
    let state = |found: health::Finding| {
        let (_, version) = found.text.split_once("installed (").unwrap_or_default();
        let version = version.split_once(')').and_then(|(version, _)| kinds::version(version));
        let version = version.map(|version| format!("version {version}, ")).unwrap_or_default();
        (found.title, format!("{version}{}", found.brief))
    };
    health::clients(context).into_iter().map(state).collect()
}

/// Returns the settings that the file sets, with the kinds of their values.
fn settings(context: &Context) -> Vec<(String, String)> {
    let path = &context.paths().config;
    let Ok(config) = config::read(path) else {
        return vec![("the file".to_owned(), "cannot be used".to_owned())];
    };
    let lines = set_lines(&config::text(path).unwrap_or_default()).into_iter().collect::<Vec<_>>();
    let is_set = |setting: &&weir_host::settings::Setting| lines.iter().any(|line| line.sets(setting));
    SETTINGS.iter().filter(is_set).map(|setting| (setting.key(), kinds::value(&(setting.value)(&config)))).collect()
}

fn stores(context: &Context) -> Vec<(&'static str, String)> {
    let as_is = context.with_stores_as_is();
    let mut found = Vec::new();
    for (name, level) in [("project", Level::Project), ("user", Level::User)] {
        let state = as_is.with_stores_here(|open| match open.existing(level)? {
            Some(store) => Ok(Some(store.overview()?)),
            None => Ok(None),
        });
        let state = match state {
            Ok(None) => continue,
            Ok(Some(overview)) => {
                let many = |count: Option<u64>, one: &str, other: &str| match count {
                    Some(count) => counted(usize::try_from(count).unwrap_or(usize::MAX), one, other),
                    None => format!("many {other}"),
                };
                format!(
                    "{}, {}, {}, {} on the disk, {} of it texts",
                    many(Some(overview.entries), "entry", "entries"),
                    many(overview.notes, "note", "notes"),
                    many(overview.sessions, "session", "sessions"),
                    size(overview.bytes),
                    size(overview.text_bytes),
                )
            }
            Err(error) => format!("cannot be used ({})", error.kind.as_str()),
        };
        found.push((name, state));
    }
    found.push(("projects with a store", entries_in(&context.paths().data.join("projects")).to_string()));
    found
}

fn entries_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()).count()
}

fn failures(context: &Context) -> Failures {
    let logged = faults::read(context.paths()).unwrap_or_default();
    let newest = logged.iter().rev().take(MAX_FAILURES).map(|line| kinds::failure(line)).collect();
    Failures { count: logged.len(), newest }
}

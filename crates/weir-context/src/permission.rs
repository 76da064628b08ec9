//! Asks the user's rules whether a call may do what it is about to do, and the user where a rule says so.
//!
//! `weir_policy` decides; this is the only place that asks for consent and words a refusal. Rules are read again for
//! every call, so that a change holds at once.

use std::io;
use std::path::{Path, PathBuf};

use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::foreign::{self, resolved};
use weir_host::os;
use weir_policy::gate::{Caller, Gate, OwnFolders, Request, Surroundings};
use weir_policy::rules::{Own, Places, Platform, Rules, SETTINGS_VARIABLE, Source, Verdict, locations};

use crate::Context;

/// What a user is asked to agree to.
pub struct Consent<'a> {
    /// What would be done.
    pub deed: Deed,
    /// More about it than the text says, such as ` in /src`.
    pub details: String,
    /// The text that it is about, which is shown whole.
    pub about: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Run,
    Read,
    Change,
    Index,
}

impl Deed {
    fn question(self) -> &'static str {
        match self {
            Self::Run => "Run it",
            Self::Read => "Read it",
            Self::Change => "Change it",
            Self::Index => "Index it",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
            Self::Change => "changed",
            Self::Index => "indexed",
        }
    }
}

/// Returns the name by which clients, and so their rules, know one of our tools.
pub fn client_name(tool: &str) -> String {
    format!("mcp__weir__{tool}")
}

/// Returns an error unless the rules or the user allow the call.
pub async fn require(context: &Context, request: Request<'_>, consent: Consent<'_>) -> Result<(), CommandError> {
    let decision = gate(context).decide(&request);
    let refused = |hint: &str| {
        let message = format!("nothing was {}. {}", consent.deed.done(), decision.why());
        Err(CommandError::new(ErrorKind::Denied, message).hint(hint))
    };
    match decision.verdict {
        Verdict::Allow => Ok(()),
        Verdict::Deny => refused(context.face().word(
            "if it is your rule, change it to allow this; if it is not, do not work around it",
            "do not work around this or retry with a different spelling; the user can do it or change the rule",
        )),
        Verdict::Ask => {
            let question = format!("{}{}? {}", consent.deed.question(), consent.details, decision.why());
            match context.consent(&question, consent.about).await? {
                true => Ok(()),
                false => refused(without_consent(context.face(), consent.deed)),
            }
        }
    }
}

/// Says what to do without the user's consent.
fn without_consent(face: Face, deed: Deed) -> &'static str {
    match (face, deed) {
        (Face::Terminal, _) => {
            "you were not asked or did not agree; answer y in a terminal, or add a rule that allows it"
        }
        (Face::Http, _) => "the user could not be asked over HTTP; ask them to add a rule that allows it, or to do it",
        (Face::Mcp, Deed::Run) => {
            "the user could not be asked or declined; write it more simply, or ask the user to allow it"
        }
        (Face::Mcp, _) => "the user could not be asked or declined; ask the user to allow it",
    }
}

/// Returns the hosts that fetching these must not reach, as patterns. A denial holds for the host and what is below it,
/// wherever a redirect leads. The user is asked once for each rule that asks; a redirect to such a host counts as a no.
pub async fn denied_hosts(context: &Context, tool: &str, hosts: &[&str]) -> Vec<String> {
    let mut denied = Vec::new();
    for rule in rules(context).pages(&client_name(tool)) {
        // A page that is not asked for now may still be where a redirect leads.
        let concerned: Vec<&str> = hosts.iter().copied().filter(|host| rule.covers(host)).collect();
        let agreed = rule.verdict == Verdict::Ask && !concerned.is_empty() && {
            let question = format!("Fetch it? {} asks", rule.text);
            // A list that is too long to be shown counts as a no.
            context.consent(&question, &concerned.join("\n")).await.unwrap_or(false)
        };
        if !agreed {
            denied.extend(rule.patterns());
        }
    }
    denied
}

pub fn gate(context: &Context) -> Gate {
    let rules = rules(context);
    let (context, added) = (context.clone(), rules.additional_folders().to_vec());
    Gate::new(rules, move || surroundings(&context, &added))
}

/// Returns what a gate must know to judge paths. `added` are the folders that the user added to the project.
fn surroundings(context: &Context, added: &[PathBuf]) -> Surroundings {
    let home = resolved(context.env().home.as_deref().unwrap_or(Path::new("/")));
    let added = added.iter().filter_map(|folder| match folder.strip_prefix("~") {
        Ok(rest) => os::real_path(&home.join(rest)).ok(),
        Err(_) => os::real_path(folder).ok(),
    });
    Surroundings {
        additional: added.collect(),
        places: Places { project: resolved(&context.project().root), folder: resolved(&context.env().folder), home },
        own: own_folders(context),
        caller: if context.face().is_person() { Caller::Person } else { Caller::Model },
    }
}

/// Returns Weir's own folders, each by its name and by where the name leads, whether it exists or not: a configuration
/// that does not exist yet could be planted.
fn own_folders(context: &Context) -> OwnFolders {
    let paths = context.paths();
    let both = |folder: &Path| [folder.to_owned(), resolved(folder)];
    let others = [paths.config.parent(), Some(paths.cache.as_path())];
    OwnFolders { data: both(&paths.data).to_vec(), others: others.into_iter().flatten().flat_map(both).collect() }
}

/// Whether the project contains the home folder, and so is everything the user has rather than a project.
pub fn holds_home(context: &Context) -> bool {
    let home = context.env().home.as_deref();
    home.is_some_and(|home| resolved(home).starts_with(&context.project().root))
}

/// Reads the rules of the user's clients and Weir's own.
pub fn rules(context: &Context) -> Rules {
    let home = context.env().home.clone().unwrap_or_else(|| "/".into());
    let root = &context.project().root;
    let platform = match std::env::consts::OS {
        "macos" => Platform::MacOs,
        "windows" => Platform::Windows,
        _ => Platform::Linux,
    };
    let (mut sources, mut unread, mut trusted) = (Vec::new(), Vec::new(), Vec::new());
    let named = context.env().named_folder(SETTINGS_VARIABLE);
    for (path, base, kind) in locations(&home, named.as_deref(), root, platform) {
        if kind.may_widen() {
            trusted.push(path.clone());
        }
        match read_settings(&path, root, &trusted) {
            Ok(bytes) => {
                sources.push(Source { text: String::from_utf8_lossy(&bytes).into_owned(), path, base, kind });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => unread.push((path, error.to_string())),
        }
    }
    let own = &context.config().policy;
    let own = Own {
        path: context.paths().config.clone(),
        base: root.clone(),
        deny: own.deny.clone(),
        ask: own.ask.clone(),
        allow: own.allow.clone(),
        readable: context.config().run.readable.clone(),
    };
    let mut rules = Rules::read(&sources, &own);
    unread.iter().for_each(|(path, why)| rules.add_unreadable(path, why));
    rules
}

/// Reads a settings file. One of the project must not be a link that leads out of the project, unless it leads to the
/// same file as one of the trusted paths: in the home folder, the project's settings are the user's.
fn read_settings(path: &Path, root: &Path, trusted: &[PathBuf]) -> io::Result<Vec<u8>> {
    let of_user = || foreign::read_user_file(path, foreign::MAX_SETTINGS_BYTES);
    let Ok(name) = path.strip_prefix(root) else { return of_user() };
    let is_trusted = || {
        let real = os::real_path(path).ok();
        real.is_some_and(|real| trusted.iter().any(|other| os::real_path(other).is_ok_and(|other| other == real)))
    };
    match foreign::read_below(root, name, foreign::MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput && is_trusted() => of_user(),
        read => read,
    }
}

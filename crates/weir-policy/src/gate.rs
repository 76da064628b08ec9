//! Decides whether a call may do what it is about to do: the one place where rules, secrets and protected paths meet.
//!
//! Invariants: the strictest reason decides; what cannot be understood is never a reason to be more lenient; a path
//! outside the project needs a rule that allows it, unless a person at a terminal wants to read it.

use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::audit::{Kind, is_part_of_repository, names};
use crate::judge::{Judgement, judge, judge_tool};
use crate::masks::{Places, is_secret, secrets};
use crate::rules::{PathRules, Rule, Rules, Subject, Verdict};
use crate::shell;

/// How many reasons a decision names.
const MAX_REASONS: usize = 3;

/// A call to decide about.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The tool, by the name that clients know it by, such as `mcp__weir__ctx_execute`.
    pub tool: &'a str,
    /// What it is about to do.
    pub action: Action<'a>,
}

/// What a call is about to do.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    Script(&'a str),
    /// Start a program whose input rules about commands cannot judge, such as an interpreter.
    Program(&'a str),
    File(Target<'a>, Access),
    /// Read what is below a path. Every file there is judged when it is reached.
    Tree(Target<'a>),
    /// Take a text that came with the call.
    Text,
}

/// A path that a call is about.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub named: &'a Path,
    /// The path without links.
    pub path: &'a Path,
    /// Whether its permissions forbid writing.
    pub is_read_only: bool,
}

/// How a file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// It is written, or made.
    Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A person at a terminal, who may look at what is theirs.
    Person,
    Model,
}

/// A verdict, and what it is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The strictest verdict of all reasons.
    pub verdict: Verdict,
    reasons: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    verdict: Verdict,
    why: String,
}

impl Decision {
    fn of(reasons: Vec<Reason>) -> Self {
        let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
        Self { verdict, reasons }
    }

    /// The first reasons for the verdict, as one line.
    pub fn why(&self) -> String {
        let strictest = self.reasons.iter().filter(|reason| reason.verdict == self.verdict);
        let mut why: Vec<&str> = strictest.map(|reason| reason.why.as_str()).collect();
        why.dedup();
        why.truncate(MAX_REASONS);
        why.join("; ")
    }
}

impl From<Judgement> for Decision {
    fn from(judgement: Judgement) -> Self {
        Self::of(reasons(judgement))
    }
}

fn reasons(judgement: Judgement) -> Vec<Reason> {
    let reason = |reason: crate::judge::Reason| Reason { verdict: reason.verdict, why: reason.to_string() };
    judgement.reasons.into_iter().map(reason).collect()
}

/// Why a path must not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A rule denies it or asks about it.
    Rule,
    /// It is a place of secrets or Weir's own.
    Secret,
}

impl Refusal {
    /// The reason, as the rest of a sentence that names the path.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "a rule denies reading it",
            Self::Secret => "it is hidden as a secret",
        }
    }
}

/// Weir's own folders, each as it is named and as it resolves.
#[derive(Debug, Clone, Default)]
pub struct OwnFolders {
    /// Where texts are kept, which only Weir's own calls may show.
    pub data: Vec<PathBuf>,
    /// The configuration and the cache.
    pub others: Vec<PathBuf>,
}

/// What a gate knows of the machine. All paths are without links.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folders that patterns are relative to.
    pub places: Places,
    /// Folders outside the project that the user added to it.
    pub additional: Vec<PathBuf>,
    pub own: OwnFolders,
    pub caller: Caller,
}

/// Decides about calls, by the rules as they were when it was made.
pub struct Gate {
    rules: Rules,
    /// Looked at when a path is first judged. Runs do not need it.
    around: LazyLock<Surroundings, Box<dyn FnOnce() -> Surroundings + Send>>,
    /// The rules that deny or ask about reading, indexed when a path is first judged.
    denials: OnceLock<PathRules>,
}

/// Places of secrets below the home folder, compiled when a path is first judged. Runs do not need them.
static AT_HOME: LazyLock<Option<GlobSet>> = LazyLock::new(|| secrets_at_home().ok());

fn secrets_at_home() -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for secret in secrets::HOME {
        for pattern in [secret.pattern.to_owned(), format!("{}/**", secret.pattern)] {
            set.add(GlobBuilder::new(&pattern).literal_separator(true).case_insensitive(true).build()?);
        }
    }
    set.build()
}

impl Gate {
    /// Creates a gate. `around` is called when a path is first judged.
    pub fn new(rules: Rules, around: impl FnOnce() -> Surroundings + Send + 'static) -> Self {
        Self { rules, around: LazyLock::new(Box::new(around)), denials: OnceLock::new() }
    }

    pub fn decide(&self, request: &Request<'_>) -> Decision {
        match request.action {
            Action::Script(script) => self.judge_script(request.tool, script).into(),
            Action::Program(name) => self.judge_program(request.tool, name).into(),
            Action::File(target, access) => Decision::of(self.of_file(request.tool, target, access)),
            Action::Tree(target) => Decision::of(self.of_tree(request.tool, target)),
            Action::Text => {
                let mut judgement = judge_tool(&self.rules, request.tool);
                // Rules about reading do not concern a text that was given.
                judgement.reasons.retain(|reason| reason.command == request.tool);
                judgement.into()
            }
        }
    }

    /// Judges a run of a shell script by a tool, with a reason for every command.
    pub fn judge_script(&self, tool: &str, script: &str) -> Judgement {
        let mut judgement = together(judge_tool(&self.rules, tool), judge(&self.rules, script));
        judgement.reasons.extend(self.of_git(script));
        together(judgement, Judgement { verdict: Verdict::Allow, reasons: Vec::new() })
    }

    /// Judges the paths that commands of git name, since git shows files that are hidden in the work tree.
    fn of_git(&self, script: &str) -> Vec<crate::judge::Reason> {
        let mut found = Vec::new();
        for command in shell::split(script).commands {
            for path in shell::paths_shown_by_git(&command) {
                let Places { project, folder, .. } = &self.around.places;
                let paths = [lexical(&folder.join(&path)), lexical(&project.join(&path))];
                let rules = paths.iter().flat_map(|path| self.of_rules(path, Access::Read));
                let hidden =
                    paths.iter().any(|path| self.hides(path)).then(|| deny("it holds secrets or is Weir's own"));
                if let Some(reason) = rules.chain(hidden).max_by_key(|reason| reason.verdict) {
                    let why = format!("would show {path} from git's objects: {}", reason.why);
                    let (verdict, inside, command) = (reason.verdict, command.inside.clone(), command.source());
                    found.push(crate::judge::Reason { verdict, command, inside, rule: None, why });
                }
            }
        }
        found
    }

    /// Judges the start of a program by rules about the program itself. Masks contain what it then does.
    fn judge_program(&self, tool: &str, program: &str) -> Judgement {
        let mut judgement = judge(&self.rules, program);
        judgement.reasons.retain(|reason| reason.rule.is_some());
        together(judge_tool(&self.rules, tool), judgement)
    }

    fn of_file(&self, tool: &str, target: Target<'_>, access: Access) -> Vec<Reason> {
        let named = lexical(target.named);
        let mut reasons = reasons(judge_tool(&self.rules, tool));
        for path in [target.path, &named] {
            reasons.extend(self.of_rules(path, access));
        }
        reasons.extend(self.of_place(&Target { named: &named, ..target }, access));
        reasons
    }

    fn of_tree(&self, tool: &str, target: Target<'_>) -> Vec<Reason> {
        if !self.may_reach(target.path, Access::Read) {
            return vec![deny(format!("{}: {OUTSIDE}", target.named.display()))];
        }
        reasons(judge_tool(&self.rules, tool))
    }

    /// Returns what rules about paths say. What must not be read must not be changed either, since an answer shows what
    /// changed.
    fn of_rules(&self, path: &Path, access: Access) -> Vec<Reason> {
        let concerns = |subject: &Subject| match subject {
            Subject::Read(pattern) => pattern.covers(path, &self.around.places),
            Subject::Edit(pattern) => access == Access::Change && pattern.covers(path, &self.around.places),
            _ => false,
        };
        let strict = self.rules.iter().filter(|rule| rule.verdict > Verdict::Allow && concerns(&rule.subject));
        let said = |verdict| if verdict == Verdict::Deny { "denies it" } else { "asks about it" };
        let why = |rule: &Rule| format!("the rule {} in {} {}", rule.text, rule.path.display(), said(rule.verdict));
        strict.map(|rule| Reason { verdict: rule.verdict, why: why(rule) }).collect()
    }

    /// Returns what speaks against a use whatever the rules say.
    fn of_place(&self, target: &Target<'_>, access: Access) -> Option<Reason> {
        let path = target.path;
        if self.hides(path) {
            return Some(deny("it holds secrets or is Weir's own"));
        }
        if !self.may_reach(path, access) {
            return Some(deny(OUTSIDE));
        }
        if access == Access::Read {
            return None;
        }
        if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Some(deny("it belongs to git"));
        }
        if self.is_own(path) || self.is_own(target.named) {
            return Some(deny("it is Weir's own configuration, data or cache"));
        }
        let Places { home, project, .. } = &self.around.places;
        if home.starts_with(project) {
            return Some(ask("the folder contains the home folder and is not a project"));
        }
        if target.is_read_only {
            return Some(ask("it is read-only"));
        }
        self.runs_later(path)
    }

    /// Asks before a change to a file that other programs run or obey on their own, as clients do. Files that builds
    /// and tests run are not asked about: changing them is what a coding agent is for.
    fn runs_later(&self, path: &Path) -> Option<Reason> {
        if is_part_of_repository(path, &self.around.places.project) {
            return Some(ask("git would take the folder for a repository and run what its settings name"));
        }
        let found = names::find_in(&self.around.places.project, path).filter(|found| found.kind != Kind::Executed)?;
        Some(ask(format!("other programs act on it ({})", found.what)))
    }

    /// Returns why a path without links must not be read, if it must not. A rule that asks counts as one that denies,
    /// since nobody can be asked about each file of a folder.
    pub fn refuses(&self, path: &Path) -> Option<Refusal> {
        let denies = |rule: &Rule| rule.verdict > Verdict::Allow && matches!(rule.subject, Subject::Read(_));
        let denials = self.denials.get_or_init(|| PathRules::of(&self.rules, &self.around.places, denies));
        if denials.cover(&self.rules, path) {
            return Some(Refusal::Rule);
        }
        self.hides(path).then_some(Refusal::Secret)
    }

    /// Whether the caller may read a path by where it is: in the project, or where the user allows it.
    pub fn reaches(&self, path: &Path) -> bool {
        let is_readable = || self.rules.readable().iter().any(|pattern| pattern.covers(path, &self.around.places));
        self.may_reach(path, Access::Read) || is_readable()
    }

    /// Whether a path is a place of secrets or Weir's own, whatever the rules say.
    fn hides(&self, path: &Path) -> bool {
        let is_lifted = || self.rules.readable().iter().any(|pattern| pattern.covers(path, &self.around.places));
        self.around.own.data.iter().any(|folder| path.starts_with(folder)) || (self.is_secret(path) && !is_lifted())
    }

    fn is_secret(&self, path: &Path) -> bool {
        // Without the list, everything in the home folder counts as a secret.
        let matches = |path: &Path| AT_HOME.as_ref().is_none_or(|secrets| secrets.is_match(path));
        is_secret(path, &self.around.places.project) || path.strip_prefix(&self.around.places.home).is_ok_and(matches)
    }

    fn is_own(&self, path: &Path) -> bool {
        let OwnFolders { data, others } = &self.around.own;
        data.iter().chain(others).any(|folder| path.starts_with(folder))
    }

    /// Whether a path is where the caller may use it so: in the project, in a folder that the user added to it, or
    /// where a rule of the user's allows it.
    fn may_reach(&self, path: &Path, access: Access) -> bool {
        let looks = access == Access::Read && self.around.caller == Caller::Person;
        let inside = || [&self.around.places.project].into_iter().chain(&self.around.additional);
        looks || inside().any(|folder| path.starts_with(folder)) || self.is_allowed(path, access)
    }

    fn is_allowed(&self, path: &Path, access: Access) -> bool {
        // A pattern such as `folder/**` is about what is in the folder.
        let inside = path.join("*");
        let paths = if path.is_dir() { [path, &inside] } else { [path, path] };
        let covers =
            |pattern: &crate::rules::PathPattern| paths.iter().any(|path| pattern.covers(path, &self.around.places));
        self.rules.iter().filter(|rule| rule.verdict == Verdict::Allow).any(|rule| match &rule.subject {
            Subject::Read(pattern) => access == Access::Read && covers(pattern),
            Subject::Edit(pattern) => access == Access::Change && pattern.covers(path, &self.around.places),
            _ => false,
        })
    }
}

/// The reason given for a path that only the user can open to a model.
const OUTSIDE: &str = "it is outside the project, and no user rule allows it";

fn deny(why: impl Into<String>) -> Reason {
    Reason { verdict: Verdict::Deny, why: why.into() }
}

fn ask(why: impl Into<String>) -> Reason {
    Reason { verdict: Verdict::Ask, why: why.into() }
}

fn together(first: Judgement, second: Judgement) -> Judgement {
    let reasons: Vec<_> = first.reasons.into_iter().chain(second.reasons).collect();
    Judgement { verdict: reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow), reasons }
}

/// Removes `.` and `..` from a path by name alone, as a rule about names sees it.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

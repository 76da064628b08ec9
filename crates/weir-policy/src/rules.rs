//! The user's rules, parsed once from the settings of clients and from Weir's own configuration.
//!
//! Invariants:
//! - Input that is not understood in a list of denials or questions never makes a verdict more lenient. Such a rule or
//!   file is reported as a [`RuleProblem`], and every run asks until it is fixed.
//! - A rule that allows something enters [`Rules`] only from a source that [may widen](SourceKind::may_widen).

mod command;
mod index;
mod paths;
mod settings;

use std::path::{Path, PathBuf};

pub use command::{CommandPattern, Match, Readings};
pub use index::PathRules;
pub use paths::{PathPattern, Places};
pub use settings::{Platform, SETTINGS_VARIABLE, locations};

/// The decision of the rules about one call, ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Where rules come from. Every source may restrict, since a denial always wins; [`SourceKind::may_widen`] says which
/// may also allow something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Settings of an organisation, which its users cannot change.
    Managed,
    /// The user's settings of a client.
    User,
    /// The project's settings of a client, shared with others.
    Project,
    /// The project's settings of a client, for this user only.
    Local,
    /// Settings of a client in a folder that a variable names.
    Named,
    Own,
}

impl SourceKind {
    /// Returns whether rules of this source may permit what would not be permitted without them.
    ///
    /// Files below a project come with it: the author of the repository, or a program that ran in it, wrote them. Their
    /// denials and questions apply; what they allow is ignored. The same holds for a folder that a variable names,
    /// since a project's settings can set variables.
    pub fn may_widen(self) -> bool {
        match self {
            Self::Managed | Self::User | Self::Own => true,
            Self::Project | Self::Local | Self::Named => false,
        }
    }
}

/// A settings file in the format of Claude Code, read by the caller.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
    /// The folder that patterns starting with `/` are relative to.
    pub base: PathBuf,
    /// Where the file comes from.
    pub kind: SourceKind,
}

/// The rule lists of Weir's own configuration, in the same syntax.
#[derive(Debug, Clone, Default)]
pub struct Own {
    pub path: PathBuf,
    /// The folder that patterns starting with `/` are relative to.
    pub base: PathBuf,
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    pub allow: Vec<String>,
    /// Patterns for paths that are readable although the default masks hide them. A denial still wins.
    pub readable: Vec<String>,
}

/// A file or a rule that was not understood, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    pub path: PathBuf,
    pub rule: Option<String>,
    /// What is wrong, as a sentence.
    pub wrong: String,
    /// How to fix it, as a sentence.
    pub fix: String,
    /// Whether every run asks until it is fixed.
    pub asks: bool,
}

/// One valid rule.
#[derive(Debug, Clone)]
pub struct Rule {
    pub text: String,
    pub verdict: Verdict,
    pub path: PathBuf,
    /// Where the file comes from.
    pub kind: SourceKind,
    pub subject: Subject,
}

/// What a rule applies to.
#[derive(Debug, Clone)]
pub enum Subject {
    Command(CommandPattern),
    Read(PathPattern),
    Edit(PathPattern),
    /// A whole tool by its name, Weir's or a client's.
    Tool(String),
}

/// All rules that apply to a run.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    readable: Vec<PathPattern>,
    additional: Vec<PathBuf>,
    problems: Vec<RuleProblem>,
}

impl Rules {
    /// Reads all sources and Weir's own lists.
    pub fn read(sources: &[Source], own: &Own) -> Self {
        let mut rules = Self::default();
        for source in sources {
            settings::read(source, &mut rules);
        }
        let origin = settings::RuleOrigin { path: &own.path, base: &own.base, kind: SourceKind::Own };
        for (verdict, list) in [(Verdict::Deny, &own.deny), (Verdict::Ask, &own.ask), (Verdict::Allow, &own.allow)] {
            for text in list {
                rules.add(&origin, verdict, text);
            }
        }
        for text in &own.readable {
            match PathPattern::parse(text, &own.base) {
                Ok(pattern) => rules.readable.push(pattern),
                Err(wrong) => rules.problems.push(RuleProblem {
                    path: own.path.clone(),
                    rule: Some(text.clone()),
                    wrong,
                    fix: "Fix the pattern; until then it lifts no mask.".to_owned(),
                    asks: false,
                }),
            }
        }
        rules
    }

    /// Records a settings file that exists but cannot be read, since it may deny anything.
    pub fn add_unreadable(&mut self, path: &Path, why: &str) {
        self.problems.push(RuleProblem {
            path: path.to_owned(),
            rule: None,
            wrong: format!("Cannot read the file: {why}."),
            fix: "Fix or remove it; until then every run needs confirmation.".to_owned(),
            asks: true,
        });
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// Returns the files and rules that were not understood.
    pub fn problems(&self) -> &[RuleProblem] {
        &self.problems
    }

    /// Returns the additional working folders from settings that [may widen](SourceKind::may_widen). They are absolute,
    /// or start with `~` if written so.
    pub fn additional_folders(&self) -> &[PathBuf] {
        &self.additional
    }

    /// Returns the patterns that lift default masks.
    pub fn readable(&self) -> &[PathPattern] {
        &self.readable
    }

    /// Returns the strictest rule about a whole tool, such as `mcp__weir__ctx_execute`.
    pub fn tool(&self, name: &str) -> Option<&Rule> {
        let names = |rule: &&Rule| match &rule.subject {
            Subject::Tool(tool) => is_tool(tool, name),
            _ => false,
        };
        self.rules.iter().filter(names).max_by_key(|rule| rule.verdict)
    }

    /// Returns whether any rule denies or asks about commands, or might do so.
    pub fn restrict_commands(&self) -> bool {
        let strict = |rule: &Rule| rule.verdict > Verdict::Allow && matches!(rule.subject, Subject::Command(_));
        self.rules.iter().any(strict) || self.problems.iter().any(|problem| problem.asks)
    }

    fn add(&mut self, origin: &settings::RuleOrigin<'_>, verdict: Verdict, text: &str) {
        if verdict == Verdict::Allow && !origin.kind.may_widen() {
            return;
        }
        match settings::rule(origin, verdict, text) {
            Ok(rule) => self.rules.push(rule),
            Err(wrong) => self.problem(origin, verdict, Some(text), wrong),
        }
    }

    fn problem(&mut self, origin: &settings::RuleOrigin<'_>, verdict: Verdict, rule: Option<&str>, wrong: String) {
        let asks = verdict > Verdict::Allow;
        let fix = if asks {
            "Fix it; until then every run needs confirmation."
        } else {
            "Fix it; until then it allows nothing."
        };
        self.problems.push(RuleProblem {
            path: origin.path.to_owned(),
            rule: rule.map(str::to_owned),
            wrong,
            fix: fix.to_owned(),
            asks,
        });
    }
}

/// Returns whether a rule's tool name covers a tool: by its full name, by its server's name, or by a trailing `*`.
fn is_tool(rule: &str, name: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == rule || name.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__")),
    }
}

/// Returns the programs that a rule denies whatever their arguments: `Bash(sudo)`, `Bash(sudo:*)`, `Bash(sudo *)`. The
/// runner masks their binaries, so no spelling can start them.
pub fn denied_programs(rules: &Rules) -> Vec<String> {
    let denied = rules.iter().filter(|rule| rule.verdict == Verdict::Deny);
    let mut programs: Vec<String> = denied
        .filter_map(|rule| match &rule.subject {
            Subject::Command(pattern) => pattern.program().map(str::to_owned),
            _ => None,
        })
        .collect();
    programs.sort();
    programs.dedup();
    programs
}

/// Joins a folder and a path without accessing the file system.
pub(crate) fn join_lexically(base: &Path, path: &str) -> PathBuf {
    let mut joined = base.to_path_buf();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                joined.pop();
            }
            part => joined.push(part),
        }
    }
    joined
}

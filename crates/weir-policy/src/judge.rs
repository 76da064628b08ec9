//! Verdicts on scripts: every command is judged by itself, and the strictest verdict wins.
//!
//! Invariant: adding a rule that denies or asks never makes a verdict more lenient. A command that no rule mentions is
//! allowed: the sandbox is the boundary, and rules express the user's intent on top of it.

use std::fmt;
use std::path::PathBuf;

pub use crate::rules::{Verdict, denied_programs};
pub use crate::shell::simple_literal;

use crate::rules::{Match, Readings, Rule, Rules, Subject};
use crate::shell::{self, Command, Unclear, UnclearKind};

/// The verdict on a script, and the reasons for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The strictest verdict of all reasons.
    pub verdict: Verdict,
    /// One reason for every command and for every unclear part, in the order of the script.
    pub reasons: Vec<Reason>,
}

/// The reason for the verdict on one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub verdict: Verdict,
    /// The command as written, or the part of the script that is unclear.
    pub command: String,
    /// The wrappers around the command, outermost first.
    pub inside: Vec<String>,
    pub rule: Option<DecidingRule>,
    /// Why, as the rest of a sentence that starts with the command.
    pub why: String,
}

/// A rule that decided, and the file that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidingRule {
    pub text: String,
    pub path: PathBuf,
}

impl DecidingRule {
    fn of(rule: &Rule) -> Self {
        Self { text: rule.text.clone(), path: rule.path.clone() }
    }
}

pub fn judge(rules: &Rules, script: &str) -> Judgement {
    let split = shell::split(script);
    let strict = rules.restrict_commands();
    let mut reasons = Vec::new();
    reasons.extend(whole_run(rules));
    reasons.extend(split.commands.iter().map(|command| of_command(rules, command)));
    reasons.extend(split.unclear.iter().map(|unclear| of_unclear(unclear, strict)));
    let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    Judgement { verdict, reasons }
}

/// Judges a call of one of Weir's tools by its name, such as `mcp__weir__ctx_execute`, before the code it would run is
/// judged.
pub fn judge_tool(rules: &Rules, tool: &str) -> Judgement {
    let mut reasons: Vec<Reason> = whole_run(rules).collect();
    reasons.extend(rules.tool(tool).map(|rule| Reason {
        verdict: rule.verdict,
        command: tool.to_owned(),
        inside: Vec::new(),
        rule: Some(DecidingRule::of(rule)),
        why: verdict_text(rule.verdict).to_owned(),
    }));
    let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    Judgement { verdict, reasons }
}

/// Returns the reasons that apply to every run: rules that could not be read, and rules that deny all reading.
fn whole_run(rules: &Rules) -> impl Iterator<Item = Reason> {
    let problems = rules.problems().iter().filter(|problem| problem.asks).map(|problem| Reason {
        verdict: Verdict::Ask,
        command: "every run".to_owned(),
        inside: Vec::new(),
        rule: Some(DecidingRule { text: problem.rule.clone().unwrap_or_default(), path: problem.path.clone() }),
        why: format!("needs confirmation, because a rule could not be read: {}", problem.wrong),
    });
    let all_reading = rules.iter().filter(|rule| {
        rule.verdict > Verdict::Allow && matches!(&rule.subject, Subject::Read(pattern) if pattern.is_everything())
    });
    problems.chain(all_reading.map(|rule| Reason {
        verdict: Verdict::Ask,
        command: "every run".to_owned(),
        inside: Vec::new(),
        rule: Some(DecidingRule::of(rule)),
        why: "needs confirmation, because all reading is restricted and a run reads files".to_owned(),
    }))
}

fn of_command(rules: &Rules, command: &Command) -> Reason {
    let mut best: Option<(Verdict, &Rule, &'static str)> = None;
    let readings = Readings::of(command);
    for rule in rules.iter() {
        let Subject::Command(pattern) = &rule.subject else { continue };
        let matched = match rule.verdict {
            Verdict::Allow => pattern.matches_as_written(&readings),
            _ => pattern.matches_any_order(&readings),
        };
        let found = match (rule.verdict, matched) {
            // Denying a bare program denies every use of it, since its binary is masked.
            (Verdict::Deny, _) if pattern.matches_program(command) => Some(Verdict::Deny),
            (_, Match::No) => None,
            (verdict, Match::Yes) => Some(verdict),
            (Verdict::Allow, Match::Perhaps) => None,
            (_, Match::Perhaps) => Some(Verdict::Ask),
        };
        let guessed = found == Some(Verdict::Ask) && rule.verdict == Verdict::Deny;
        let why =
            if guessed { "needs confirmation, because it could match a deny rule" } else { verdict_text(rule.verdict) };
        if let Some(verdict) = found
            && best.as_ref().is_none_or(|(strictest, ..)| verdict > *strictest)
        {
            best = Some((verdict, rule, why));
        }
    }
    let (verdict, rule, why) = match best {
        Some((verdict, rule, why)) => (verdict, Some(DecidingRule::of(rule)), why),
        None => (Verdict::Allow, None, "is allowed: no rule mentions it, and the sandbox contains it"),
    };
    Reason { verdict, command: command.source(), inside: command.inside.clone(), rule, why: why.to_owned() }
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "is allowed",
        Verdict::Ask => "needs confirmation",
        Verdict::Deny => "is denied",
    }
}

fn of_unclear(unclear: &Unclear, strict: bool) -> Reason {
    let Unclear { kind, text, why } = unclear;
    let (verdict, end) = if strict {
        (Verdict::Ask, "so it needs confirmation while any rule denies or asks about commands")
    } else {
        (Verdict::Allow, "but no rule denies or asks about commands")
    };
    let start = match kind {
        UnclearKind::Script => "is not understood: it",
        UnclearKind::Name | UnclearKind::Opaque => "cannot be judged: it",
    };
    Reason { verdict, command: text.clone(), inside: Vec::new(), rule: None, why: format!("{start} {why}, {end}") }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.verdict.as_str(), shell::shorten(&self.command))?;
        if !self.inside.is_empty() {
            write!(f, " (inside {})", self.inside.join(", "))?;
        }
        write!(f, " {}", self.why)?;
        match &self.rule {
            Some(DecidingRule { text, path }) if text.is_empty() => write!(f, " ({})", path.display()),
            Some(DecidingRule { text, path }) => write!(f, " (rule `{text}` in {})", path.display()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Judgement {
    /// Writes the verdict, then one line for every reason, strictest first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.verdict.as_str())?;
        let mut reasons: Vec<&Reason> = self.reasons.iter().collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.verdict));
        for reason in reasons {
            writeln!(f, "  {reason}")?;
        }
        Ok(())
    }
}

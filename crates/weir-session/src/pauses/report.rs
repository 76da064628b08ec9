//! The part of the report on windows that is about pauses, for people and as data.

use serde_json::{Value, json};
use weir_core::wording::counted;

use super::course::{CacheCourse, Lifetime};
use super::study::{CacheGroup, CacheStudy, Choice, ChoiceCost};
use crate::replay::report::dollars;
use crate::replay::report::table::{Table, number, percent, signed};

/// The limit between pauses of minutes and of hours, in seconds.
const HOUR: f64 = 3_600.0;

impl Choice {
    /// Returns its name for people.
    pub fn title(self) -> String {
        match self {
            Self::Lifetime(lifetime) => format!("cache of {}", lifetime.title()),
            Self::Compact(_) => "compacted before pauses".to_owned(),
            Self::Clear => "cleared after pauses".to_owned(),
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Lifetime(lifetime) => lifetime.as_str(),
            Self::Compact(_) => "compact",
            Self::Clear => "clear",
        }
    }
}

/// Returns the paragraphs about a client.
pub(crate) fn text(study: &CacheStudy<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    for group in &study.groups {
        parts.push(head(study, group));
        parts.push(table(group));
        parts.push(study.advice(group));
    }
    parts
}

fn head(study: &CacheStudy<'_>, group: &CacheGroup<'_>) -> String {
    let requests: usize = group.courses.iter().map(|course| course.requests()).sum();
    let (one, many) = if group.is_subagents { ("subagent", "subagents") } else { ("session", "sessions") };
    format!(
        "Pauses of {}: {} of 5 requests or more, {} requests.\n{}",
        study.client.title,
        counted(group.courses.len(), one, many),
        number(requests as i64),
        group.finding()
    )
}

impl CacheGroup<'_> {
    /// Says how often the cache was cold after a pause, and what that has cost.
    pub fn finding(&self) -> String {
        if self.returns.is_empty() {
            return "The cache was never cold after a pause.".to_owned();
        }
        let tokens: u64 = self.returns.iter().map(|pause| pause.tokens).sum();
        let long = self.returns.iter().filter(|pause| pause.seconds > HOUR).count();
        format!(
            "{} of more than 5 minutes left the cache cold ({long} of them longer than an hour). {} tokens were written \
             again: {} of the cost.",
            counted(self.returns.len(), "pause", "pauses"),
            number(i64::try_from(tokens).unwrap_or(i64::MAX)),
            percent(self.rewritten_share())
        )
    }

    /// Says for whom a choice is cheaper and for whom it is dearer.
    pub fn for_whom(&self, cost: &ChoiceCost) -> String {
        let all = counted(self.courses.len(), "session", "sessions");
        match cost.dearer {
            0 => format!("cheaper for {} of {all}, dearer for none", cost.cheaper),
            dearer => {
                format!("cheaper for {} of {all}, dearer for {dearer} (the worst {})", cost.cheaper, signed(cost.worst))
            }
        }
    }

    /// Returns the figures of the recommended lifetime.
    pub fn recommended_cost(&self) -> Option<&ChoiceCost> {
        let best = self.best?;
        self.choices.iter().find(|cost| cost.choice == Choice::Lifetime(best))
    }

    pub fn is_now(&self, cost: &ChoiceCost) -> bool {
        cost.choice == Choice::Lifetime(self.now)
    }
}

fn table(group: &CacheGroup<'_>) -> String {
    let price = |cost: f64| if group.is_priced { dollars(cost) } else { String::new() };
    let mut table =
        Table::new(&["", "price", "change", "median session", "median project", "cheaper", "dearer", "worst"]);
    for cost in &group.choices {
        let title = format!("{}{}", cost.choice.title(), if group.is_now(cost) { " (now)" } else { "" });
        let [change, median, project, worst] = [cost.change, cost.median, cost.median_project, cost.worst].map(signed);
        let counts = [cost.cheaper, cost.dearer].map(|count| number(count as i64));
        let [cheaper, dearer] = counts;
        table.row([title, price(cost.cost), change, median, project, cheaper, dearer, worst]);
    }
    table.text()
}

impl CacheStudy<'_> {
    /// Says what to do about the pauses of a group. A command is named only where it pays.
    fn advice(&self, group: &CacheGroup<'_>) -> String {
        match self.command(group) {
            Some((command, written)) => format!("{}\n  {command}\n      writes {written}", self.verdict(group)),
            None => self.verdict(group),
        }
    }

    /// Says which lifetime pays for a group, if one does.
    pub fn verdict(&self, group: &CacheGroup<'_>) -> String {
        let whose = if group.is_subagents { "subagents" } else { "the main conversation" };
        match (self.settings(), group.recommended_cost()) {
            (None, _) => format!("Weir knows no setting of {} for how long the cache lives.", self.client.title),
            (_, None) => format!("Keep the cache of {whose} at {}: no other lifetime pays.", group.now.title()),
            (_, Some(cost)) => {
                let (title, change) = (cost.choice.title(), signed(cost.change));
                format!("A {title} for {whose}: {change}, {}.", group.for_whom(cost))
            }
        }
    }

    /// Returns the command that sets the recommended lifetime, and what it writes.
    pub fn command(&self, group: &CacheGroup<'_>) -> Option<(String, String)> {
        let (best, settings) = (group.best?, self.settings()?);
        let (option, setting) = match group.is_subagents {
            false => ("--cache", settings.main),
            true => ("--subagent-cache", settings.subagents),
        };
        let command = format!("weir setup {} {option} {}", self.client.name, best.as_str());
        Some((command, setting.written(&json!(best.as_str()))))
    }
}

pub(crate) fn data(study: &CacheStudy<'_>) -> Value {
    json!({
        "client": study.client.name,
        "groups": study.groups.iter().map(group_data).collect::<Vec<_>>(),
        "shorter": study.short,
    })
}

fn group_data(group: &CacheGroup<'_>) -> Value {
    let choice = |cost: &ChoiceCost| {
        json!({
            "choice": cost.choice.key(),
            "cost": cost.cost,
            "change": cost.change,
            "median": cost.median,
            "median_project": cost.median_project,
            "worst": cost.worst,
            "cheaper": cost.cheaper,
            "dearer": cost.dearer,
        })
    };
    let session = |course: &&CacheCourse| {
        let [minutes, hour] = Lifetime::ALL.map(|lifetime| course.at(lifetime));
        json!({
            "name": course.name,
            "requests": course.requests(),
            "recorded": course.recorded(),
            "5m": minutes,
            "1h": hour,
            "5m_cleared": course.cleared(Lifetime::Minutes),
            "1h_cleared": course.cleared(Lifetime::Hour),
        })
    };
    json!({
        "of": if group.is_subagents { "subagents" } else { "main" },
        "now": group.now.as_str(),
        "is_set": group.is_set,
        "cost": group.recorded,
        "cost_in": if group.is_priced { "usd" } else { "input_tokens" },
        "cold_returns": group.returns.len(),
        "written_again": group.returns.iter().map(|pause| pause.tokens).sum::<u64>(),
        "written_again_cost": group.rewritten,
        "choices": group.choices.iter().map(choice).collect::<Vec<_>>(),
        "recommended": group.best.map(Lifetime::as_str),
        "sessions": group.courses.iter().map(session).collect::<Vec<_>>(),
    })
}

//! The report on windows, for people and as data.

use serde_json::{Value, json};
use weir_core::wording::counted;
use weir_host::answer::Answer;

use super::simulation::{CompactionCost, Limit};
use super::study::{LengthCost, Played, Study};
use crate::pauses::{self, CacheStudy};
use crate::replay::report::table::{Table, number, signed};
use crate::replay::report::{copied_requests, dollars};

/// What the sessions of each client would have cost, and what is known apart from them.
pub(super) struct WindowReport<'a> {
    pub studies: Vec<Study<'a>>,
    /// What their pauses have cost.
    pub pauses: Vec<CacheStudy<'a>>,
    /// The number of sessions that were too short to matter.
    pub short: usize,
    /// The number of sessions that do not say how long their requests were.
    pub unmeasured: usize,
    /// The number of requests that were left out because another session has them too.
    pub copied: usize,
    /// The number of older transcripts that were not read.
    pub left_out: usize,
    /// The number of files that are not transcripts.
    pub others: usize,
    /// Transcripts that could not be read, with the reason.
    pub unreadable: Vec<String>,
}

impl WindowReport<'_> {
    pub(super) fn answer(&self) -> Answer {
        if self.studies.is_empty() && self.pauses.is_empty() {
            let none = format!(
                "There is no session of 30 requests or more to look at ({}). Run this again after a longer one.",
                counted(self.short, "shorter one", "shorter ones")
            );
            let text = [vec![none], self.left_outs()].concat().join("\n");
            return Answer::nothing(text, json!({ "clients": [], "shorter": self.short }));
        }
        let mut parts: Vec<String> = Vec::new();
        for study in &self.studies {
            parts.extend([head(study), table(study), study.advice(), assumptions(study)]);
        }
        parts.extend(self.pauses.iter().flat_map(pauses::text));
        let mut remarks = vec!["What a summary forgets is in none of these figures.".to_owned()];
        if self.short > 0 {
            remarks.push(format!("{} left out.", counted(self.short, "shorter session was", "shorter sessions were")));
        }
        remarks.extend(self.left_outs());
        parts.push(remarks.join("\n"));
        Answer::new(parts.join("\n\n"), self.data())
    }

    /// Describes what was not examined.
    fn left_outs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.unmeasured > 0 {
            let sessions = counted(self.unmeasured, "session does", "sessions do");
            lines.push(format!("{sessions} not say how many tokens the requests had, and cannot be counted."));
        }
        lines.extend(copied_requests(self.copied));
        if self.left_out > 0 {
            let older = counted(self.left_out, "older transcript was", "older transcripts were");
            lines.push(format!("{older} not read: raise --newest."));
        }
        if self.others > 0 {
            lines.push(format!("{} not a transcript.", counted(self.others, "file is", "files are")));
        }
        lines.extend(self.unreadable.iter().map(|problem| format!("Not read: {problem}")));
        lines
    }

    fn data(&self) -> Value {
        json!({
            "clients": self.studies.iter().map(data).collect::<Vec<_>>(),
            "cache": self.pauses.iter().map(pauses::data).collect::<Vec<_>>(),
            "shorter": self.short,
            "unmeasured": self.unmeasured,
            "copied_requests": self.copied,
            "left_out": self.left_out,
            "not_transcripts": self.others,
            "unreadable": self.unreadable,
        })
    }
}

fn head(study: &Study<'_>) -> String {
    let requests: usize = study.sessions.iter().map(|played| played.growth.requests()).sum();
    let longest = study.sessions.iter().map(|played| played.growth.longest).max().unwrap_or(0);
    format!(
        "{}: {} of 30 requests or more, {} requests, the longest window {} tokens.\n{}",
        study.client.title,
        counted(study.sessions.len(), "session", "sessions"),
        number(requests as i64),
        number(longest as i64),
        study.as_recorded()
    )
}

fn table(study: &Study<'_>) -> String {
    let price = |cost: f64| if study.is_priced { dollars(cost) } else { String::new() };
    let mut table =
        Table::new(&["compacted at", "compactions", "price", "change", "median", "cheaper", "dearer", "worst"]);
    let now: u64 = study.sessions.iter().map(|played| played.now.compactions).sum();
    let is_now = |length: u64| study.now == Limit::At(length);
    if study.now == Limit::Recorded {
        let blank = || String::new();
        let price = price(study.cost_now());
        table.row(["as recorded".into(), number(now as i64), price, blank(), blank(), blank(), blank(), blank()]);
    }
    for row in &study.lengths {
        table.row([
            format!("{}{}", number(row.length as i64), if is_now(row.length) { " (now)" } else { "" }),
            number(row.compactions as i64),
            price(row.cost),
            signed(row.change),
            signed(row.median),
            number(row.cheaper as i64),
            number(row.dearer as i64),
            signed(row.worst),
        ]);
    }
    table.text()
}

fn assumptions(study: &Study<'_>) -> String {
    let CompactionCost { summary, carried, again, requests } = study.each;
    let [summary, carried, again, requests] =
        [summary, carried, again, requests].map(|mean| number(mean.round() as i64));
    let mut lines = vec![format!(
        "Each compaction costs a summary of {summary} tokens, leaves {carried} tokens besides what every request has, \
         and {again} tokens are read again in {requests} requests ({}).",
        study.aftermath.basis()
    )];
    let unpriced = study.sessions.iter().filter(|played| played.growth.rates.dollars.is_none()).count();
    if unpriced > 0 {
        lines.push(format!(
            "{} a model without a known price: relative prices are used instead of money.",
            counted(unpriced, "session has", "sessions have")
        ));
    }
    lines.join("\n")
}

impl Study<'_> {
    /// Says where the sessions were compacted, or where the client compacts now.
    pub fn as_recorded(&self) -> String {
        if let Limit::At(length) = self.now {
            return format!("The change is against {} tokens, where it compacts now.", number(length as i64));
        }
        let at = || self.sessions.iter().flat_map(|played| &played.growth.compactions).map(|made| made.before);
        let times = at().count();
        match (at().min(), at().max()) {
            (Some(least), Some(most)) => format!(
                "They were compacted {}, at {} to {} tokens; the change is against that.",
                counted(times, "time", "times"),
                number(least as i64),
                number(most as i64)
            ),
            _ => "They were never compacted; the change is against that.".to_owned(),
        }
    }

    /// Says for whom a length is cheaper and for whom it is dearer.
    pub fn for_whom(&self, cost: &LengthCost) -> String {
        let all = self.sessions.len();
        let mut text = format!("cheaper for {} of {}", cost.cheaper, counted(all, "session", "sessions"));
        match cost.dearer {
            0 => text.push_str(", dearer for none"),
            dearer => text.push_str(&format!(", dearer for {dearer} (the worst {})", signed(cost.worst))),
        }
        if cost.too_small > 0 {
            text.push_str(&format!(", too small for {}", cost.too_small));
        }
        text
    }

    fn advice(&self) -> String {
        let Some(setting) = self.setting() else {
            return format!("Weir does not know how to set when {} compacts.", self.client.title);
        };
        let command = |length: u64, value: &Value| {
            let written = setting.setting.written(value);
            format!("  weir setup {} --window {length}\n      writes {written}", self.client.name)
        };
        let mut lines = match self.best.and_then(|best| self.find(best)).zip(self.best.and_then(|at| setting.value(at)))
        {
            Some((best, value)) => vec![
                format!("Compact at {}: {}, {}.", number(best.length as i64), signed(best.change), self.for_whom(best)),
                command(best.length, &value),
            ],
            None => vec![self.why_keep().to_owned()],
        };
        if let Some(default) = self.find(setting.default).filter(|default| default.change.abs() > super::study::SAME) {
            lines.push(format!(
                "{} {} compacts at {} unless it is set, {}: {}.",
                self.client.title,
                setting.version,
                number(default.length as i64),
                setting.note,
                signed(default.change)
            ));
        }
        lines.join("\n")
    }
}

fn data(study: &Study<'_>) -> Value {
    let row = |row: &LengthCost| {
        json!({
            "length": row.length,
            "cost": row.cost,
            "compactions": row.compactions,
            "change": row.change,
            "median": row.median,
            "worst": row.worst,
            "cheaper": row.cheaper,
            "dearer": row.dearer,
            "too_small_for": row.too_small,
        })
    };
    let session = |played: &Played<'_>| {
        let at = |cost: &LengthCost| {
            let (at, change) = study.at(played, cost.length);
            json!({ "length": cost.length, "change": change, "compactions": at.compactions })
        };
        json!({
            "name": played.growth.name,
            "requests": played.growth.requests(),
            "begins_with": played.growth.first,
            "prefix": played.prefix,
            "longest": played.growth.longest,
            "compacted_at": played.growth.compactions.iter().map(|made| made.before).collect::<Vec<_>>(),
            "lengths": study.lengths.iter().map(at).collect::<Vec<_>>(),
        })
    };
    json!({
        "client": study.client.name,
        "now": match study.now {
            Limit::Recorded => Value::Null,
            Limit::At(length) => json!(length),
        },
        "cost": study.cost_now(),
        "cost_in": if study.is_priced { "usd" } else { "input_tokens" },
        "lengths": study.lengths.iter().map(row).collect::<Vec<_>>(),
        "recommended": study.best,
        "sessions": study.sessions.iter().map(session).collect::<Vec<_>>(),
        "aftermath": {
            "compactions": study.aftermath.compactions(),
            "summary": study.each.summary,
            "carried": study.each.carried,
            "read_again": study.each.again,
            "requests": study.each.requests,
        },
    })
}

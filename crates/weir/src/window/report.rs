//! The report on windows, for people and as data.

use serde_json::{Value, json};
use weir_clients::setup::{self, Window};
use weir_core::wording::counted;

use super::LENGTHS;
use super::simulation::{Aftermath, CostAtLength, WindowGrowth};
use crate::answer::Answer;
use crate::replay::report::table::{Table, number, signed};
use crate::replay::report::{copied_requests, dollars};

/// The length of the longest bar, in characters.
const MAX_BAR_CHARS: f64 = 24.0;

/// The sessions, and what is known apart from them.
pub(super) struct WindowReport {
    pub courses: Vec<WindowGrowth>,
    pub aftermath: Aftermath,
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
    /// The length that the others are compared with.
    pub against: u64,
}

/// All sessions at one length.
struct Row {
    length: u64,
    cost: f64,
    /// The cost in US dollars of the sessions with a known price.
    dollars: f64,
    compactions: u64,
    /// The number of sessions that would have been full again immediately.
    too_small: usize,
}

impl WindowReport {
    pub(super) fn answer(&self) -> Answer {
        if self.courses.is_empty() {
            let none = format!(
                "There is no session of 30 requests or more to look at ({}). Run this again after a longer one.",
                counted(self.short, "shorter one", "shorter ones")
            );
            let text = [vec![none], self.left_outs()].concat().join("\n");
            return Answer::nothing(text, json!({ "sessions": [], "shorter": self.short }));
        }
        let rows: Vec<Row> = self.lengths().into_iter().map(|length| self.row(length)).collect();
        let against = self.row(self.against);
        let best = rows.iter().filter(|row| row.too_small == 0).min_by(|a, b| a.cost.total_cmp(&b.cost));
        let mut parts = vec![self.head(), self.table(&rows, &against)];
        parts.extend(best.map(|best| self.advice(best, &against)));
        parts.push(self.remarks().join("\n"));
        Answer::new(parts.join("\n\n"), self.data(&rows, &against, best))
    }

    fn lengths(&self) -> Vec<u64> {
        let mut lengths = LENGTHS.to_vec();
        if !lengths.contains(&self.against) {
            lengths.push(self.against);
            lengths.sort_unstable();
        }
        lengths
    }

    fn row(&self, length: u64) -> Row {
        let mut row = Row { length, cost: 0.0, dollars: 0.0, compactions: 0, too_small: 0 };
        for course in &self.courses {
            let CostAtLength { cost, compactions, too_small, .. } = course.at(length, &self.aftermath);
            row.cost += cost;
            row.dollars += cost * course.rates.dollars.unwrap_or(0.0);
            row.compactions += compactions;
            row.too_small += usize::from(too_small && compactions > 0);
        }
        row
    }

    fn head(&self) -> String {
        let requests: usize = self.courses.iter().map(WindowGrowth::requests).sum();
        let longest = self.courses.iter().map(|course| course.longest).max().unwrap_or(0);
        let sessions = counted(self.courses.len(), "session", "sessions");
        format!(
            "{sessions} of 30 requests or more: {} requests, the longest window {} tokens.\n\
             What they would have cost, compacted at:",
            number(requests as i64),
            number(longest as i64)
        )
    }

    fn table(&self, rows: &[Row], against: &Row) -> String {
        let most = rows.iter().map(|row| row.cost).fold(1.0, f64::max);
        let compared = format!("against {}", number(self.against as i64));
        let mut table = Table::new(&["length", "compactions", "price", &compared, ""]);
        for row in rows {
            let bar = "█".repeat((row.cost / most * MAX_BAR_CHARS).round() as usize);
            let small = match row.too_small {
                0 => String::new(),
                sessions => format!("  too small for {}", counted(sessions, "session", "sessions")),
            };
            table.row([
                number(row.length as i64),
                number(row.compactions as i64),
                if against.dollars > 0.0 { dollars(row.dollars) } else { String::new() },
                signed(row.cost / against.cost - 1.0),
                format!("{bar}{small}"),
            ]);
        }
        table.text()
    }

    /// Describes the length that would have cost least, and how to set it.
    fn advice(&self, best: &Row, against: &Row) -> String {
        let share = signed(best.cost / against.cost - 1.0);
        let mut lines = vec![format!("Cheapest at {} tokens: {share}. To set it:", number(best.length as i64))];
        let mut names: Vec<(&str, &str)> =
            self.courses.iter().map(|course| (course.client.name, course.client.title)).collect();
        names.sort_unstable();
        names.dedup();
        for (name, title) in names {
            let Some(window) = setup::find(name).and_then(|recipe| recipe.window) else {
                lines.push(format!("  {title}: when it compacts is not known"));
                continue;
            };
            let Window { version, default, note, smallest, setting, .. } = window;
            lines.push(match window.value(best.length) {
                Some(value) => {
                    format!("  weir setup {name} --window {}\n      writes {}", best.length, setting.written(&value))
                }
                None => format!("  {title} cannot compact below {} tokens", number(smallest as i64)),
            });
            lines.push(format!("      {title} {version} compacts at {} by default, {note}", number(default as i64)));
        }
        lines.join("\n")
    }

    fn remarks(&self) -> Vec<String> {
        let [summary, again, requests] = self.aftermath.means().map(|mean| number(mean.round() as i64));
        let basis = self.aftermath.basis();
        let mut remarks = vec![format!(
            "Each compaction costs a summary of {summary} tokens, {again} tokens read again and {requests} requests for them ({basis})."
        )];
        let unpriced = self.courses.iter().filter(|course| course.rates.dollars.is_none()).count();
        if unpriced > 0 {
            remarks.push(format!(
                "{} a model without a known price: relative prices are used instead, and its money is not counted.",
                counted(unpriced, "session has", "sessions have")
            ));
        }
        if self.short > 0 {
            remarks.push(format!("{} left out.", counted(self.short, "shorter session was", "shorter sessions were")));
        }
        remarks.extend(self.left_outs());
        remarks
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

    fn data(&self, rows: &[Row], against: &Row, best: Option<&Row>) -> Value {
        let [summary, again, requests] = self.aftermath.means();
        let row = |row: &Row| {
            json!({
                "length": row.length,
                "cost": row.cost,
                "usd": row.dollars,
                "compactions": row.compactions,
                "too_small_for": row.too_small,
                "against": row.cost / against.cost - 1.0,
            })
        };
        let session = |course: &WindowGrowth| {
            let base = course.at(self.against, &self.aftermath).cost;
            let at = |length: &u64| {
                let priced = course.at(*length, &self.aftermath);
                json!({ "length": length, "against": priced.cost / base - 1.0, "compactions": priced.compactions })
            };
            json!({
                "name": course.name,
                "client": course.client.name,
                "requests": course.requests(),
                "begins_with": course.base,
                "longest": course.longest,
                "lengths": self.lengths().iter().map(at).collect::<Vec<_>>(),
            })
        };
        json!({
            "against": self.against,
            "lengths": rows.iter().map(row).collect::<Vec<_>>(),
            "least": best.map(|best| best.length),
            "sessions": self.courses.iter().map(session).collect::<Vec<_>>(),
            "shorter": self.short,
            "unmeasured": self.unmeasured,
            "copied_requests": self.copied,
            "left_out": self.left_out,
            "not_transcripts": self.others,
            "unreadable": self.unreadable,
            "aftermath": {
                "compactions": self.aftermath.compactions(),
                "summary": summary,
                "read_again": again,
                "requests": requests,
            },
        })
    }
}

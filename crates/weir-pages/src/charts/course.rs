//! The length of a session's window, request by request, cut where it was compacted.

use maud::{Markup, html};

use super::{Axis, percent, px};
use crate::figures::{count, ordinal};
use crate::text::Text;

const TOP: f64 = 40.0;
const HEIGHT: f64 = 166.0;
/// Where the three rows of ticks begin, and how far they are apart.
const ROWS: f64 = 228.0;
const ROW: f64 = 16.0;
const TOTAL: u32 = 286;
const AXIS_WIDTH: u32 = 72;

/// How long the window was, request by request.
#[derive(Debug, Clone, Default)]
pub struct WindowCourse {
    /// Tokens at each request, from the first.
    pub lengths: Vec<u64>,
    /// Requests with the length that they would have had without Weir, until the client would have compacted.
    pub without: Vec<(u64, u64)>,
    /// The length at which the client compacts.
    pub limit: Option<u64>,
    /// Where the conversation was compacted, in order.
    pub compactions: Vec<Compaction>,
    /// The requests with a prompt of the user.
    pub prompts: Vec<u64>,
    /// The requests after which something failed.
    pub errors: Vec<u64>,
    /// The requests after which an output was held back.
    pub held: Vec<u64>,
    /// What is to be seen, in whole sentences; the exception first.
    pub remarks: Vec<Text>,
}

#[derive(Debug, Clone, Copy)]
pub struct Compaction {
    /// The last request before it, from 1.
    pub request: u64,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
}

pub(crate) fn course(course: &WindowCourse) -> Markup {
    let longest = course.lengths.iter().chain(course.without.iter().map(|(_, length)| length)).max().copied();
    let highest = longest.max(course.limit).unwrap_or(0);
    let axis = Axis::new(0.0, highest as f64, TOP, HEIGHT);
    let place = Place { last: course.lengths.len().saturating_sub(1).max(1) as f64 };
    html! {
        div.beside {
            (axis.beside(AXIS_WIDTH, TOTAL, |value, _| count(value as u64)))
            svg.y.under width=(AXIS_WIDTH) height=(TOTAL) aria-hidden="true" {
                @for (at, name) in ["Prompts", "Errors", "Held back"].iter().enumerate() {
                    text.end x=(AXIS_WIDTH - 8) y=(px(ROWS + 4.0 + ROW * at as f64)) { (name) }
                }
            }
        }
        svg.x width="100%" height=(TOTAL) aria-hidden="true" {
            (axis.grid())
            (curves(course, &axis, &place))
            @if let Some(limit) = course.limit { (limit_line(limit, &axis)) }
            (marks(course, &place))
            (ticks(course, &place))
            (names(course, &place))
        }
    }
}

/// The room that the label of a compaction takes, in percent.
const LABEL: f64 = 16.0;

/// Returns a line for each compaction, labelled where there is room for it.
fn marks(course: &WindowCourse, place: &Place) -> Markup {
    let mut free = 0.0;
    let marks = course.compactions.iter().map(|compaction| {
        let at = place.x(compaction.request) + place.half();
        let is_late = at + LABEL > 102.0;
        let from = if is_late { at - LABEL } else { at };
        let has_room = from >= free;
        if has_room {
            free = from + LABEL;
        }
        (at, is_late, has_room)
    });
    let marks: Vec<(f64, bool, bool)> = marks.collect();
    html! {
        @for (at, (compaction, (x, is_late, has_room))) in course.compactions.iter().zip(marks).enumerate() {
            @let (x, dx) = (percent(x), if is_late { "-8" } else { "8" });
            line.mark x1=(x) x2=(x) y1="4" y2=(px(TOP + HEIGHT)) {}
            @if has_room {
                text.strong.only-wide.end[is_late] x=(x) dx=(dx) y="14" {
                    "Compacted"
                }
                text.only-wide.end[is_late] x=(x) dx=(dx) y="30" {
                    (count(compaction.before)) " → " (count(compaction.after))
                }
                text.strong.end.only-narrow x=(x) dx="-4" y="14" { (ordinal(at as u64 + 1)) }
            }
        }
    }
}

/// Where requests are across the chart.
struct Place {
    last: f64,
}

impl Place {
    /// Returns where a request is, which is counted from 1, in percent.
    fn x(&self, request: u64) -> f64 {
        ((request.saturating_sub(1)) as f64 / self.last * 100.0).min(100.0)
    }

    fn half(&self) -> f64 {
        50.0 / self.last
    }

    /// Returns where a stretch of requests is. A single one is as wide as a request, since a point alone draws nothing.
    fn points(&self, run: &[(u64, u64)]) -> Vec<(f64, u64)> {
        match run {
            [(request, length)] => {
                let (x, half) = (self.x(*request), self.half());
                vec![((x - half).max(0.0), *length), ((x + half).min(100.0), *length)]
            }
            run => run.iter().map(|(request, length)| (self.x(*request), *length)).collect(),
        }
    }
}

fn limit_line(limit: u64, axis: &Axis) -> Markup {
    let y = axis.y(limit as f64);
    html! {
        line.rule x1="0" x2="100%" y1=(px(y)) y2=(px(y)) {}
        text.only-wide x="0" dx="4" y=(px(y - 6.0)) { "the client compacts at " (count(limit)) }
    }
}

fn curves(course: &WindowCourse, axis: &Axis, place: &Place) -> Markup {
    let point = |(x, length): &(f64, u64)| format!("{} {}", px(*x), px(axis.y(*length as f64)));
    let zero = px(axis.y(0.0));
    let mut lines = String::new();
    let mut areas = String::new();
    for run in runs(course) {
        let points = place.points(&run);
        let path: Vec<String> = points.iter().map(point).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        lines.push_str(&format!("M{}", path.join(" L")));
        areas.push_str(&format!("M{} {zero} L{} L{} {zero}Z", px(first.0), path.join(" L"), px(last.0)));
    }
    let without = course.without.iter().map(|(request, length)| (place.x(*request), *length));
    let other: Vec<String> = without.map(|at| point(&at)).collect();
    html! {
        svg x="0" y="0" width="100%" height=(TOTAL) viewBox={ "0 0 100 " (TOTAL) } preserveAspectRatio="none" {
            path.area d=(areas) {}
            @if !other.is_empty() { path.stroke.other d={ "M" (other.join(" L")) } {} }
            path.stroke d=(lines) {}
        }
    }
}

/// Returns the stretches between compactions, as requests with their lengths.
fn runs(course: &WindowCourse) -> Vec<Vec<(u64, u64)>> {
    let mut runs = vec![Vec::new()];
    for (request, length) in (1..).zip(&course.lengths) {
        if let Some(run) = runs.last_mut() {
            run.push((request, *length));
        }
        if course.compactions.iter().any(|compaction| compaction.request == request) {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn ticks(course: &WindowCourse, place: &Place) -> Markup {
    let rows = [("user", &course.prompts), ("bad", &course.errors), ("held", &course.held)];
    html! {
        @for (at, (class, requests)) in rows.iter().enumerate() {
            @let y = ROWS + ROW * at as f64;
            line.grid x1="0" x2="100%" y1=(px(y)) y2=(px(y)) {}
            @for request in *requests {
                @let x = percent(place.x(*request));
                line.tick.(class) x1=(x) x2=(x) y1=(px(y - 5.0)) y2=(px(y + 5.0)) {}
            }
        }
    }
}

fn names(course: &WindowCourse, place: &Place) -> Markup {
    let last = course.lengths.len() as u64;
    let step = (last / 4).max(1);
    let step = if step > 10 { step / 10 * 10 } else { step };
    // The first and the last one are named at the ends.
    let is_named = |request: &u64| *request > 1 && request + step / 2 < last;
    html! {
        text x="0" y=(TOTAL - 4) { "request 1" }
        @for (at, request) in (1..4).map(|part| part * step).filter(is_named).enumerate() {
            text.mid.only-wide[at == 0] x=(percent(place.x(request))) y=(TOTAL - 4) { (count(request)) }
        }
        @if last > 1 { text.end x="100%" y=(TOTAL - 4) { (count(last)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_between_two_compactions_is_drawn() {
        let place = Place { last: 4.0 };
        assert_eq!(place.points(&[(3, 7)]), [(37.5, 7), (62.5, 7)]);
        assert_eq!(place.points(&[(1, 7), (2, 8)]), [(0.0, 7), (25.0, 8)]);
        let only = WindowCourse { lengths: vec![600], ..WindowCourse::default() };
        let drawn = course(&only).into_string();
        assert!(drawn.contains("<path class=\"stroke\" d=\"M0 40 L50 40\">"), "{drawn}");
    }

    #[test]
    fn the_first_request_of_a_short_session_is_named_once() {
        let short = WindowCourse { lengths: vec![600; 5], ..WindowCourse::default() };
        let drawn = course(&short).into_string();
        assert!(drawn.contains(">request 1</text>") && !drawn.contains(">1</text>"), "{drawn}");
        assert!(drawn.contains(">2</text>") && drawn.contains(">3</text>") && drawn.contains(">5</text>"), "{drawn}");
    }
}

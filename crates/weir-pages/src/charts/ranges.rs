//! Two values of each day, one above the other, as points that a line joins. A day without them is a gap.

use maud::{Markup, html};

use super::{Axis, percent, px, slot};

const TOP: f64 = 16.0;
const HEIGHT: f64 = 106.0;
const BELOW: f64 = 28.0;
const MAX_NAMED: usize = 5;

/// Two values of one day.
pub(crate) struct Range {
    /// The lower and the higher value; none is a gap.
    pub(crate) values: Option<Span>,
    /// What stands below it.
    pub(crate) name: String,
    /// Everything about it in one line.
    pub(crate) title: String,
}

/// A lower and a higher value.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Returns the chart. `label` writes a value of the axis.
pub(crate) fn ranges(ranges: &[Range], label: impl Fn(f64, bool) -> String) -> Markup {
    let highest = ranges.iter().filter_map(|range| range.values).map(|span| span.high).fold(0.0, f64::max);
    let axis = Axis::new(0.0, highest, TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    html! {
        (axis.beside(60, height, label))
        svg.x width="100%" height=(height) aria-hidden="true" {
            (axis.grid())
            @for (at, range) in ranges.iter().enumerate() { (one(range, at, ranges.len(), &axis)) }
        }
    }
}

fn one(range: &Range, at: usize, all: usize, axis: &Axis) -> Markup {
    let (width, middle) = slot(at, all);
    let x = percent(middle);
    // Names thin out from the end, so that the last one stays.
    let is_named = (all - 1 - at).is_multiple_of(all.div_ceil(MAX_NAMED));
    html! {
        g.day {
            rect.hit x=(percent(middle - width / 2.0)) width=(percent(width)) y="0" height=(px(TOP + HEIGHT)) {}
            @if let Some(span) = range.values {
                line.tick x1=(x) x2=(x) y1=(px(axis.y(span.low))) y2=(px(axis.y(span.high))) {}
                circle.s0 cx=(x) cy=(px(axis.y(span.high))) r="3" {}
                circle.s1 cx=(x) cy=(px(axis.y(span.low))) r="3.5" {}
            }
            title { (range.title) }
            @if is_named {
                text.mid.strong[at + 1 == all] x=(x) y=(px(TOP + HEIGHT + BELOW - 6.0)) { (range.name) }
            }
        }
    }
}

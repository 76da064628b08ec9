//! Bars above and below zero, one for each day.

use maud::{Markup, html};

use super::{Axis, percent, px, slot};

/// A bar.
pub(crate) struct Bar {
    /// Its value; none is a gap.
    pub(crate) value: Option<f64>,
    /// The figure above or below it.
    pub(crate) figure: String,
    /// What stands below it, where there is room and where there is not.
    pub(crate) wide: String,
    pub(crate) narrow: String,
    /// Everything about it in one line.
    pub(crate) title: String,
    /// Whether it is what the chart is about.
    pub(crate) is_strong: bool,
}

const TOP: f64 = 22.0;
const HEIGHT: f64 = 160.0;
const BELOW: f64 = 46.0;
/// Beyond this many bars only the strong ones and the losses have their figure.
const MAX_LABELLED: usize = 14;

/// Returns the chart. `label` writes a value of the axis.
pub(crate) fn bars(bars: &[Bar], label: impl Fn(f64, bool) -> String) -> Markup {
    let values = || bars.iter().filter_map(|bar| bar.value);
    let axis = Axis::new(values().fold(0.0, f64::min), values().fold(0.0, f64::max), TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    html! {
        (axis.beside(48, height, label))
        svg.x width="100%" height=(height) aria-hidden="true" {
            (axis.grid())
            @for (at, bar) in bars.iter().enumerate() { (one(bar, at, bars.len(), &axis)) }
        }
    }
}

fn one(bar: &Bar, at: usize, all: usize, axis: &Axis) -> Markup {
    let (width, middle) = slot(at, all);
    let bottom = px(TOP + HEIGHT + BELOW - 6.0);
    // Dates thin out from the end, so that the last one stays.
    let has_date = all <= MAX_LABELLED || (all - 1 - at).is_multiple_of(all.div_ceil(7));
    let has_narrow_date = bar.is_strong || bar.value.is_some_and(|value| value < 0.0) || at == 0;
    html! {
        g.day {
            rect.hit x=(percent(middle - width / 2.0)) width=(percent(width)) y="0" height=(bottom) {}
            @if let Some(value) = bar.value { (column(bar, value, (middle, width, all), axis)) }
            title { (bar.title) }
            @if has_date { text.mid.only-wide.strong[bar.is_strong] x=(percent(middle)) y=(bottom) { (bar.wide) } }
            @if has_narrow_date {
                text.mid.only-narrow.strong[bar.is_strong] x=(percent(middle)) y=(bottom) { (bar.narrow) }
            }
        }
    }
}

fn column(bar: &Bar, value: f64, (middle, width, all): (f64, f64, usize), axis: &Axis) -> Markup {
    let (zero, end) = (axis.y(0.0), axis.y(value));
    let is_loss = value < 0.0;
    let thick = width * 0.56;
    let is_labelled = all <= MAX_LABELLED || is_loss || bar.is_strong;
    html! {
        rect.s1[!is_loss].down[is_loss] x=(percent(middle - thick / 2.0)) width=(percent(thick)) y=(px(zero.min(end)))
            height=(px((zero - end).abs().max(1.0))) {}
        @if is_labelled {
            text.mid.neg[is_loss].strong[bar.is_strong && !is_loss].only-wide[!is_loss && !bar.is_strong]
                x=(percent(middle)) y=(px(if is_loss { end + 15.0 } else { end - 6.0 })) { (bar.figure) }
        }
    }
}

//! Two quantities of each day as dots on one line: what is usual, and what is rare.

use maud::{Markup, html};

use super::{Axis, percent, px, slot};

const TOP: f64 = 16.0;
const HEIGHT: f64 = 106.0;
const BELOW: f64 = 28.0;

/// The dots of one day; none is a gap.
pub(crate) struct Dots {
    pub(crate) values: Option<(f64, f64)>,
    pub(crate) name: String,
    pub(crate) title: String,
}

/// Returns the chart. `label` writes a value of the axis.
pub(crate) fn dots(days: &[Dots], label: impl Fn(f64, bool) -> String) -> Markup {
    let highest = days.iter().filter_map(|day| day.values).map(|(low, high)| low.max(high)).fold(0.0, f64::max);
    let axis = Axis::new(0.0, highest, TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    let step = days.len().div_ceil(7).max(1);
    html! {
        (axis.beside(48, height, label))
        svg.x width="100%" height=(height) aria-hidden="true" {
            (axis.grid())
            @for (at, day) in days.iter().enumerate() {
                @let (width, middle) = slot(at, days.len());
                @if let Some((low, high)) = day.values {
                    g.day {
                        rect.hit x=(percent(middle - width / 2.0)) width=(percent(width)) y="0"
                            height=(px(TOP + HEIGHT)) {}
                        line.tick x1=(percent(middle)) x2=(percent(middle)) y1=(px(axis.y(low))) y2=(px(axis.y(high)))
                            {}
                        circle.s0 cx=(percent(middle)) cy=(px(axis.y(high))) r="3" {}
                        circle.s1 cx=(percent(middle)) cy=(px(axis.y(low))) r="3.5" {}
                        title { (day.title) }
                    }
                }
                @if (days.len() - 1 - at).is_multiple_of(step) {
                    text.mid.strong[at + 1 == days.len()] x=(percent(middle)) y=(height - 6) { (day.name) }
                }
            }
        }
    }
}

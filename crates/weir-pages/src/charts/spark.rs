//! A small line without axes, in a row of a table whose figures it repeats.

use maud::{Markup, html};

use super::px;

const WIDTH: f64 = 104.0;
const HEIGHT: f64 = 28.0;

/// Returns a line through the values, with a dot on the chosen one. The grid line is at the last value, which the
/// others are compared with.
pub(crate) fn spark(values: &[f64], chosen: Option<usize>) -> Markup {
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| HEIGHT - 4.0 - (HEIGHT - 8.0) * (value - low) / span;
    let x = |at: usize| 4.0 + (WIDTH - 8.0) * at as f64 / values.len().saturating_sub(1).max(1) as f64;
    let points: Vec<String> =
        values.iter().enumerate().map(|(at, value)| format!("{} {}", px(x(at)), px(y(*value)))).collect();
    html! {
        @if let Some(last) = values.last().filter(|_| values.iter().all(|value| value.is_finite())) {
            svg.spark width=(px(WIDTH)) height=(px(HEIGHT)) viewBox={ "0 0 " (px(WIDTH)) " " (px(HEIGHT)) }
                aria-hidden="true" {
                line.grid x1="0" x2=(px(WIDTH)) y1=(px(y(*last))) y2=(px(y(*last))) {}
                path.stroke d={ "M" (points.join(" L")) } {}
                @if let Some(at) = chosen.filter(|at| *at < values.len()) {
                    circle cx=(px(x(at))) cy=(px(y(values[at]))) r="2.5" {}
                }
            }
        }
    }
}

/// Returns a bar that is filled up to a part of one.
pub(crate) fn meter(part: f64, class: &str) -> Markup {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    html! {
        svg.meter width="100%" height="6" aria-hidden="true" {
            rect.of width="100%" height="6" rx="3" {}
            rect.is.(class) width=(super::percent(part * 100.0)) height="6" rx="3" {}
        }
    }
}

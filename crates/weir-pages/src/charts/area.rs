//! A quantity over days, as an area. A day that was not measured is a gap.

use maud::{Markup, html};

use super::{Axis, percent, px};

const TOP: f64 = 16.0;
const HEIGHT: f64 = 106.0;
const BELOW: f64 = 28.0;

/// A quantity on one day.
pub(crate) struct Level {
    pub(crate) value: Option<f64>,
    pub(crate) name: String,
}

/// Returns the chart. `label` writes a value of the axis, `last` the newest value.
pub(crate) fn area(levels: &[Level], last: &str, label: impl Fn(f64, bool) -> String) -> Markup {
    let highest = levels.iter().filter_map(|level| level.value).fold(0.0, f64::max);
    let axis = Axis::new(0.0, highest, TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    let end = levels.len().saturating_sub(1);
    let x = |at: usize| 100.0 * at as f64 / end.max(1) as f64;
    let half = 50.0 / end.max(1) as f64;
    let step = levels.len().div_ceil(5).max(1);
    html! {
        (axis.beside(60, height, label))
        svg.x width="100%" height=(height) aria-hidden="true" {
            (axis.grid())
            svg x="0" y="0" width="100%" height=(height) viewBox={ "0 0 100 " (height) } preserveAspectRatio="none" {
                @for run in runs(levels) {
                    @let points = points(&run, x, half);
                    path.area d=(outline(&points, &axis, true)) {}
                    path.stroke d=(outline(&points, &axis, false)) {}
                }
            }
            @for (at, level) in levels.iter().enumerate().filter(|(at, _)| (end - at).is_multiple_of(step)) {
                text.mid[at > 0 && at < end].end[at == end && at > 0].strong[at == end] x=(percent(x(at)))
                    y=(height - 6) {
                    (level.name)
                }
            }
            @if let Some(value) = levels.last().and_then(|level| level.value) {
                text.end.strong x="100%" dx="-4" y=(px((axis.y(value) - 8.0).max(12.0))) { (last) }
            }
        }
    }
}

/// Returns the stretches of days that were measured.
fn runs(levels: &[Level]) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut is_open = false;
    for (at, level) in levels.iter().enumerate() {
        match level.value {
            Some(value) if is_open => runs.last_mut().into_iter().for_each(|run| run.push((at, value))),
            Some(value) => runs.push(vec![(at, value)]),
            None => {}
        }
        is_open = level.value.is_some();
    }
    runs
}

/// Returns where a stretch of days is, in percent. A single day is as wide as a day, since a point alone draws nothing.
fn points(run: &[(usize, f64)], x: impl Fn(usize) -> f64, half: f64) -> Vec<(f64, f64)> {
    match run {
        [(at, value)] => vec![((x(*at) - half).max(0.0), *value), ((x(*at) + half).min(100.0), *value)],
        run => run.iter().map(|(at, value)| (x(*at), *value)).collect(),
    }
}

fn outline(points: &[(f64, f64)], axis: &Axis, is_closed: bool) -> String {
    let written: Vec<String> = points.iter().map(|(x, value)| format!("{} {}", px(*x), px(axis.y(*value)))).collect();
    let line = format!("M{}", written.join(" L"));
    match (points.first(), points.last()) {
        (Some(first), Some(last)) if is_closed => {
            let base = px(axis.y(0.0));
            format!("{line} L{} {base} L{} {base}Z", px(last.0), px(first.0))
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_day_is_drawn_as_wide_as_a_day() {
        let x = |at: usize| 25.0 * at as f64;
        assert_eq!(points(&[(2, 7.0)], x, 12.5), [(37.5, 7.0), (62.5, 7.0)]);
        assert_eq!(points(&[(0, 7.0)], x, 12.5), [(0.0, 7.0), (12.5, 7.0)]);
        assert_eq!(points(&[(0, 7.0), (1, 8.0)], x, 12.5), [(0.0, 7.0), (25.0, 8.0)]);
    }

    #[test]
    fn a_day_that_was_not_measured_is_a_gap() {
        let levels = [Some(1.0), Some(2.0), None, Some(3.0)].map(|value| Level { value, name: String::new() });
        assert_eq!(runs(&levels), [vec![(0, 1.0), (1, 2.0)], vec![(3, 3.0)]]);
    }
}

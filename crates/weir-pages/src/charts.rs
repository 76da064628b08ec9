//! Charts as SVG that the server writes: as wide as their place, with text of its usual size, and without script.
//!
//! x is in percent and y in pixels. The axis is a drawing of fixed width beside the chart. Each chart has a label that
//! tells what it shows, and a table of the same figures beside it.

pub(crate) mod area;
pub(crate) mod bars;
pub(crate) mod course;
pub(crate) mod ranges;
pub(crate) mod spark;
pub(crate) mod stacks;

use maud::{Markup, html};

use crate::components::Table;
use crate::figures::count;

/// How many grid lines there are at most, above the zero line.
const MAX_LINES: f64 = 3.4;

/// A value axis. It includes zero and ends at grid lines.
pub(crate) struct Axis {
    /// The values of the grid lines, from the top.
    lines: Vec<f64>,
    /// The first pixel of the plot, and its height.
    top: f64,
    height: f64,
}

impl Axis {
    /// Makes an axis for values between `low` and `high`. What is not a number counts as zero.
    pub(crate) fn new(low: f64, high: f64, top: f64, height: f64) -> Self {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        let (low, high) = (finite(low).min(0.0), finite(high).max(0.0));
        let step = step((high - low) / MAX_LINES);
        let (first, last) = ((low / step).floor() as i64, (high / step).ceil().max(1.0) as i64);
        Self { lines: (first..=last).rev().map(|line| line as f64 * step).collect(), top, height }
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        let (high, low) = (self.highest(), self.lines.last().copied().unwrap_or(0.0));
        self.top + self.height * (high - value) / (high - low)
    }

    /// Returns the value of the top line.
    pub(crate) fn highest(&self) -> f64 {
        self.lines.first().copied().unwrap_or(1.0)
    }

    /// Returns the drawing beside the chart, as wide as its longest label needs. `label` is given each value, and
    /// whether it is the top one, which alone has the unit.
    pub(crate) fn beside(&self, least_width: u32, height: u32, label: impl Fn(f64, bool) -> String) -> Markup {
        let lines = self.lines.iter().enumerate().map(|(at, value)| (*value, label(*value, at == 0)));
        let lines: Vec<(f64, String)> = lines.collect();
        let longest = lines.iter().map(|(_, label)| label.chars().count() as u32).max().unwrap_or(0);
        let width = least_width.max(longest * 7 + 12);
        html! {
            svg.y width=(width) height=(height) aria-hidden="true" {
                @for (value, label) in &lines { text.end x=(width - 8) y=(px(self.y(*value) + 4.0)) { (label) } }
            }
        }
    }

    pub(crate) fn grid(&self) -> Markup {
        html! {
            @for value in &self.lines {
                line.grid[*value != 0.0].zero[*value == 0.0] x1="0" x2="100%" y1=(px(self.y(*value)))
                    y2=(px(self.y(*value))) {}
            }
        }
    }
}

/// Returns the smallest round number that is not below `least`.
fn step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let unit = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * unit)
        .find(|step| *step >= least)
        .unwrap_or(unit * 10.0)
}

/// What a figure is made of. The label tells the whole finding, for those who do not see the drawing.
pub(crate) struct Figure<'a> {
    pub(crate) label: &'a str,
    pub(crate) legend: &'a [(Swatch, &'a str)],
    pub(crate) plot: Markup,
    pub(crate) caption: Markup,
}

/// How a part of a chart is drawn in its legend.
#[derive(Clone, Copy)]
pub(crate) enum Swatch {
    /// A filled square of this class.
    Fill(&'static str),
    /// A line of this class.
    Line(&'static str),
}

impl Figure<'_> {
    pub(crate) fn render(&self) -> Markup {
        html! {
            figure.chart.panel {
                @if !self.legend.is_empty() {
                    ul.legend { @for (swatch, label) in self.legend { li { (swatch.render()) (label) } } }
                }
                div.plot role="img" aria-label=(self.label) { (self.plot) }
                @if !self.caption.0.is_empty() { figcaption { (self.caption) } }
            }
        }
    }
}

impl Swatch {
    fn render(self) -> Markup {
        html! {
            svg width=(match self { Self::Fill(_) => "12", Self::Line(_) => "20" }) height="12" aria-hidden="true" {
                @match self {
                    Self::Fill(class) => rect.(class) width="12" height="12" rx="2" {},
                    Self::Line(class) => line.(class) x1="0" x2="20" y1="6" y2="6" {},
                }
            }
        }
    }
}

/// Returns the figures of a chart as a table that is folded.
pub(crate) fn as_table(name: &str, table: &Table) -> Markup {
    let label = format!("{name}, as a table");
    html! {
        details.data {
            summary { "Show as a table" span.sr { ": " (name) } }
            div.panel.scroll tabindex="0" role="region" aria-label=(label) { (table) }
        }
    }
}

/// Writes a value of an axis with the decimals that it has: `1,500`, `0.3`, `−0.25`.
pub(crate) fn axis_number(value: f64) -> String {
    let written = format!("{:.6}", value.abs());
    let (whole, decimals) = written.split_once('.').unwrap_or((&written, ""));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), count);
    let minus = if value < 0.0 { "−" } else { "" };
    match decimals.trim_end_matches('0') {
        "" => format!("{minus}{whole}"),
        decimals => format!("{minus}{whole}.{decimals}"),
    }
}

/// Writes an amount of money on an axis, with two decimals at least: `0.40`, `0.0025`.
pub(crate) fn axis_money(value: f64) -> String {
    let written = axis_number(value);
    match written.split_once('.') {
        _ if value == 0.0 => written,
        None => format!("{written}.00"),
        Some((_, decimals)) if decimals.len() == 1 => format!("{written}0"),
        Some(_) => written,
    }
}

/// A label of a chart, in pixels, that must not lie on another.
pub(crate) struct Label {
    /// The number of the thing that it belongs to.
    pub(crate) at: usize,
    /// Where its middle is.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) characters: usize,
}

/// The width of a character of a chart, and the height of a line, in pixels.
const CHARACTER: f64 = 6.2;
const LINE: f64 = 14.0;

/// Returns the numbers of the labels that do not lie on an earlier one.
pub(crate) fn with_room(labels: impl IntoIterator<Item = Label>) -> Vec<usize> {
    let mut kept: Vec<Label> = Vec::new();
    for label in labels {
        let is_beside = |other: &Label| {
            let apart = (label.characters + other.characters) as f64 * CHARACTER / 2.0;
            (label.x - other.x).abs() >= apart || (label.y - other.y).abs() >= LINE
        };
        if kept.iter().all(is_beside) {
            kept.push(label);
        }
    }
    kept.iter().map(|label| label.at).collect()
}

/// Writes a coordinate with two decimals at most.
pub(crate) fn px(value: f64) -> String {
    let written = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let short = written.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

pub(crate) fn percent(value: f64) -> String {
    format!("{}%", px(value))
}

/// Returns the part of the width that a thing has among others, and where its middle is, in percent.
pub(crate) fn slot(at: usize, all: usize) -> (f64, f64) {
    let width = 100.0 / all.max(1) as f64;
    (width, width * (at as f64 + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(low: f64, high: f64) -> Vec<String> {
        Axis::new(low, high, 0.0, 100.0).lines.into_iter().map(px).collect()
    }

    #[test]
    fn an_axis_has_zero_and_round_numbers() {
        assert_eq!(lines(-0.18, 0.37), ["0.4", "0.2", "0", "-0.2"]);
        assert_eq!(lines(0.0, 167_000.0), ["200000", "150000", "100000", "50000", "0"]);
        assert_eq!(lines(3.0, 14.0), ["15", "10", "5", "0"]);
        assert_eq!(lines(-5.0, -1.0), ["2", "0", "-2", "-4", "-6"]);
    }

    #[test]
    fn an_axis_is_labelled_with_the_decimals_that_it_has() {
        let labels = |high: f64| -> Vec<String> {
            Axis::new(0.0, high, 0.0, 100.0).lines.into_iter().map(axis_number).collect()
        };
        assert_eq!(labels(0.25), ["0.3", "0.2", "0.1", "0"]);
        assert_eq!(labels(0.08), ["0.1", "0.075", "0.05", "0.025", "0"]);
        assert_eq!(labels(5_000.0), ["6,000", "4,000", "2,000", "0"]);
        assert_eq!([-0.2, -1_500.0].map(axis_number), ["−0.2", "−1,500"]);
        assert_eq!([0.0, 0.4, 20.0, 0.0025, -0.5].map(axis_money), ["0", "0.40", "20.00", "0.0025", "−0.50"]);
    }

    #[test]
    fn an_axis_is_as_wide_as_its_longest_label() {
        let width = |high: f64| {
            let beside = Axis::new(0.0, high, 0.0, 100.0).beside(48, 100, |value, _| axis_number(value)).into_string();
            beside.split('"').nth(3).map(str::to_owned)
        };
        assert_eq!([width(100.0), width(1_000_000.0)].map(Option::unwrap), ["48", "75"]);
    }

    #[test]
    fn a_label_that_would_lie_on_another_is_left_out() {
        let label = |at: usize, x: f64, y: f64| Label { at, x, y, characters: 5 };
        assert_eq!(with_room([label(7, 100.0, 0.0), label(8, 120.0, 5.0), label(9, 120.0, 20.0)]), [7, 9]);
        assert_eq!(with_room([label(0, 0.0, 0.0), label(1, 31.0, 0.0)]), [0, 1]);
    }

    #[test]
    fn no_value_breaks_an_axis() {
        assert_eq!(lines(0.0, 0.0), ["1", "0"]);
        assert_eq!(lines(f64::NAN, f64::INFINITY), ["1", "0"]);
        let axis = Axis::new(0.0, u64::MAX as f64, 0.0, 100.0);
        assert!(axis.y(u64::MAX as f64).is_finite());
        assert_eq!(px(f64::NAN), "0");
    }
}

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

    /// Returns the pixel of a value.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let (high, low) = (self.highest(), self.lines.last().copied().unwrap_or(0.0));
        self.top + self.height * (high - value) / (high - low)
    }

    /// Returns the value of the top line.
    pub(crate) fn highest(&self) -> f64 {
        self.lines.first().copied().unwrap_or(1.0)
    }

    /// Returns the drawing beside the chart. `label` is given each value, and whether it is the top one, which alone
    /// has the unit.
    pub(crate) fn beside(&self, width: u32, height: u32, label: impl Fn(f64, bool) -> String) -> Markup {
        html! {
            svg.y width=(width) height=(height) aria-hidden="true" {
                @for (at, value) in self.lines.iter().enumerate() {
                    text.end x=(width - 8) y=(px(self.y(*value) + 4.0)) { (label(*value, at == 0)) }
                }
            }
        }
    }

    /// Returns the grid lines.
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
    /// Returns the figure in its panel.
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

/// Writes a coordinate with two decimals at most.
pub(crate) fn px(value: f64) -> String {
    let written = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let short = written.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Writes a coordinate in percent.
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
    fn no_value_breaks_an_axis() {
        assert_eq!(lines(0.0, 0.0), ["1", "0"]);
        assert_eq!(lines(f64::NAN, f64::INFINITY), ["1", "0"]);
        let axis = Axis::new(0.0, u64::MAX as f64, 0.0, 100.0);
        assert!(axis.y(u64::MAX as f64).is_finite());
        assert_eq!(px(f64::NAN), "0");
    }
}

//! Bars above and below zero, one for each day.

use maud::{Markup, html};

use super::{Axis, Label, percent, px, slot, with_room};

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
/// The least width of the plot beside a menu and on a phone, in pixels.
const WIDE: f64 = 470.0;
const NARROW: f64 = 250.0;

/// Returns the chart. `label` writes a value of the axis.
pub(crate) fn bars(bars: &[Bar], label: impl Fn(f64, bool) -> String) -> Markup {
    let values = || bars.iter().filter_map(|bar| bar.value);
    let axis = Axis::new(values().fold(0.0, f64::min), values().fold(0.0, f64::max), TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    let chart = Chart { bars, labels: Labels::of(bars, &axis), axis };
    html! {
        (chart.axis.beside(48, height, label))
        svg.x width="100%" height=(height) aria-hidden="true" {
            (chart.axis.grid())
            @for (at, bar) in bars.iter().enumerate() { (chart.one(bar, at)) }
        }
    }
}

/// The bars, and where they are drawn.
struct Chart<'a> {
    bars: &'a [Bar],
    axis: Axis,
    labels: Labels,
}

/// The bars whose figure and date have room, by their number.
struct Labels {
    wide_figures: Vec<usize>,
    narrow_figures: Vec<usize>,
    wide_dates: Vec<usize>,
    narrow_dates: Vec<usize>,
}

impl Labels {
    /// Decides which labels have room. What the chart is about comes first.
    fn of(bars: &[Bar], axis: &Axis) -> Self {
        let mut order: Vec<(usize, &Bar)> = bars.iter().enumerate().collect();
        order.sort_by_key(|(_, bar)| (!bar.is_strong, !bar.is_loss()));
        let x = |at: usize, width: f64| slot(at, bars.len()).1 / 100.0 * width;
        let figures = |width: f64, is_wanted: &dyn Fn(&Bar) -> bool| {
            let wanted = order.iter().filter(|(_, bar)| is_wanted(bar));
            with_room(wanted.filter_map(|(at, bar)| {
                let y = figure_y(bar.value?, axis);
                Some(Label { at: *at, x: x(*at, width), y, characters: bar.figure.chars().count() })
            }))
        };
        let date =
            |at: usize, text: &str, width: f64| Label { at, x: x(at, width), y: 0.0, characters: text.chars().count() };
        let is_about = |bar: &Bar| bar.is_strong || bar.is_loss();
        // Dates thin out from the end, so that the last one stays.
        let from_end = bars.iter().enumerate().rev();
        let narrow = order.iter().filter(|(at, bar)| is_about(bar) || *at == 0);
        Self {
            wide_figures: figures(WIDE, &|bar| bars.len() <= MAX_LABELLED || is_about(bar)),
            narrow_figures: figures(NARROW, &is_about),
            wide_dates: with_room(from_end.map(|(at, bar)| date(at, &bar.wide, WIDE))),
            narrow_dates: with_room(narrow.map(|(at, bar)| date(*at, &bar.narrow, NARROW))),
        }
    }
}

impl Bar {
    fn is_loss(&self) -> bool {
        self.value.is_some_and(|value| value < 0.0)
    }
}

impl Chart<'_> {
    fn one(&self, bar: &Bar, at: usize) -> Markup {
        let all = self.bars.len();
        let (width, middle) = slot(at, all);
        let bottom = px(TOP + HEIGHT + BELOW - 6.0);
        let has_date = all <= MAX_LABELLED || (all - 1 - at).is_multiple_of(all.div_ceil(7));
        let is_crowded = !self.labels.wide_dates.contains(&at);
        html! {
            g.day {
                rect.hit x=(percent(middle - width / 2.0)) width=(percent(width)) y="0" height=(bottom) {}
                @if let Some(value) = bar.value { (self.column(bar, at, value)) }
                title { (bar.title) }
                @if has_date {
                    text.mid.only-wide.only-broad[is_crowded && all <= MAX_LABELLED].strong[bar.is_strong]
                        x=(percent(middle)) y=(bottom) { (bar.wide) }
                }
                @if self.labels.narrow_dates.contains(&at) {
                    text.mid.only-narrow.strong[bar.is_strong] x=(percent(middle)) y=(bottom) { (bar.narrow) }
                }
            }
        }
    }

    fn column(&self, bar: &Bar, at: usize, value: f64) -> Markup {
        let (width, middle) = slot(at, self.bars.len());
        let (zero, end) = (self.axis.y(0.0), self.axis.y(value));
        let is_loss = bar.is_loss();
        let thick = width * 0.56;
        let (is_wide, is_narrow) = (self.labels.wide_figures.contains(&at), self.labels.narrow_figures.contains(&at));
        html! {
            rect.s1[!is_loss].down[is_loss] x=(percent(middle - thick / 2.0)) width=(percent(thick))
                y=(px(zero.min(end))) height=(px((zero - end).abs().max(1.0))) {}
            @if is_wide || is_narrow {
                text.mid.neg[is_loss].strong[bar.is_strong && !is_loss].only-wide[!is_narrow].only-narrow[!is_wide]
                    x=(percent(middle)) y=(px(figure_y(value, &self.axis))) { (bar.figure) }
            }
        }
    }
}

/// Returns where the figure of a value is: above a gain, below a loss.
fn figure_y(value: f64, axis: &Axis) -> f64 {
    if value < 0.0 { axis.y(value) + 15.0 } else { axis.y(value) - 6.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64], figure: &str) -> String {
        let bar = |value: &f64| Bar {
            value: Some(*value),
            figure: figure.to_owned(),
            wide: "Wed 4".to_owned(),
            narrow: "4".to_owned(),
            title: String::new(),
            is_strong: false,
        };
        bars(&values.iter().map(bar).collect::<Vec<_>>(), |value, _| super::super::axis_number(value)).into_string()
    }

    #[test]
    fn figures_of_neighbours_do_not_lie_on_each_other() {
        assert_eq!(drawn(&[1.0; 14], "+0.37").matches("+0.37").count(), 14);
        assert_eq!(drawn(&[-1.0; 14], "−1,234,567").matches("−1,234,567").count(), 7);
        let phone = drawn(&[-1.0; 14], "−0.37");
        assert_eq!(phone.matches("−0.37").count(), 14);
        assert_eq!(phone.matches("mid neg only-wide").count(), 7, "{phone}");
    }
}

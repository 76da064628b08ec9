//! Bars of several parts, one for each choice.

use maud::{Markup, html};

use super::{Axis, percent, px, slot};

pub(crate) struct Stack {
    /// The parts from the bottom, in the order of [`CLASSES`].
    pub(crate) parts: [f64; 4],
    /// The sum above it, where there is room and where there is not.
    pub(crate) figure: (String, String),
    /// The choice below it, where there is room and where there is not.
    pub(crate) name: (String, String),
    /// A second line below it, in both widths.
    pub(crate) note: (String, String),
    /// Everything about it in one line.
    pub(crate) title: String,
    pub(crate) is_chosen: bool,
    pub(crate) is_now: bool,
    /// Whether its figure is shown on a phone too.
    pub(crate) is_labelled: bool,
}

/// The classes of the parts, from the bottom.
pub(crate) const CLASSES: [&str; 4] = ["s1", "s2", "s3", "s0"];

const TOP: f64 = 32.0;
const HEIGHT: f64 = 180.0;
const BELOW: f64 = 58.0;

/// Returns the chart. `label` writes a value of the axis; `rows` are the names of the two lines below.
pub(crate) fn stacks(stacks: &[Stack], rows: [&str; 2], label: impl Fn(f64, bool) -> String) -> Markup {
    let highest = stacks.iter().map(|stack| stack.parts.iter().sum()).fold(0.0, f64::max);
    let axis = Axis::new(0.0, highest, TOP, HEIGHT);
    let height = (TOP + HEIGHT + BELOW) as u32;
    html! {
        div.beside {
            (axis.beside(48, height, label))
            svg.y.under width="48" height=(height) aria-hidden="true" {
                text.end x="40" y=(px(TOP + HEIGHT + 18.0)) { (rows[0]) }
                text.end x="40" y=(px(TOP + HEIGHT + 34.0)) { (rows[1]) }
            }
        }
        svg.x width="100%" height=(height) aria-hidden="true" {
            (axis.grid())
            @for (at, stack) in stacks.iter().enumerate() { (one(stack, slot(at, stacks.len()), &axis)) }
        }
    }
}

fn one(stack: &Stack, (width, middle): (f64, f64), axis: &Axis) -> Markup {
    let thick = width * 0.6;
    let base = TOP + HEIGHT;
    let mut filled = 0.0;
    html! {
        g.day {
            @if stack.is_chosen {
                rect.chosen x=(percent(middle - width * 0.45)) width=(percent(width * 0.9)) y="8"
                    height=(px(base + 34.0)) rx="4" {}
            }
            rect.hit x=(percent(middle - width / 2.0)) width=(percent(width)) y="0" height=(px(base)) {}
            @for (part, class) in stack.parts.iter().zip(CLASSES) {
                @let from = axis.y(filled);
                @let to = axis.y({ filled += part; filled });
                @if from - to > 1.0 {
                    rect.(class) x=(percent(middle - thick / 2.0)) width=(percent(thick)) y=(px(to))
                        height=(px(from - to - 1.0)) {}
                }
            }
            @let top = px(axis.y(filled) - 6.0);
            (text(&stack.figure, stack, (middle, &top), stack.is_labelled))
            (text(&stack.name, stack, (middle, &px(base + 18.0)), true))
            text.mid.only-wide x=(percent(middle)) y=(px(base + 34.0)) { (stack.note.0) }
            text.mid.only-narrow x=(percent(middle)) y=(px(base + 34.0)) { (stack.note.1) }
            @if stack.is_now { text.mid.strong x=(percent(middle)) y=(px(base + 52.0)) { "now" } }
            title { (stack.title) }
        }
    }
}

fn text(words: &(String, String), stack: &Stack, (x, y): (f64, &str), is_on_phones: bool) -> Markup {
    html! {
        text.mid.only-wide.accent[stack.is_chosen].strong[stack.is_now && !stack.is_chosen] x=(percent(x)) y=(y) {
            (words.0)
        }
        @if is_on_phones {
            text.mid.only-narrow.accent[stack.is_chosen].strong[stack.is_now && !stack.is_chosen] x=(percent(x)) y=(y) {
                (words.1)
            }
        }
    }
}

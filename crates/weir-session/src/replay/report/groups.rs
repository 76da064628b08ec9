//! Tables of what was done to results, by tool and by lever.

use super::ReplayTotals;
use super::table::{Table, number, percent};
use crate::replay::figures::{Figures, Lever};

pub(super) fn tools(sum: &ReplayTotals) -> String {
    let mut table = Table::new(&[
        "tool", "results", "tokens", "touched", "tokens less", "used later", "visible", "asked again", "net",
    ]);
    let mut tools: Vec<(&str, &Figures)> = sum.tools.iter().map(|(tool, figures)| (*tool, figures)).collect();
    tools.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.tokens));
    for (tool, figures) in tools.into_iter().chain([("all", &sum.figures)]) {
        let [touched, less, used, visible, again] = effect(figures);
        let (results, tokens) = (number(figures.results as i64), number(figures.tokens as i64));
        table.row([tool.to_owned(), results, tokens, touched, less, used, visible, again, sum.share(figures.net())]);
    }
    format!("By tool (`weir replay --help` explains the columns):\n{}", table.text())
}

pub(super) fn levers(sum: &ReplayTotals) -> String {
    let mut table =
        Table::new(&["how", "touched", "tokens less", "used later", "visible", "asked again", "saved", "lost", "net"]);
    for lever in Lever::ALL {
        let figures = sum.levers.get(&lever).copied().unwrap_or_default();
        let [touched, less, used, visible, again] = effect(&figures);
        let [saved, lost, net] = [figures.saved, -figures.again_price, figures.net()].map(|price| sum.share(price));
        table.row([in_words(lever).to_owned(), touched, less, used, visible, again, saved, lost, net]);
    }
    let mut row = |name: &str, [saved, lost, net]: [f64; 3]| {
        let mut cells: [String; 9] = std::array::from_fn(|_| String::new());
        cells[0] = name.to_owned();
        cells[6] = sum.share(saved);
        cells[7] = sum.share(lost);
        cells[8] = sum.share(net);
        table.row(cells);
    };
    row("tool descriptions", [0.0, -sum.descriptions, -sum.descriptions]);
    row("all", [sum.figures.saved, -sum.figures.again_price - sum.descriptions, sum.net]);
    format!("How results got shorter, and what Weir's own tools cost, in parts of the price:\n{}", table.text())
}

fn in_words(lever: Lever) -> &'static str {
    match lever {
        Lever::Beginning => "beginning and end only",
        Lever::Digest => "digest",
        Lever::SeenBefore => "lines shown before left out",
    }
}

/// Formats the columns: touched, tokens saved, used later, still visible and requested again.
fn effect(figures: &Figures) -> [String; 5] {
    let visible = match figures.used {
        0 => String::new(),
        used => percent((used - figures.unseen) as f64 / used as f64),
    };
    [
        number(figures.touched as i64),
        number(figures.less),
        number(figures.used as i64),
        visible,
        number(figures.again as i64),
    ]
}

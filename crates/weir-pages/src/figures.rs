//! Numbers as people read them. Invariant: a number is right or absent, never zero because it was not measured.

use maud::{Markup, Render, html};

/// What stands in place of a figure that nobody has.
pub(crate) const NOT_KNOWN: &str = "not known";

/// An amount of money, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub i64);

impl Money {
    /// Returns the amount in dollars, for a chart.
    pub(crate) fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Formats the amount: `$9.39`, `−$0.01`, `under $0.01`, since a rounded zero would be wrong.
    pub fn show(self) -> String {
        let cents = (self.0.unsigned_abs() + 5_000) / 10_000;
        let minus = if self.0 < 0 { "−" } else { "" };
        match (cents, self.0) {
            (0, 0) => "$0.00".to_owned(),
            (0, 1..) => "under $0.01".to_owned(),
            (0, _) => "loss under $0.01".to_owned(),
            _ => format!("{minus}${}.{:02}", count(cents / 100), cents % 100),
        }
    }

    /// Formats the amount with a plus if it is positive, where the sign is the point.
    pub fn show_signed(self) -> String {
        if self.0 >= 5_000 { format!("+{}", self.show()) } else { self.show() }
    }

    /// Formats the amount as an estimate: `about $0.04`, `under $0.01`.
    pub(crate) fn show_about(self) -> String {
        self.about(self.show())
    }

    /// Formats the amount as an estimate, with a plus if it is positive: `about +$0.37`.
    pub(crate) fn show_about_signed(self) -> String {
        self.about(self.show_signed())
    }

    fn about(self, shown: String) -> String {
        if self.0.unsigned_abs() >= 5_000 { format!("about {shown}") } else { shown }
    }

    /// Formats the amount without its unit, for a label in a chart: `+0.37`, `−0.18`.
    pub(crate) fn show_bare(self) -> String {
        self.show_signed().replace('$', "")
    }
}

/// Formats a count with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// Formats a difference, with a real minus.
pub fn difference(number: i64) -> String {
    let minus = if number < 0 { "−" } else { "" };
    format!("{minus}{}", count(number.unsigned_abs()))
}

/// Formats a count with its noun: `1 line`, `2 lines`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Formats how often something happened: `once`, `twice`, `6 times`.
pub(crate) fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        many => format!("{} times", count(many)),
    }
}

/// Formats a position: `1st`, `22nd`.
pub(crate) fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd", // typos: allow
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{}{ending}", count(number))
}

/// Formats a part of a whole, or nothing if there is no whole: `3.5 %`, with a space that does not break.
pub(crate) fn percent(part: f64, whole: f64) -> Option<String> {
    (whole > 0.0 && part.is_finite()).then(|| minus(format!("{:.1}\u{a0}%", part / whole * 100.0)))
}

/// Formats a change in whole percent with its sign: `−19 %`, `+4 %`, `±0 %`.
pub(crate) fn change(percent: f64) -> String {
    match percent.round() {
        0.0 => "±0\u{a0}%".to_owned(),
        up if up > 0.0 => format!("+{up:.0}\u{a0}%"),
        down => format!("−{:.0}\u{a0}%", down.abs()),
    }
}

/// Formats a number of milliseconds: `2.4 ms`, `84 ms`, `3.1 s`.
pub(crate) fn milliseconds(number: f64) -> String {
    match number {
        small if small < 10.0 => format!("{small:.1} ms"),
        middle if middle < 1_000.0 => format!("{middle:.0} ms"),
        large => format!("{:.1} s", large / 1_000.0),
    }
}

/// Formats how long something took, in its largest units: `45 s`, `12 min`, `3 h 12 min`, `2 d 4 h`.
pub(crate) fn duration(seconds: u64) -> String {
    let (first, second) = match seconds {
        0..60 => return format!("{seconds} s"),
        60..3_600 => return format!("{} min", seconds / 60),
        3_600..86_400 => ((seconds / 3_600, "h"), (seconds % 3_600 / 60, "min")),
        _ => ((seconds / 86_400, "d"), (seconds % 86_400 / 3_600, "h")),
    };
    match second.0 {
        0 => format!("{} {}", first.0, first.1),
        rest => format!("{} {} {rest} {}", first.0, first.1, second.1),
    }
}

pub(crate) fn known(figure: Option<String>) -> Markup {
    match figure {
        Some(figure) => figure.render(),
        None => html! { span.muted { (NOT_KNOWN) } },
    }
}

fn minus(number: String) -> String {
    number.replacen('-', "−", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_two_decimals_and_a_real_minus() {
        let shown =
            [0, 370_000, -180_000, 4_000, -4_000, 1_234_567_890_000, 12_700_000].map(|micros| Money(micros).show());
        assert_eq!(shown, ["$0.00", "$0.37", "−$0.18", "under $0.01", "loss under $0.01", "$1,234,567.89", "$12.70"]);
        assert_eq!(Money(370_000).show_signed(), "+$0.37");
        assert_eq!(Money(0).show_signed(), "$0.00");
        assert_eq!(Money(-180_000).show_bare(), "−0.18");
        let about = [370_000, -180_000, 4_000, -4_000, 0].map(|micros| Money(micros).show_about_signed());
        assert_eq!(about, ["about +$0.37", "about −$0.18", "under $0.01", "loss under $0.01", "$0.00"]);
        assert_eq!(Money(40_000).show_about(), "about $0.04");
    }

    #[test]
    fn counts_have_commas_up_to_the_largest() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(difference(i64::MIN), "−9,223,372,036,854,775,808");
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "line", "lines")), ["0 lines", "1 line", "2 lines"]);
        assert_eq!([1, 2, 3].map(times), ["once", "twice", "3 times"]);
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]
        );
    }

    #[test]
    fn a_share_of_nothing_is_absent() {
        assert_eq!(percent(1.0, 0.0), None);
        assert_eq!(percent(-1.0, 8.0).as_deref(), Some("−12.5\u{a0}%"));
        assert_eq!([-19.2, 3.6, 0.2].map(change), ["−19\u{a0}%", "+4\u{a0}%", "±0\u{a0}%"]);
    }

    #[test]
    fn durations_are_in_their_largest_units() {
        assert_eq!([59, 60, 3_600, 11_520, 187_200].map(duration), ["59 s", "1 min", "1 h", "3 h 12 min", "2 d 4 h"]);
        assert_eq!([2.44, 84.0, 3_100.0].map(milliseconds), ["2.4 ms", "84 ms", "3.1 s"]);
    }
}

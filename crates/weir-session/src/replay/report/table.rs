//! Formats figures in columns.

/// A table with the first column aligned left and the others right, except for a last one without a title.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|title| (*title).to_owned()).collect()] }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub fn text(&self) -> String {
        let titles = &self.rows[0];
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..titles.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cell = |(column, cell): (usize, &String)| match (column, titles[column].is_empty()) {
                (0, _) | (_, true) => format!("{cell:<width$}", width = widths[column]),
                _ => format!("{cell:>width$}", width = widths[column]),
            };
            row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Formats a number with its thousands separated.
pub fn number(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let first = digits.len() % 3;
    let mut parts: Vec<&str> = Vec::new();
    if first > 0 {
        parts.push(&digits[..first]);
    }
    parts.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    format!("{}{}", if number < 0 { "−" } else { "" }, parts.join(","))
}

pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0).replace('-', "−")
}

/// Formats a share in percent with its sign, unless it is too small to show.
pub fn signed(share: f64) -> String {
    if share.abs() < 0.0005 { "0.0 %".to_owned() } else { format!("{:+.1} %", share * 100.0).replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_below_each_other() {
        let mut table = Table::new(&["tool", "tokens", ""]);
        table.row(["read".to_owned(), number(1_234_567), "██".to_owned()]);
        table.row(["all".to_owned(), number(-12), String::new()]);
        assert_eq!(table.text(), "tool     tokens\nread  1,234,567  ██\nall         −12");
        assert_eq!(
            (number(0), percent(0.1234), signed(-0.002)),
            ("0".to_owned(), "12.3 %".to_owned(), "−0.2 %".to_owned())
        );
    }
}

//! Totals the numbers of one column for each value of another: the totals of orders by their status.
//!
//! Invariant: its size is fixed, whatever the number of records.

use super::column::ValueClass;

/// The maximum number of text columns and of number columns that are crossed.
const MAX_TEXT_COLUMNS: usize = 6;
const MAX_NUMBER_COLUMNS: usize = 6;
/// The maximum number of different texts in a column.
pub(super) const MAX_CROSSED_VALUES: usize = 12;

/// The numbers of some columns for each value of some others.
#[derive(Default)]
pub(super) struct Cross {
    /// The text columns, then the number columns, in the order of their first values.
    pub texts: Vec<usize>,
    pub numbers: Vec<usize>,
    sums: Vec<Sum>,
    /// The values of the current record.
    now_texts: Vec<(usize, usize)>,
    now_numbers: Vec<(usize, f64)>,
}

/// The count, sum, minimum and maximum of some numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub count: u64,
    pub sum: f64,
    pub least: f64,
    pub most: f64,
}

impl Cross {
    pub(super) fn take(&mut self, column: usize, taken: ValueClass) {
        match taken {
            ValueClass::Nothing => {}
            ValueClass::Number(number) => {
                if let Some(place) = slot(&mut self.numbers, column, MAX_NUMBER_COLUMNS) {
                    self.now_numbers.push((place, number));
                }
            }
            ValueClass::Value(order) => {
                if let Some(place) =
                    slot(&mut self.texts, column, MAX_TEXT_COLUMNS).filter(|_| order < MAX_CROSSED_VALUES)
                {
                    self.now_texts.push((place, order));
                }
            }
        }
    }

    pub(super) fn end(&mut self) {
        if !self.now_texts.is_empty() && !self.now_numbers.is_empty() && self.sums.is_empty() {
            self.sums = vec![Sum::default(); MAX_TEXT_COLUMNS * MAX_CROSSED_VALUES * MAX_NUMBER_COLUMNS];
        }
        for &(text, order) in &self.now_texts {
            for &(place, number) in &self.now_numbers {
                if let Some(sum) = self.sums.get_mut(cell(text, order, place)) {
                    sum.take(number);
                }
            }
        }
        self.now_texts.clear();
        self.now_numbers.clear();
    }

    /// Returns the numbers of number column `number` for the value `order` of text column `text`.
    pub(super) fn sum(&self, text: usize, order: usize, number: usize) -> Option<Sum> {
        self.sums.get(cell(text, order, number)).copied().filter(|sum| sum.count > 0)
    }
}

impl Sum {
    fn take(&mut self, number: f64) {
        self.least = if self.count == 0 { number } else { self.least.min(number) };
        self.most = if self.count == 0 { number } else { self.most.max(number) };
        self.count += 1;
        self.sum += number;
    }
}

fn cell(text: usize, order: usize, number: usize) -> usize {
    (text * MAX_CROSSED_VALUES + order) * MAX_NUMBER_COLUMNS + number
}

/// Returns the slot of a column, which is assigned one if any is left.
fn slot(columns: &mut Vec<usize>, column: usize, most: usize) -> Option<usize> {
    let known = columns.iter().position(|&known| known == column);
    if known.is_none() && columns.len() < most {
        columns.push(column);
        return Some(columns.len() - 1);
    }
    known
}

//! What the numbers of one column are for each value of another: the totals of orders by their status.
//!
//! Invariant: a fixed size, whatever the number of records.

use super::column::Taken;

/// How many columns of texts and how many of numbers are crossed.
const TEXTS: usize = 6;
const NUMBERS: usize = 6;
/// How many different texts a column may have.
pub(super) const MOST_VALUES: usize = 12;

/// The numbers of some columns for each value of some others.
#[derive(Default)]
pub(super) struct Cross {
    /// The columns, as the first records have them.
    pub texts: Vec<usize>,
    pub numbers: Vec<usize>,
    sums: Vec<Sum>,
    /// The values of this record.
    now_texts: Vec<(usize, usize)>,
    now_numbers: Vec<(usize, f64)>,
}

/// What some numbers are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub count: u64,
    pub sum: f64,
    pub least: f64,
    pub most: f64,
}

impl Cross {
    /// Takes a value of a record.
    pub(super) fn take(&mut self, column: usize, taken: Taken) {
        match taken {
            Taken::Nothing => {}
            Taken::Number(number) => {
                if let Some(place) = slot(&mut self.numbers, column, NUMBERS) {
                    self.now_numbers.push((place, number));
                }
            }
            Taken::Value(order) => {
                if let Some(place) = slot(&mut self.texts, column, TEXTS).filter(|_| order < MOST_VALUES) {
                    self.now_texts.push((place, order));
                }
            }
        }
    }

    /// The record is complete.
    pub(super) fn end(&mut self) {
        if !self.now_texts.is_empty() && !self.now_numbers.is_empty() && self.sums.is_empty() {
            self.sums = vec![Sum::default(); TEXTS * MOST_VALUES * NUMBERS];
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

    /// The numbers of the column in place `number` for the value in place `order` of the column in place `text`.
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
    (text * MOST_VALUES + order) * NUMBERS + number
}

/// The place of a column, which it gets if there is one left.
fn slot(columns: &mut Vec<usize>, column: usize, most: usize) -> Option<usize> {
    let known = columns.iter().position(|&known| known == column);
    if known.is_none() && columns.len() < most {
        columns.push(column);
        return Some(columns.len() - 1);
    }
    known
}

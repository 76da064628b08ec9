//! A diagnostic whose lines are still being read: its first line, and what explains it.

use super::found::{Found, Severity};
use crate::text::clip;

/// How much of each is kept.
const LONGEST: usize = 400;

/// A diagnostic's first line.
pub(super) struct Head<'a> {
    pub file: &'a str,
    pub place: &'a str,
    pub severity: Severity,
    pub code: &'a str,
    pub message: &'a str,
}

/// A diagnostic of several lines.
pub(super) struct Block {
    number: u64,
    severity: Severity,
    file: String,
    place: String,
    code: String,
    message: String,
    /// The first line, as it is shown.
    pub text: String,
    /// The lines that explain it.
    pub more: String,
    /// How many lines followed it.
    pub follow: usize,
}

impl Block {
    /// The one that begins on the line with this number.
    pub(super) fn of(number: u64, head: &Head<'_>, text: String) -> Self {
        Self {
            number,
            severity: head.severity,
            file: clip(head.file, LONGEST),
            place: clip(head.place, LONGEST),
            code: head.code.to_owned(),
            message: clip(head.message, LONGEST),
            text,
            more: String::new(),
            follow: 0,
        }
    }

    /// What it says. One that says all in a line needs no number to be read on.
    pub(super) fn found(&self) -> Found<'_> {
        Found {
            number: (!self.more.is_empty()).then_some(self.number),
            severity: self.severity,
            file: &self.file,
            place: &self.place,
            code: &self.code,
            message: &self.message,
            text: &self.text,
            more: self.more.trim_end(),
        }
    }
}

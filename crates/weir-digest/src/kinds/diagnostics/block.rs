//! A diagnostic whose lines are still being read: its first line, and the lines that explain it.

use super::diagnostic::{Diagnostic, MAX_LINE_BYTES, Severity};
use crate::text::clip;

/// The first line of a diagnostic.
pub(super) struct Head<'a> {
    pub file: &'a str,
    pub place: &'a str,
    pub severity: Severity,
    pub code: &'a str,
    pub message: &'a str,
}

pub(super) struct DiagnosticBlock {
    number: u64,
    severity: Severity,
    file: String,
    place: String,
    code: String,
    message: String,
    /// The first line, as shown.
    pub text: String,
    /// The lines that explain it.
    pub more: String,
    /// The number of lines that followed it.
    pub follow: usize,
}

impl DiagnosticBlock {
    /// Creates the diagnostic that begins on the line with this number.
    pub(super) fn of(number: u64, head: &Head<'_>, text: String) -> Self {
        Self {
            number,
            severity: head.severity,
            file: clip(head.file, MAX_LINE_BYTES),
            place: clip(head.place, MAX_LINE_BYTES),
            code: head.code.to_owned(),
            message: clip(head.message, MAX_LINE_BYTES),
            text,
            more: String::new(),
            follow: 0,
        }
    }

    /// Returns the diagnostic. One without an explanation needs no line number, because there is nothing more to read.
    pub(super) fn found(&self) -> Diagnostic<'_> {
        Diagnostic {
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

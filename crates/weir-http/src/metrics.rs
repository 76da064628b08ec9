//! A page of figures in the text format of Prometheus.

use std::fmt::{Display, Write as _};

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// The media type of the format.
pub const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page in the format.
#[derive(Default)]
pub struct Page(String);

impl Page {
    /// Begins a family: `kind` is counter, gauge or histogram.
    pub fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a value to the family.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// Adds a family that has one value.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// Adds the version of the program.
    pub fn version(&mut self, version: &str) {
        self.family("weir_build_info", "gauge", "The version of the program.");
        self.sample("weir_build_info", &[("version", version)], 1);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the value of a label as the format writes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, PROMETHEUS), (CACHE_CONTROL, "no-store")], self.0).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_label_ends_it() {
        let mut page = Page::default();
        page.sample("x", &[("tenant", "a\"} 1\nb\\")], 2);
        assert_eq!(page.as_str(), "x{tenant=\"a\\\"} 1\\nb\\\\\"} 2\n");
    }
}

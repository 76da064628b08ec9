//! The log of a server: one line for each request. Invariants: no line has a token, a query or a body, and none can pass
//! for two.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;
use weir_host::answer::one_line;

/// The longest path that a line shows.
const MAX_PATH_CHARS: usize = 200;

/// How requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Not at all.
    Off,
    /// A line for a person.
    Text,
    /// A line of JSON.
    Json,
}

impl LogFormat {
    /// Writes a line about a request, if requests are logged.
    pub fn write(self, line: &Line<'_>) {
        match self {
            Self::Off => {}
            Self::Text => write(&line.text()),
            Self::Json => write(&line.json()),
        }
    }
}

/// What is written about a request.
pub struct Line<'a> {
    /// The ID of the request.
    pub id: &'a str,
    pub method: &'a str,
    pub path: &'a str,
    /// The pattern that the path matched.
    pub route: &'a str,
    pub status: u16,
    pub took: Duration,
}

impl Line<'_> {
    fn text(&self) -> String {
        let (time, path) = (jiff::Timestamp::now(), one_line(self.path, MAX_PATH_CHARS));
        let milliseconds = self.took.as_secs_f64() * 1000.0;
        format!("{time:.3} {} {path} {} {milliseconds:.1} ms {}", name_of(self.method), self.status, self.id)
    }

    fn json(&self) -> String {
        json!({
            "time": format!("{:.3}", jiff::Timestamp::now()),
            "request_id": self.id,
            "method": name_of(self.method),
            "path": one_line(self.path, MAX_PATH_CHARS),
            "route": self.route,
            "status": self.status,
            "duration_ms": (self.took.as_secs_f64() * 1_000_000.0).round() / 1000.0,
        })
        .to_string()
    }
}

/// Writes a line. A log that cannot be written must not end the server.
fn write(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Returns the name of a method. A method that is not known has a name of its own, since a client could make up many.
pub fn name_of(method: &str) -> &'static str {
    match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_is_not_known_is_not_repeated() {
        let method = "IGNORE-ALL-PREVIOUS-INSTRUCTIONS";
        let line = Line { id: "i", method, path: "/", route: "none", status: 405, took: Duration::from_millis(10) };
        for text in [line.text(), line.json()] {
            assert!(text.contains("OTHER") && !text.contains(method), "{text}");
        }
    }

    #[test]
    fn a_path_cannot_begin_a_line_of_its_own() {
        let path = "/v1/tools/a\r\n{\"status\":200}\u{1b}[2J";
        let line =
            Line { id: "i", method: "POST", path, route: "none", status: 404, took: Duration::from_micros(1500) };
        for text in [line.text(), line.json()] {
            assert!(!text.contains(['\r', '\n', '\u{1b}']), "{text}");
        }
        let parsed: serde_json::Value = serde_json::from_str(&line.json()).unwrap();
        assert_eq!((&parsed["status"], &parsed["duration_ms"]), (&json!(404), &json!(1.5)));
    }
}

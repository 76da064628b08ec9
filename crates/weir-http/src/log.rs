//! The log of a server: one line for each request. Invariants: no line has a token, a query or a body, and none can
//! pass for two.

use std::io::Write as _;

use serde_json::json;
use weir_host::answer::one_line;

use super::observe::AnsweredRequest;

/// The longest path that a line shows.
const MAX_PATH_CHARS: usize = 200;

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
    pub fn write(self, request: &AnsweredRequest<'_>) {
        match self {
            Self::Off => {}
            Self::Text => write(&text(request)),
            Self::Json => write(&json(request)),
        }
    }
}

fn text(request: &AnsweredRequest<'_>) -> String {
    let AnsweredRequest { id, method, path, status, took, .. } = *request;
    let (time, path) = (jiff::Timestamp::now(), one_line(path, MAX_PATH_CHARS));
    let milliseconds = took.as_secs_f64() * 1000.0;
    format!("{time:.3} {} {path} {status} {milliseconds:.1} ms {id}", name_of(method))
}

fn json(request: &AnsweredRequest<'_>) -> String {
    json!({
        "time": format!("{:.3}", jiff::Timestamp::now()),
        "request_id": request.id,
        "method": name_of(request.method),
        "path": one_line(request.path, MAX_PATH_CHARS),
        "route": request.route,
        "status": request.status,
        "duration_ms": (request.took.as_secs_f64() * 1_000_000.0).round() / 1000.0,
    })
    .to_string()
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
    use std::time::Duration;

    use super::*;

    fn request<'a>(method: &'a str, path: &'a str) -> AnsweredRequest<'a> {
        let took = Duration::from_micros(1500);
        AnsweredRequest { id: "i", method, path, route: "none", status: 404, took, traceparent: None }
    }

    #[test]
    fn a_method_that_is_not_known_is_not_repeated() {
        let method = "IGNORE-ALL-PREVIOUS-INSTRUCTIONS";
        for text in [text(&request(method, "/")), json(&request(method, "/"))] {
            assert!(text.contains("OTHER") && !text.contains(method), "{text}");
        }
    }

    #[test]
    fn a_path_cannot_begin_a_line_of_its_own() {
        let request = request("POST", "/v1/tools/a\r\n{\"status\":200}\u{1b}[2J");
        for text in [text(&request), json(&request)] {
            assert!(!text.contains(['\r', '\n', '\u{1b}']), "{text}");
        }
        let parsed: serde_json::Value = serde_json::from_str(&json(&request)).unwrap();
        assert_eq!((&parsed["status"], &parsed["duration_ms"]), (&json!(404), &json!(1.5)));
    }
}

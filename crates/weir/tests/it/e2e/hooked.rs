//! What every client must do with hooks, whatever it calls them.

use serde_json::Value;

use super::{Outcome, TestHome, WEIR, text};

impl TestHome {
    /// Sets Weir up in this home for a client, as a person would.
    pub(super) fn set_up(&self, client: &str) {
        let output = self.weir(&["setup", client, "--yes"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(super) fn weir(&self, arguments: &[&str]) -> std::process::Output {
        std::fs::create_dir_all(self.path("home")).unwrap();
        let mut command = std::process::Command::new(WEIR);
        command.args(arguments).current_dir(self.path("project"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").output().unwrap()
    }

    /// Returns the complete text behind the reference in a digest.
    pub(super) fn whole(&self, digest: &str) -> String {
        let at = digest.find("[ctx:").unwrap_or_else(|| panic!("no reference in {digest}"));
        let output = self.weir(&["get", &digest[at..at + 16], "--raw"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn assert_no_faults(&self) {
        assert_eq!(self.read("home/.local/share/weir/hook-faults.log"), "");
    }
}

impl Outcome {
    /// Returns what the model was sent at each step of the scenario since its last turn.
    pub(super) fn steps(&self) -> Vec<&str> {
        let steps = self.requests.iter().filter(|request| text(&request["why"]).starts_with("step:"));
        steps.map(|request| text(&request["last"])).collect()
    }

    /// Returns the requests that a rule of the scenario answered.
    pub(super) fn ruled(&self, rule: &str) -> Vec<&Value> {
        self.requests.iter().filter(|request| request["why"] == format!("rule:{rule}")).collect()
    }

    /// Returns the number of requests that are part of the conversation.
    pub(super) fn count(&self) -> usize {
        self.requests.iter().filter(|request| request["why"] != "stray").count()
    }
}

/// Returns the numbers from 1, one per line.
pub(super) fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// Checks that a short text replaced a large output, and that the complete output is stored. The beginning and the end
/// of a file have up to 4,500 tokens, and a client may number their lines.
pub(super) fn check_held(place: &TestHome, seen: &str, whole: &str) {
    assert!(seen.len() < 20_000, "{} bytes: {}", seen.len(), &seen[..2_000]);
    assert_eq!(place.whole(seen).trim_end(), whole.trim_end());
}

pub(super) const REQUEST: &str = "Export the invoices. Let's use semicolons instead of commas.";

/// What a user says before a compaction: what the work is, a correction, a decision, and something irrelevant.
pub(super) const PROMPTS: [&str; 4] = [
    "Export the invoices as CSV",
    "Use the tokenizer instead, and never log the token",
    "Let's use semicolons instead of commas",
    "ok go on",
];

/// Checks that a request after a compaction contains the original request, the decisions, what fails, what comes next
/// and the names at hand, but no names that the summary has. Returns the guide.
pub(super) fn check_carried(request: &str) -> String {
    let at = request.find("Where this session stood").unwrap_or_else(|| panic!("no guide in {request}"));
    let guide = &request[at..request.len().min(at + 6_000)];
    let guide = guide.split("\",\"").next().unwrap_or(guide).split("\"}").next().unwrap_or_default();
    let said = [
        "The work began with (user): \\\"Export the invoices as CSV",
        "\\\"ok go on\\\", after: \\\"Let's use semicolons instead of commas",
        "- user: \\\"Use the tokenizer instead, and never log the token",
        "no such table: invoices",
        "- model: Next I will add the header row.",
        "export_rows",
    ];
    for expected in said {
        assert!(guide.contains(expected), "no {expected} in {guide}");
    }
    assert!(!guide.contains("InvoiceTable"), "the summary has it: {guide}");
    assert_eq!(request.matches("Where this session stood").count(), 1, "{request}");
    guide.to_owned()
}

/// Checks that a request contains the guide of the scenarios that compact: the last request first, then what failed and
/// what was fixed.
pub(super) fn check_guide(request: &str) {
    let at = request.find("Where this session stood").unwrap_or_else(|| panic!("no guide in {request}"));
    let guide = &request[at..(at + 2_000).min(request.len())];
    let guide = guide.split("\",\"").next().unwrap_or(guide);
    for expected in [REQUEST, "no such table: invoices", "umlauts.txt"] {
        assert!(guide.contains(expected), "no {expected} in {guide}");
    }
    assert!(guide.find("Last request").is_some_and(|at| at < 100), "{guide}");
}

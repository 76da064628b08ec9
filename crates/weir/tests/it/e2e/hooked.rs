//! What every client must show with hooks, whatever it is called there.

use serde_json::Value;

use super::{Outcome, Place, WEIR, text};

impl Place {
    /// Has Weir set itself up in this home for a client, as a person would.
    pub(super) fn set_up(&self, client: &str) {
        let output = self.weir(&["setup", client, "--yes"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs the program in the project.
    pub(super) fn weir(&self, arguments: &[&str]) -> std::process::Output {
        std::fs::create_dir_all(self.path("home")).unwrap();
        let mut command = std::process::Command::new(WEIR);
        command.args(arguments).current_dir(self.path("project"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").output().unwrap()
    }

    /// The whole text behind the reference in a digest.
    pub(super) fn whole(&self, digest: &str) -> String {
        let at = digest.find("[ctx:").unwrap_or_else(|| panic!("no reference in {digest}"));
        let output = self.weir(&["get", &digest[at..at + 16], "--raw"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Our own faults in hooks: there are to be none.
    pub(super) fn assert_no_faults(&self) {
        assert_eq!(self.read("home/.local/share/weir/hook-faults.log"), "");
    }
}

impl Outcome {
    /// What the model was sent at each step of the scenario since its last turn.
    pub(super) fn steps(&self) -> Vec<&str> {
        let steps = self.requests.iter().filter(|request| text(&request["why"]).starts_with("step:"));
        steps.map(|request| text(&request["last"])).collect()
    }

    /// The requests that a rule of the scenario answered.
    pub(super) fn ruled(&self, rule: &str) -> Vec<&Value> {
        self.requests.iter().filter(|request| request["why"] == format!("rule:{rule}")).collect()
    }

    /// How many requests the model got that are part of the conversation.
    pub(super) fn count(&self) -> usize {
        self.requests.iter().filter(|request| request["why"] != "stray").count()
    }
}

/// The numbers from one on, a line each.
pub(super) fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// Checks that something small took the place of a large output, and that the whole is there. The beginning and the end of a
/// file have up to 4,500 tokens, and a client may number their lines.
pub(super) fn check_held(place: &Place, seen: &str, whole: &str) {
    assert!(seen.len() < 20_000, "{} bytes: {}", seen.len(), &seen[..2_000]);
    assert_eq!(place.whole(seen).trim_end(), whole.trim_end());
}

/// A request with a decision in it.
pub(super) const REQUEST: &str = "Export the invoices. Let's use semicolons instead of commas.";

/// What a user says before a compaction: what the work is, a correction, a decision, and nothing.
pub(super) const PROMPTS: [&str; 4] = [
    "Export the invoices as CSV",
    "Use the tokenizer instead, and never log the token",
    "Let's use semicolons instead of commas",
    "ok go on",
];

/// Checks that a request after a compaction has what the work began with, what was laid down, what fails, what comes next and
/// the names at hand, and none that the summary has. Returns the guide.
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

/// Checks that the guide of the scenarios that compact is in a request: the last request first, then what failed and what
/// was repaired.
pub(super) fn check_guide(request: &str) {
    let at = request.find("Where this session stood").unwrap_or_else(|| panic!("no guide in {request}"));
    let guide = &request[at..(at + 2_000).min(request.len())];
    let guide = guide.split("\",\"").next().unwrap_or(guide);
    for expected in [REQUEST, "no such table: invoices", "umlauts.txt"] {
        assert!(guide.contains(expected), "no {expected} in {guide}");
    }
    assert!(guide.find("Last request").is_some_and(|at| at < 100), "{guide}");
}

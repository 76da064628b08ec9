//! Import of what `weir export` has written: a store goes on in another place, or in a version that cannot read it.

use serde_json::{Value, json};

use crate::support::{Home, said};

const FILE: &str = "../export.jsonl";

/// Writes a store with something of everything, and exports it. Returns the home and the export.
fn exported() -> (Home, Vec<Value>) {
    let home = Home::outside_tmp();
    let long =
        format!("Make the pool smaller, {}and keep vermilion_limit", "because it waits for the disk, ".repeat(200));
    home.hook("s", "UserPromptSubmit", &json!({ "prompt": long }));
    let output: String = (0..3_000).map(|line| format!("line {line} of amaranth_build\n")).collect();
    let call = json!({
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "make" },
        "tool_response": { "stdout": output, "stderr": "", "interrupted": false, "isImage": false },
    });
    home.hook("s", "PostToolUse", &call);
    home.note(&["The pool has 8 connections", "--topic", "pool", "--kind", "decision"]);
    home.note(&["The pool has 16 connections", "--topic", "pool", "--kind", "decision"]);
    home.session("s").call("ctx_annotate", &json!({ "text": "Tests need port 7071" }));
    let confirmed = home.ok(&["search", "port 7071"]);
    home.ok(&["notes", "--confirm", confirmed.split_once("[ctx:").unwrap().1.split_once(']').unwrap().0]);
    home.ok(&["search", "vermilion_limit"]);
    home.ok(&["export", FILE]);
    let lines = home.lines();
    (home, lines)
}

impl Home {
    fn lines(&self) -> Vec<Value> {
        self.ok(&["export"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn start_over(&self) {
        std::fs::remove_dir_all(self.data().join("projects")).unwrap();
    }
}

/// What must be the same in a store and in one that was made from its export.
fn essence(lines: &[Value]) -> Vec<Value> {
    let is_kept = |line: &&Value| line["note"]["superseded_by"].is_null() && line["source"] != "turn";
    let of_line = |line: &Value| match line["type"].as_str().unwrap() {
        "entry" if line["kind"] == "said" => json!([line["at"], line["kind"], line["origin"], line["text"]]),
        "entry" => json!([
            line["at"], line["kind"], line["origin"], line["title"], line["reference"], line["text"], line["session"],
            line["note"]["topic"], line["note"]["kind"], line["note"]["confirmed_at"]
        ]),
        "event" => json!([line["at"], line["kind"], line["priority"], line["text"], line["client"], line["session"]]),
        _ => Value::Null,
    };
    let mut all: Vec<Value> = lines.iter().filter(is_kept).map(of_line).collect();
    all.sort_by_key(Value::to_string);
    all
}

#[test]
fn an_export_of_weir_is_a_store_again() {
    let (home, before) = exported();
    home.start_over();
    let look = home.import(&[FILE, "--dry-run"]);
    assert!(!home.data().join("projects").exists(), "a dry run has made a store");
    let first = home.import(&[FILE]);
    let kinds = &first["kinds"];
    assert_eq!((&first["notes"], &kinds["prompt"], &kinds["run"]), (&json!(2), &json!(1), &json!(1)), "{first}");
    assert_eq!(first["new"], look["new"]);
    let said = home.ok(&["search", "vermilion_limit"]);
    assert!(said.contains("by user"), "{said}");
    assert_eq!(essence(&home.lines()), essence(&before));
    let again = home.import(&[FILE]);
    assert_eq!((&again["new"], &again["rows_skipped"]), (&json!(0), &json!(0)), "{again}");
}

#[test]
fn an_export_adds_nothing_to_the_store_that_it_came_from_and_brings_back_nothing_forgotten() {
    let (home, before) = exported();
    let note = before.iter().find(|line| line["note"]["topic"] == "pool" && line["note"]["superseded_by"].is_null());
    let reference = note.unwrap()["reference"].as_str().unwrap();
    let plan = home.json(&["forget", reference]);
    home.ok(&["forget", reference, "--confirm", plan["confirm"].as_str().unwrap()]);
    let entries = |lines: &[Value]| lines.iter().filter(|line| line["type"] == "entry").count();
    let left = entries(&home.lines());
    home.import(&[FILE]);
    assert_eq!(entries(&home.lines()), left);
    assert!(!home.ok(&["export"]).contains("16 connections"));
}

#[test]
fn an_export_of_a_newer_version_or_another_project_is_not_taken() {
    let (home, _) = exported();
    home.start_over();
    let text = std::fs::read_to_string(home.at("export.jsonl")).unwrap();
    home.write(FILE, text.replacen("\"version\":1", "\"version\":2", 1));
    let refused = home.weir(&["import", FILE]);
    assert!(!refused.status.success() && said(&refused).contains("newer"), "{}", said(&refused));
    home.write(FILE, text.replacen("/project\"", "/elsewhere\"", 1));
    let left = home.ok(&["import", FILE]);
    assert!(left.contains("of Weir's project `elsewhere`") && left.contains("--here"), "{left}");
    assert_eq!(home.import(&[FILE, "--here"])["notes"], 2);
}

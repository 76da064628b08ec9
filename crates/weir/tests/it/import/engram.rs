//! Import of what `engram export` has written, from an export that was written by hand in its documented shape.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Home, said, text, write};

const EXPORT: &str = include_str!("../../../../weir-session/src/engram/fixtures/export.json");
const FILE: &str = "../engram-export.json";

impl Home {
    fn exported(&self) -> Value {
        let folder = self.at("project").parent().map(PathBuf::from).unwrap();
        serde_json::from_str(&EXPORT.replace("/srv/dev", folder.to_str().unwrap())).unwrap()
    }

    fn write_export(&self, export: &Value) {
        write(&self.at("engram-export.json"), serde_json::to_string_pretty(export).unwrap());
    }

    /// Forgets the first entry that a search finds.
    fn forget_found(&self, words: &str) {
        let found = self.ok(&["search", words]);
        let reference = found.split_once("[ctx:").unwrap().1.split_once(']').unwrap().0;
        let plan = self.json(&["forget", reference]);
        self.ok(&["forget", reference, "--confirm", plan["confirm"].as_str().unwrap()]);
    }

    /// Checks that a search finds something under a heading.
    fn check_found(&self, words: &str, heading: &str) {
        let found = self.ok(&["search", words]);
        assert!(found.contains(heading), "no {heading:?} in:\n{found}");
    }
}

#[test]
fn an_export_becomes_notes_prompts_and_summaries_once() {
    let home = Home::outside_tmp();
    home.write_export(&home.exported());
    let look = home.import(&[FILE, "--dry-run"]);
    assert_eq!((&look["notes"], &look["kinds"]["prompt"], &look["summaries"]), (&json!(4), &json!(2), &json!(1)));
    assert!(!home.at(".local/share/weir/projects").exists(), "a dry run has made a store");

    let first = home.import(&[FILE]);
    let root = home.at("project");
    assert_eq!(
        first["places"],
        json!([
            { "project": "project", "into": root, "notes": 3, "prompts": 2, "summaries": 1 },
            { "project": "project", "into": "user", "notes": 1, "prompts": 0, "summaries": 0 },
        ])
    );
    assert_eq!(first["left_out"], json!([{ "project": "billing", "rows": 2, "is_other_project": false }]));
    assert_eq!((&first["new"], &first["deleted"]), (&look["new"], &json!(1)), "{first}");
    home.check_found(
        "argon2id bcrypt",
        "note/decision on architecture/password-hashing (rev 1) from engram by model, 2026-01-10 09:45Z",
    );
    home.check_found("quartzite_rows", "note/finding from engram by model, 2026-01-10 10:15Z");
    home.check_found("handlers return problem", "note/convention from engram by model, 2026-01-12 08:05Z");
    home.check_found("imperative subject line", "note/convention from engram by model, 2026-01-10 10:40Z");
    home.check_found("slow user list", "prompt by user, 2026-01-10 10:00Z");
    home.check_found("migration of old rows", "summary by model, 2026-01-10 11:30Z");
    let all = home.ok(&["export"]);
    for absent in ["4711", "vermilion_cache", "heliotrope_sequence"] {
        assert!(!all.contains(absent), "{absent} is stored");
    }
    assert!(home.ok(&["history", "--sessions"]).contains("2026-01-10 09:01Z to 11:30Z"));

    let events = home.events();
    let second = home.import(&[FILE]);
    assert_eq!((&second["new"], &second["already_there"]), (&json!(0), &first["new"]), "{second}");
    assert_eq!(home.events(), events);
    let said = home.ok(&["import", FILE]);
    assert!(said.starts_with("nothing new in 2 sessions\nalready recorded: "), "{said}");
}

#[test]
fn an_export_that_has_grown_adds_what_is_new() {
    let home = Home::outside_tmp();
    let mut export = home.exported();
    home.write_export(&export);
    home.import(&[FILE]);
    home.forget_found("handlers return problem");
    let observations = export["observations"].as_array_mut().unwrap();
    for (at, content) in [(0, "argon2id with 64 MiB of memory"), (1, "The list now loads quartzite_rows in one query")]
    {
        observations[at]["content"] = json!(content);
        observations[at]["updated_at"] = json!("2026-03-01 10:00:00");
        observations[at]["revision_count"] = json!(2);
    }
    // Saved again without a change.
    observations[4]["updated_at"] = json!("2026-03-01 10:00:00");
    let mut new = observations[4].clone();
    (new["id"], new["sync_id"], new["content"]) = (json!(7), json!("obs-7"), json!("Errors carry an amaranth_code."));
    observations.push(new);
    let mut prompt = export["prompts"][1].clone();
    (prompt["id"], prompt["sync_id"]) = (json!(4), json!("prompt-a3"));
    export["prompts"].as_array_mut().unwrap().push(prompt);
    home.write_export(&export);
    let more = home.import(&[FILE]);
    assert_eq!((&more["notes"], &more["kinds"]["prompt"], &more["summaries"]), (&json!(3), &json!(1), &json!(0)));
    home.check_found("64 MiB of memory", "on architecture/password-hashing (rev 2) from engram by model, 2026-03-01");
    home.check_found("quartzite_rows in one query", "note/finding from engram by model, 2026-03-01 10:00Z");
    home.check_found("amaranth_code", "note/convention from engram");
    assert!(!home.ok(&["export"]).contains("application/problem+json"), "what was forgotten is back");
    assert_eq!(home.import(&[FILE])["new"], 0);
}

#[test]
fn the_folder_and_then_the_name_decide_the_project() {
    let home = Home::outside_tmp();
    home.write_export(&home.exported());
    let told = home.ok(&["import", FILE]);
    assert!(told.contains("left out 2 rows of engram's project `billing`: its folder does not exist here"), "{told}");
    let root = home.at("project");
    let into = format!("engram's project `billing` into {}: 1 note, 1 prompt", root.display());
    let told = home.ok(&["import", FILE, "--project-name", "Billing", "--dry-run"]);
    assert!(told.contains(&into), "no {into} in:\n{told}");

    std::fs::create_dir_all(home.at("billing")).unwrap();
    let own = home.import(&[FILE]);
    assert_eq!(own["left_out"], json!([{ "project": "billing", "rows": 2, "is_other_project": true }]));
    let all = home.import(&[FILE, "--all"]);
    assert_eq!((&all["notes"], &all["places"][0]["into"]), (&json!(1), &json!(home.at("billing"))), "{all}");
    let found = home.weir_in(&home.at("billing"), &["search", "heliotrope_sequence"]);
    assert!(text(&found.stdout).contains("note/finding from engram by model, 2026-02-01 14:10Z"), "{found:?}");
    let here = home.import(&[FILE, "--here", "--since", "2026-01-20"]);
    assert_eq!((&here["notes"], &here["kinds"]["prompt"], &here["left_out"]), (&json!(1), &json!(1), &json!([])));
}

#[test]
fn a_note_of_an_export_takes_no_other_notes_place() {
    let home = Home::outside_tmp();
    home.note(&["Passwords use scrypt from now on", "--topic", "architecture/password-hashing"]);
    home.write_export(&home.exported());
    let told = home.ok(&["import", FILE]);
    assert!(told.contains("1 note was imported without the topic, because another note has it"), "{told}");
    home.check_found("argon2id bcrypt", "note/decision from engram by model");
    let own = home.ok(&["search", "scrypt from now on"]);
    assert!(own.contains("on architecture/password-hashing (rev 1) by user") && !own.contains("superseded"), "{own}");
}

#[test]
fn rows_that_are_not_understood_are_named_and_an_export_that_ends_early_is_reported() {
    let home = Home::outside_tmp();
    let mut export = home.exported();
    export["observations"].as_array_mut().unwrap().push(json!({ "id": 9, "title": "no content" }));
    home.write_export(&export);
    let told = home.ok(&["import", FILE]);
    let file = home.at("engram-export.json");
    let named = format!("1 row was not understood: {}:observations[6]", file.display());
    assert!(told.contains(&named), "no {named} in:\n{told}");

    let other = Home::outside_tmp();
    let whole = serde_json::to_string(&other.exported()).unwrap();
    write(&other.at("engram-export.json"), &whole[..whole.len() - 40]);
    let told = other.ok(&["import", FILE]);
    assert!(told.contains("4 notes") && told.contains("engram-export.json to its end: "), "{told}");

    let refused = home.weir(&["import", FILE, "--client", "codex"]);
    assert!(said(&refused).contains("it is an export"), "{refused:?}");
    home.write_rows("plain.jsonl", &[json!({ "session": "a", "role": "user", "text": "x" })]);
    let refused = home.weir(&["import", "../plain.jsonl", "--project-name", "web"]);
    assert!(said(&refused).contains("the path is not an export"), "{refused:?}");
}

#[test]
fn an_import_of_an_export_that_is_killed_and_repeated_imports_everything_once() {
    let [whole, killed] = [Home::outside_tmp(), Home::outside_tmp()];
    for home in [&whole, &killed] {
        let row = |number: usize| {
            json!({
                "id": number, "sync_id": format!("row-{number}"), "session_id": "long", "project": "project",
                "type": "discovery", "title": format!("Part {number}"),
                "content": format!("Request number {number}: look at part_{number} of the long export"),
                "scope": "project", "revision_count": 1, "created_at": "2026-01-10 09:00:00",
            })
        };
        let rows: Vec<Value> = (0..3_000).map(row).collect();
        home.write_export(&json!({
            "version": "0.1.0", "exported_at": "2026-02-28 12:00:00", "sessions": null,
            "observations": rows, "prompts": rows,
        }));
    }
    whole.import(&[FILE]);
    for millis in [20, 60, 100, 140, 180, 240, 300, 360] {
        let mut command = killed.weir_command(&["import", FILE]);
        let mut import = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        let _ = import.kill();
        import.wait().unwrap();
    }
    killed.import(&[FILE]);
    assert_eq!(killed.events(), whole.events());
    let [expected, found] = [&whole, &killed].map(|home| home.ok(&["export"]).lines().count());
    assert_eq!(found, expected);
    assert_eq!(killed.import(&[FILE])["already_there"], 6_000);
}

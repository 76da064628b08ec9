//! The appearance of a long output, and the further views of it that `ctx_get` provides.

use serde_json::json;

use super::answers::reference;
use crate::support::Home;

/// Prints a long log with one line that matters.
const LOG: &str = r#"for i in $(seq 1 4000); do
  echo "2026-03-01T10:00:00Z INFO request $i served in $((i % 7)) ms"
  [ $i = 2500 ] && echo "2026-03-01T10:00:00Z ERROR pool exhausted: 16 of 16 connections to ledger-db in use"
done; exit 3"#;

/// Prints an array of 500 records as JSON on one line.
const JSON: &str = r#"printf '{"page": 1, "items": ['
for i in $(seq 1 500); do [ $i -gt 1 ] && printf ','; printf '{"id": %d, "state": "%s", "name": "item number %d"}' $i "$([ $i = 77 ] && echo lost || echo sent)" $i; done
printf ']}\n'"#;

/// Prints 900 rows of separated values.
const CSV: &str =
    r#"echo "id,city,total"; for i in $(seq 1 900); do echo "$i,\"Bad, Ems $((i % 3))\",$((i * 10))"; done"#;

#[test]
fn a_failure_is_in_the_digest_and_around_it_is_one_call_away() {
    let home = Home::with_programs();
    let mut server = home.server();
    let answer = server.said("ctx_execute", &json!({ "code": LOG }));
    let error = "2501: 2026-03-01T10:00:00Z ERROR pool exhausted: 16 of 16 connections to ledger-db in use";
    assert!(answer.starts_with("exit 3 in "), "{answer}");
    assert!(answer.contains(error) && answer.contains("4001 lines"), "{answer}");
    assert!(weir_tokens::count(&answer) <= 1_600, "{answer}");
    assert!(answer.ends_with("more: ctx_get with lines, pattern, select or intent"), "{answer}");
    let reference = reference(&answer);

    let around = server.said("ctx_get", &json!({ "ref": reference, "lines": "~2501", "context": 1 }));
    assert!(around.contains("request 2500 served") && around.contains("request 2501 served"), "{around}");
    assert!(!around.contains("request 2499"), "{around}");
    let pattern = server.said("ctx_get", &json!({ "ref": reference, "pattern": "exhausted", "context": 1 }));
    assert!(pattern.contains("2501: 2026") && pattern.contains("2500- 2026"), "{pattern}");
    let many = server.said("ctx_get", &json!({ "ref": reference, "pattern": "served in 3 ms", "budget": 300 }));
    assert!(many.contains("572 lines match; cut after line "), "{many}");
    let next = many.rsplit_once("continue with lines ").unwrap().1.trim();
    let next = server.said("ctx_get", &json!({ "ref": reference, "pattern": "served in 3 ms", "lines": next }));
    assert!(!next.contains("request 3 served"), "{next}");
}

#[test]
fn an_intent_finds_the_section_and_hides_no_failure() {
    let home = Home::with_programs();
    let mut server = home.server();
    let answer = server.said("ctx_execute", &json!({ "code": LOG, "intent": "which request took part 1234" }));
    assert!(answer.contains("request 1234 served"), "{answer}");
    assert!(answer.contains("ERROR pool exhausted"), "{answer}");
    let got =
        server.said("ctx_get", &json!({ "ref": reference(&answer), "intent": "connections to the ledger database" }));
    assert!(got.contains("pool exhausted: 16 of 16 connections"), "{got}");
    let unmatched = server.said("ctx_execute", &json!({ "code": LOG, "intent": "zebra unicorns" }));
    assert!(unmatched.contains("no lines match the intent: looked for `zebra`, `unicorns`"), "{unmatched}");
    assert!(unmatched.contains("pool exhausted"), "{unmatched}");
    let nothing = server.said("ctx_get", &json!({ "ref": reference(&answer), "intent": "zebra" }));
    assert!(nothing.contains("no matches: looked for `zebra`; try other words or a pattern"), "{nothing}");
}

#[test]
fn values_are_taken_out_of_json_and_columns_out_of_rows() {
    let home = Home::with_programs();
    let mut server = home.server();
    let json_answer = server.said("ctx_execute", &json!({ "code": JSON }));
    let list = reference(&json_answer);
    let one = server.said("ctx_get", &json!({ "ref": list, "select": "items[76].state" }));
    assert!(one.contains("\"lost\"") && one.contains("values 1-1 of 1"), "{one}");
    let page = server.said("ctx_get", &json!({ "ref": list, "select": "items[].id", "lines": "3-4" }));
    assert!(
        page.contains("<<<") && page.contains("3\n4\n") && page.contains("values 3-4 of 500; continue with lines 5-"),
        "{page}"
    );
    let lost = server.said("ctx_get", &json!({ "ref": list, "select": "items[]", "pattern": "lost" }));
    assert!(lost.contains("\"id\":77") && lost.contains("of 1"), "{lost}");
    let missing = server.said("ctx_get", &json!({ "ref": list, "select": "items[].colour" }));
    assert!(missing.contains("no `colour` here; available: id, state, name"), "{missing}");

    let rows = reference(&server.said("ctx_execute", &json!({ "code": CSV })));
    let columns = server.said("ctx_get", &json!({ "ref": rows, "select": "city,total", "lines": "900-" }));
    assert!(columns.contains("city,total\n\"Bad, Ems 0\",9000\n"), "{columns}");
    let none = server.said("ctx_get", &json!({ "ref": rows, "select": "town" }));
    assert!(none.contains("available: id, city, total"), "{none}");
}

//! Tests the reading of exports: whole, cut off and of other programs.

use expect_test::expect;

use super::*;

const EXPORT: &str = include_str!("../fixtures/export.json");

fn rows_of(text: &str) -> (Vec<String>, io::Result<()>) {
    let mut rows = Vec::new();
    let read = read(text.as_bytes(), &mut |row: ExportRow| {
        let place = format!("{}[{}]", row.section.as_str(), row.position);
        let what = match row.section {
            Section::Sessions => row.parse::<SessionRow>().map(|row| format!("{} in {:?}", row.id, row.directory)),
            Section::Observations => row
                .parse::<ObservationRow>()
                .map(|row| format!("{:?} at {:?}, deleted {}", row.key(), row.written(), row.is_deleted())),
            Section::Prompts => row.parse::<PromptRow>().map(|row| format!("{:?} at {:?}", row.key(), row.written())),
        };
        rows.push(format!("{place} {}", what.unwrap_or_else(|| "?".to_owned())));
        ControlFlow::Continue(())
    });
    (rows, read)
}

#[test]
fn an_export_is_recognised_by_its_head() {
    let dated = r#"{"version": "0.1.0", "exported_at": "2026-02-28 12:00:00", "#;
    for (text, expected) in [
        (EXPORT.to_owned(), true),
        (format!("{dated}\"sessions\": null}}"), true),
        (format!("{dated}\"observations\": []}}"), true),
        (format!("{dated}\"memos\": []}}"), false),
        (r#"{"sessions": [], "exported_at": "2026-02-28 12:00:00"}"#.to_owned(), false),
        (r#"{"type":"user","sessionId":"a","message":{}}"#.to_owned(), false),
        (format!(r#"{{"exported_at": "{}", "sessions": []}}"#, "x".repeat(100_000)), false),
        ("[1, 2]".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(is_export(text.as_bytes()), expected, "{}", &text[..text.len().min(80)]);
    }
}

#[test]
fn rows_are_read_with_their_names_and_times() {
    let text = r#"{
        "version": "0.1.0", "exported_at": "2026-02-28 12:00:00", "relations": [{"a": [1]}],
        "sessions": [{"id": "s1", "project": "web", "directory": "/src/web", "started_at": "2026-02-01 10:00:00"}, 7],
        "observations": [
            {"id": 1, "sync_id": "obs-1", "session_id": "s1", "type": "bugfix", "title": "t", "content": "c",
             "scope": "project", "revision_count": 2, "duplicate_count": 1,
             "created_at": "2026-02-01 10:00:00", "updated_at": "2026-02-01T11:00:00Z"},
            {"id": 2, "session_id": "s1", "type": "bugfix", "title": "t", "content": "c", "scope": "project",
             "revision_count": 1, "created_at": "2026-02-01 10:00:00", "deleted_at": "2026-02-02 10:00:00"},
            {"id": 3, "type": "bugfix", "title": "t"}
        ],
        "prompts": null
    }"#;
    let (rows, read) = rows_of(text);
    read.unwrap();
    expect![[r#"
        sessions[0] s1 in Some("/src/web")
        sessions[1] ?
        observations[0] Some("obs-1") at Some(Timestamp(1769943600000)), deleted false
        observations[1] Some("2 s1 2026-02-01 10:00:00") at Some(Timestamp(1769940000000)), deleted true
        observations[2] ?
    "#]]
    .assert_eq(&(rows.join("\n") + "\n"));
}

#[test]
fn an_export_that_ends_early_yields_its_rows_and_an_error() {
    let whole = r#"{"exported_at": "", "prompts": [{"id": 1, "content": "a"}, {"id": 2, "content": "b"}, {"id":"#;
    let (rows, read) = rows_of(whole);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    let long = format!(r#"{{"prompts": [{{"id": 1, "content": "{}"}}]}}"#, "x".repeat(MAX_ROW_BYTES));
    let (rows, read) = rows_of(&long);
    assert!(rows.is_empty());
    assert!(read.unwrap_err().to_string().contains("a row is longer than 32 MiB"));
    // What is passed over may be of any length.
    let (rows, read) = rows_of(&long.replace("prompts", "relations"));
    assert!(rows.is_empty());
    read.unwrap();
}

#[test]
fn reading_stops_when_no_more_rows_are_wanted() {
    let mut count = 0;
    let read = read(EXPORT.as_bytes(), &mut |_| {
        count += 1;
        ControlFlow::Break(())
    });
    read.unwrap();
    assert_eq!(count, 1);
}

//! One truth for figures: every face shows the sums of the same account.

use rusqlite::params;
use serde_json::{Value, json};

use super::support::{Pages, between, furnished};
use crate::support::{Home, TIMEOUT, hooked, wait_until};

/// What was done, the tool, and the tokens: of the outputs, without Weir, and shown.
type Row = (&'static str, &'static str, [i64; 3]);

/// Gains and losses, what was asked for again, and Weir's own text.
const READINGS: [Row; 7] = [
    ("held", "shell", [60_000, 500, 1_700]),
    ("held", "read", [5_000, 5_000, 2_000]),
    ("ran", "ctx_execute", [40_000, 7_000, 1_000]),
    ("told", "guide", [0, 0, 400]),
    ("answered", "ctx_get", [0, 0, 700]),
    ("answered", "ctx_search", [0, 0, 300]),
    ("untouched", "shell", [9_000, 9_000, 9_000]),
];
/// A session that only cost something.
const LOSS: [Row; 1] = [("held", "shell", [30_000, 300, 5_000])];

#[expect(clippy::disallowed_methods, reason = "the test writes rows of its own")]
fn meter(home: &Home, sessions: &[(&str, &[Row])]) {
    let store = std::fs::read_dir(home.data().join("projects")).unwrap().next().unwrap().unwrap().path();
    let connection = rusqlite::Connection::open(store.join("log.db")).unwrap();
    connection.execute("DELETE FROM meter", []).unwrap();
    let today = jiff::Timestamp::now().as_second().div_euclid(86_400);
    for (session, rows) in sessions {
        for (what, tool, [output, given, shown]) in *rows {
            let insert = "INSERT INTO meter (day, client, session, tool, what, times, output, given, shown)
                          VALUES (?1, 'claude-code', ?2, ?3, ?4, 1, ?5, ?6, ?7)";
            connection.execute(insert, params![today, session, tool, what, output, given, shown]).unwrap();
        }
    }
}

fn status_line(home: &Home, session: &str) -> String {
    let told = json!({ "session_id": session, "cwd": home.project() });
    String::from_utf8(hooked(home.weir_command(&["statusline"]), told.to_string().as_bytes())).unwrap()
}

/// Formats a number as pages do.
fn shown(number: &Value) -> String {
    let number = number.as_i64().unwrap();
    let digits = number.unsigned_abs().to_string();
    let commas = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap());
    format!("{}{}", if number < 0 { "−" } else { "" }, commas.collect::<Vec<_>>().join(","))
}

/// Returns the figure of a row of a table: the row is known by a text in it, the figure by its column.
fn cell(page: &str, row: &str, column: &str) -> String {
    let mut rows = page.split("<tr").skip(1).filter_map(|part| part.split("</tr>").next());
    let row = rows.find(|part| part.contains(row)).unwrap_or_else(|| panic!("no {row}:\n{page}"));
    between(row, &format!("data-label=\"{column}\">"), "</td>").unwrap_or_else(|| panic!("no {column} in {row}"))
}

#[test]
fn every_face_shows_the_same_figures() {
    let (home, ..) = furnished();
    home.hook("t", "UserPromptSubmit", &json!({ "prompt": "Count the boats in the harbour" }));
    meter(&home, &[("s", &READINGS), ("t", &LOSS)]);

    let stats = home.json(&["stats"]);
    let all = &stats["all"];
    let expected = json!({
        "held": 4, "output": 135_000, "given": 12_800, "shown": 9_700, "told": 400, "told_times": 1,
        "again": 700, "again_answers": 1, "answered": 300, "answers": 1, "net": 1_700,
    });
    assert_eq!(all, &expected);
    let of_session = |key: &str| {
        let sessions = stats["sessions"].as_array().unwrap();
        sessions.iter().find(|row| row["session"] == key).unwrap()["sum"].clone()
    };
    let (s, t) = (of_session("s"), of_session("t"));
    assert_eq!((&s["net"], &t["net"]), (&json!(6_400), &json!(-4_700)));
    assert_eq!(stats["days"].as_object().unwrap().values().next(), Some(all));

    assert_eq!(home.json(&[])["store"]["today"], *all, "`weir` is about the same day");
    assert!(home.ok(&[]).contains("135k tokens of output → 9.7k, 4 outputs held back"), "{}", home.ok(&[]));
    assert_eq!(status_line(&home, "s"), "weir 105k tokens of output → 4.7k\n");
    assert_eq!(status_line(&home, "t"), "weir 30k tokens of output → 5.0k\n");

    let pages = Pages::open(&home);
    for address in [String::new(), pages.project()] {
        let today = pages.page(&format!("{address}/"));
        let account = |name: &str| between(&today, &format!("<dt>{name}</dt><dd class=\"big\">"), "</dd>").unwrap();
        assert_eq!(account("Held back"), shown(&json!(12_800 - 9_700)));
        assert_eq!(account("Asked for again"), shown(&all["again"]));
        assert_eq!(account("Weir’s own text"), shown(&json!(400 + 300)));
        assert!(account("Net").contains(&format!("<span>{}</span>", shown(&all["net"]))), "{today}");
        assert!(today.contains("in full 135,000, shown 9,700"), "{today}");
        assert_eq!(cell(&today, "14 days</th>", "Net tokens"), shown(&all["net"]), "the table of days");
        assert_eq!(cell(&today, ">Commands", "Held back"), shown(&json!(800 - 6_700)), "a loss is a loss");
        assert_eq!(cell(&today, "scope=\"row\">All<", "Held back"), shown(&json!(12_800 - 9_700)));
        for page in [today, pages.page(&format!("{address}/sessions"))] {
            assert_eq!(cell(&page, "Make the pool of", "Net tokens"), shown(&s["net"]));
            assert_eq!(cell(&page, "Count the boats", "Net tokens"), shown(&t["net"]));
        }
    }
    for (key, sum) in [("s", &s), ("t", &t)] {
        let page = pages.page(&format!("{}/sessions/claude-code~{key}", pages.project()));
        let net = between(&page, "<dt>Held back, net</dt><dd>", " <").unwrap();
        assert_eq!(net, shown(&sum["net"]), "{page}");
    }
    let projects = pages.page("/projects");
    assert_eq!(cell(&projects, ">project</a>", "Net tokens"), shown(&all["net"]), "{projects}");
}

#[test]
fn an_output_that_was_held_back_is_listed_with_what_the_model_got_and_asked_for() {
    let (home, output, _) = furnished();
    let path = home.at(".claude/projects/p/s.jsonl");
    let message = |id: &str, name: &str, input: &Value, text: &str| {
        let mut call =
            json!({ "type": "assistant", "sessionId": "s", "timestamp": jiff::Timestamp::now().to_string() });
        call["message"] = json!({
            "id": id, "model": "claude-opus-5-5", "usage": { "input_tokens": 9, "output_tokens": 1 },
            "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }],
        });
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
        let result = json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": content } });
        format!("{call}\n{result}\n")
    };
    let digest = format!("plain lines; held as [ctx:{output}]");
    let answer = "17 lines of it";
    let rows = message("held", "Bash", &json!({ "command": "seq 1 30000" }), &digest)
        + &message("asked", "mcp__weir__ctx_get", &json!({ "ref": output, "lines": "10-26" }), answer);
    let before = std::fs::read_to_string(&path).unwrap();
    crate::support::write(&path, before + &rows);
    let pages = Pages::open(&home);
    let address = format!("{}/sessions/claude-code~s", pages.project());
    let tokens = |text: &str| shown(&json!(weir_tokens::count(text)));
    let is_read = || pages.page(&address).contains(&format!("tokens as {}", tokens(&digest)));
    assert!(wait_until(TIMEOUT, is_read), "the timeline has no line for it: {}", pages.page(&address));
    let page = pages.page(&address);
    assert!(page.contains("held back</span>"), "{page}");
    assert!(page.contains("<span class=\"sr\">request </span>61<"), "the prompt came before the 61st request: {page}");
    assert!(page.contains("without Weir, until it would have been compacted"), "{page}");
    let today = pages.page("/");
    assert_eq!(cell(&today, "seq 1 30000</code>", "Shown"), tokens(&digest));
    assert_eq!(cell(&today, "seq 1 30000</code>", "Asked again"), tokens(answer));
    // The row and the sum are the same number, estimated by the same function.
    let stats = home.json(&["stats"]);
    assert_eq!(cell(&today, "seq 1 30000</code>", "Tokens"), format!("about {}", shown(&stats["all"]["output"])));
}

#[test]
fn an_address_without_a_page_keeps_the_project() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let project = pages.project();
    let missing = pages.get(&format!("{project}/nothing"));
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains(&format!("href=\"{project}/sessions\"")), "{}", missing.text());
}

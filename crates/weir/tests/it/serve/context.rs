//! `GET /context` of a real server, next to the command.

use serde_json::json;

use super::support::{Request, Server, print_token};
use crate::support::Home;

#[test]
fn the_answer_is_the_markdown_of_the_command() {
    let home = Home::with_a_day();
    let server = Server::start(&home);
    let response = server.get("/context");
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(response.header("weir-remark"), None);
    assert_eq!(response.text(), home.context(&[]));
    for (parameters, arguments) in [
        ("compact=1", &["--compact"][..]),
        ("compact=TRUE&scope=user", &["--compact", "--scope", "user"][..]),
        ("project=project&limit=3&scope=&budget=", &[][..]),
    ] {
        assert_eq!(server.get(&format!("/context?{parameters}")).text(), home.context(arguments), "{parameters}");
    }
    let few = server.get("/context?limit=1&compact=t").text();
    assert!(
        few.contains("## Recent notes (more: ctx_search)\n- [finding] **The ferry leaves at seven** [ctx:"),
        "{few}"
    );
}

#[test]
fn what_is_not_understood_is_named_and_what_is_not_known_is_refused() {
    let home = Home::with_a_day();
    let server = Server::start(&home);
    let full = home.context(&[]);
    for limit in ["0", "-3", "many", "%00", "8.5"] {
        assert_eq!(server.get(&format!("/context?limit={limit}")).text(), full, "{limit}");
    }
    let response = server.get("/context?limit=m%C3%A4ny&compact=maybe");
    assert_eq!(response.text(), format!("{full}\ncompact=maybe was not understood: use true or false\n"));
    let remark = response.header("weir-remark").unwrap();
    assert!(remark.starts_with("limit=m?ny was not understood") && remark.contains("compact=maybe"), "{remark}");
    let problem = server.get("/context?session=s1").problem(422);
    assert_eq!(problem["detail"], "GET /context has no parameter `session`");
    server.get("/context?scope=everything").problem(422);
    server.get("/context?budget=much").problem(422);
    server.send(&Request::get("/context").method("POST").token(server.token())).problem(405);
}

#[test]
fn a_program_with_a_token_may_ask_for_any_project_of_the_user() {
    let home = Home::with_a_day();
    let other = home.at("harbour");
    std::fs::create_dir(&other).unwrap();
    assert!(home.weir_in(&other, &["note", "Ships wait outside"]).status.success());
    let server = Server::start(&home);
    let harbour = server.get("/context?project=harbour").text();
    assert!(harbour.starts_with("# Context of harbour ") && harbour.contains("Ships wait outside"), "{harbour}");
    assert!(!harbour.contains("ferry"), "{harbour}");
    let path = other.to_str().unwrap().replace('/', "%2F");
    assert_eq!(server.get(&format!("/context?project={path}")).text(), harbour);
    // The stores of the other project stay open, and what is kept there meanwhile is seen.
    assert!(home.weir_in(&other, &["note", "The crane is broken"]).status.success());
    let later = server.get("/context?project=harbour").text();
    assert!(later.contains("The crane is broken") && later.contains("Ships wait outside"), "{later}");
    assert!(server.get("/context").text().contains("ferry"), "its own project is what it was");
    let problem = server.get("/context?project=harbor").problem(404);
    assert_eq!(problem["hint"], "the known projects with the most similar names: harbour, project", "{problem}");
    // The arguments of a tool come from a model, which sees its own project.
    let refused = server.post("ctx_context", &json!({ "project": "harbour" })).problem(403);
    assert!(!refused.to_string().contains("Ships"), "{refused}");
    let own = server.call("ctx_context", &json!({ "compact": true, "limit": 1 }));
    assert_eq!(own["data"]["notes"][0]["title"], "The ferry leaves at seven", "{own}");
}

#[test]
fn a_token_that_may_read_is_needed_and_enough() {
    let home = Home::with_a_day();
    let server = Server::start(&home);
    server.send(&Request::get("/context")).problem(401);
    server.send(&Request::get("/context").token("guessed")).problem(401);
    let reads = print_token(&home, "read");
    assert_eq!(server.send(&Request::get("/context").token(&reads)).status, 200);
}

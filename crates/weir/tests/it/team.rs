//! `weir-server`, as an operator and two users meet it.

mod traces;

use crate::support::{Home, said};

/// Needs a PostgreSQL: `.ci/postgres run -- COMMAND…` starts one and tells the command where it is.
mod postgres {
    use std::collections::BTreeSet;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::sync::mpsc::{Sender, channel};

    use serde_json::{Value, json};

    use super::{Home, said};
    use crate::serve::support::{Request, Response, Server};
    use crate::support::TIMEOUT;

    const PROJECT: &str = "api";
    /// How many notes each writer writes, unless its server ends.
    const NOTES: usize = 60;

    #[expect(clippy::disallowed_methods, reason = "the environment says where the server is")]
    fn database() -> String {
        std::env::var("WEIR_POSTGRES").expect("run this with `.ci/postgres run --`")
    }

    /// Returns all records of the project with their positions and texts.
    fn download(server: &Server, token: &str) -> Value {
        let path = format!("/v1/sync/records?project={PROJECT}&limit=500");
        let batch = server.send(&Request::get(&path).token(token));
        assert_eq!(batch.status, 200, "{}", batch.text());
        batch.json()
    }

    /// Returns what the tenant has, and what it may have.
    fn usage(server: &Server, admin: &str) -> Vec<String> {
        let page = server.send(&Request::get("/metrics").token(admin)).text();
        page.lines().filter(|line| line.starts_with("weir_tenant_")).map(str::to_owned).collect()
    }

    /// Asserts that the old server refuses a note, and that its folder cannot be served or moved again.
    fn assert_closed(home: &Home, old: &Server, token: &str, moving: &[&str]) {
        let note = json!({ "project": PROJECT, "text": "too late" }).to_string();
        let refused = old.send(&Request::post("/v1/notes", note).token(token));
        refused.problem(503);
        assert!(refused.header("retry-after").is_some(), "{refused:?}");
        for arguments in [&["serve", "--data", "team"][..], moving] {
            let refused = home.weir_server(arguments);
            assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", said(&refused));
            assert!(said(&refused).contains("was moved to the database"), "{}", said(&refused));
        }
    }

    #[test]
    fn a_team_is_moved_with_its_tokens_and_its_old_folder_is_closed() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("moved-{}", std::process::id());
        let team = |arguments: &[&str], place: &[&str]| {
            home.team(&[arguments, &["--tenant", &tenant], place].concat()).trim().to_owned()
        };
        let (here, there) = (["--data", "team"], ["--database", database.as_str()]);
        let ana = team(&["init", "ana", "--max-bytes", "5000000"], &here);
        let ben = team(&["invite", "ben", "--scope", "read"], &here);
        let eve = team(&["invite", "eve"], &here);
        team(&["revoke", "--user", "eve"], &here);
        let old = Server::start_team(&home, &["--data", "team"]);
        keep(&old.authority(), &ana, "The pool has ten connections.").unwrap();
        let gone = keep(&old.authority(), &ana, "ephemeral").unwrap();
        let forget = Request::get(&format!("/v1/entries/{gone}?project={PROJECT}")).method("DELETE").token(&ana);
        assert_eq!(old.send(&forget).status, 200);
        let before = (download(&old, &ben), usage(&old, &ana));
        let limit = format!("weir_tenant_bytes_limit{{tenant=\"{tenant}\"}} 5000000");
        assert!(before.1.contains(&limit), "{:?}", before.1);

        let moving = ["migrate", "--data", "team", "--database", &database];
        let what = "1 tenant with 3 tokens, 3 records in 1 project (1 erased), 1 text";
        let would = home.team(&[&moving[..], &["--dry-run"]].concat());
        assert!(would.contains(&format!("would move {what}")), "{would}");
        let moved = home.team(&moving);
        assert!(moved.contains(&format!("moved {what}")) && moved.contains("the texts stay in"), "{moved}");
        assert_closed(&home, &old, &ana, &moving);
        assert_eq!(download(&old, &ben), before.0, "reading goes on");
        drop(old);

        let serving = ["--data", "new", "--database", &database, "--texts", "team/texts"];
        let new = Server::start_team(&home, &serving);
        assert_eq!((download(&new, &ben), usage(&new, &ana)), before);
        let search = json!({ "project": PROJECT, "query": "connections" }).to_string();
        let found = new.send(&Request::post("/v1/search", search).token(&ben)).json();
        assert_eq!(found["hits"][0]["excerpt"], "The pool has ten connections.", "{found}");
        assert!(keep(&new.authority(), &ana, "The pool has twelve connections.").is_some());
        assert_eq!(keep(&new.authority(), &ben, "may only read"), None);
        assert_eq!(new.send(&Request::get("/v1/me").token(&eve)).status, 401, "she stays out");
        assert!(team(&["list"], &there).contains("ben"));
        let fay = team(&["invite", "fay"], &there);
        assert_eq!(new.send(&Request::get("/v1/me").token(&fay)).json()["user"], "fay");
    }

    #[test]
    fn an_operator_sees_figures_of_all_tenants_on_an_address_of_their_own() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("figures-{}", std::process::id());
        let token = home.team(&["init", "ana", "--tenant", &tenant, "--database", &database]);
        let serving = ["--data", "team", "--database", &database, "--texts", "texts", "--database-connections", "4"];
        let server = Server::start_team(&home, &[&serving[..], &["--operator-metrics", "127.0.0.1:0"]].concat());
        keep(&server.authority(), token.trim(), "The pool has ten connections.").unwrap();
        assert!(server.next_line().contains("weir-server invite"));
        let line = server.next_line();
        let address = line.strip_prefix("weir: figures for the operator on http://").unwrap();
        let authority = address.strip_suffix("/metrics").unwrap();
        let page = |path: &str| {
            let mut stream = TcpStream::connect(authority).unwrap();
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            stream.write_all(&Request::get(path).bytes(authority)).unwrap();
            Response::read(&mut stream)
        };
        let figures = page("/metrics").text();
        for line in [
            "weir_database_connections_limit 4",
            "weir_database_calls_waiting 0",
            "weir_http_requests_total{route=\"/v1/notes\",status=\"201\"} 1",
            "weir_http_request_seconds_bucket{route=\"/v1/notes\",le=\"+Inf\"} 1",
            "weir_http_request_seconds_count{route=\"/v1/notes\"} 1",
            "# TYPE weir_tenant_recent_requests gauge",
        ] {
            assert!(figures.lines().any(|found| found == line), "{line}\n{figures}");
        }
        // Nothing else is there, and the figures are nowhere else.
        assert_eq!(page("/v1/me").status, 404);
        assert_eq!(server.send(&Request::get("/metrics")).status, 401);
    }

    #[test]
    fn a_member_is_erased_and_old_rows_of_the_audit_are_deleted() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("erased-{}", std::process::id());
        let place = ["--tenant", &tenant, "--database", &database];
        let team = |arguments: &[&str]| home.team(&[arguments, &place].concat()).trim().to_owned();
        let (ana, ben) = (team(&["init", "ana"]), team(&["invite", "ben"]));
        let serving = ["--data", "team", "--database", &database, "--texts", "texts", "--database-connections", "4"];
        let server = Server::start_team(&home, &serving);
        keep(&server.authority(), &ana, "The pool has ten connections.").unwrap();
        keep(&server.authority(), &ben, "The vault is behind the painting.").unwrap();
        let said = team(&["erase", "ben", "--texts", "texts", "--confirm", "ben"]);
        assert!(said.starts_with("erased `ben`: removed 1 entry and 1 token; the audit calls them erased-"), "{said}");
        assert_eq!(server.send(&Request::get("/v1/me").token(&ben)).status, 401);
        let left = download(&server, &ana).to_string();
        assert!(left.contains("ten connections") && !left.contains("ben") && !left.contains("vault"), "{left}");
        assert!(!team(&["list"]).contains("ben"));
        // Everything is younger than that.
        let kept = home.team(&["audit", "--keep", "1d", "--database", &database]);
        assert!(kept.starts_with("deleted 0 rows of the audit from before "), "{kept}");
    }

    /// Keeps a note, and returns its id if the server says that it is kept.
    fn keep(authority: &str, token: &str, text: &str) -> Option<String> {
        let mut stream = TcpStream::connect(authority).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        let body = json!({ "project": PROJECT, "text": text });
        stream.write_all(&Request::post("/v1/notes", body.to_string()).token(token).bytes(authority)).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let kept: Value = serde_json::from_str(body).ok().filter(|_| head.starts_with("HTTP/1.1 201"))?;
        Some(kept["id"].as_str()?.to_owned())
    }

    fn write(authority: &str, token: &str, kept: &Sender<String>) {
        for number in 0..NOTES {
            let Some(id) = keep(authority, token, &format!("note {number}")) else { return };
            kept.send(id).unwrap();
        }
    }

    #[test]
    fn no_acknowledged_note_is_lost_when_one_of_two_servers_is_killed() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("killed-{}", std::process::id());
        let init = home.team(&["init", "ana", "--tenant", &tenant, "--database", &database]);
        let token = init.trim();
        let start = |data: &str| {
            let options = ["--data", data, "--database", &database, "--texts", "texts"];
            Server::start_team(&home, &options)
        };
        let (mut one, two) = (start("one"), start("two"));
        let (sender, kept) = channel();
        let mut acknowledged = BTreeSet::new();
        let authorities = [one.authority(), two.authority()];
        std::thread::scope(|threads| {
            for authority in authorities.iter().cycle().take(4) {
                let sender = sender.clone();
                threads.spawn(move || write(authority, token, &sender));
            }
            drop(sender);
            acknowledged.extend(kept.iter().take(NOTES / 2));
            one.kill();
            acknowledged.extend(kept.iter());
        });
        assert!(acknowledged.len() >= 2 * NOTES, "the other server goes on: {}", acknowledged.len());
        let (mut after, mut found) = (0, BTreeSet::new());
        loop {
            let path = format!("/v1/sync/records?project={PROJECT}&after={after}&limit=500");
            let batch = two.send(&Request::get(&path).token(token)).json();
            let records = batch["records"].as_array().unwrap().iter();
            found.extend(records.map(|one| one["record"]["id"].as_str().unwrap().to_owned()));
            after = batch["next"].as_u64().unwrap();
            if batch["more"] == false {
                break;
            }
        }
        assert_eq!(acknowledged.difference(&found).count(), 0, "{} of {}", acknowledged.len(), found.len());
    }

    #[test]
    fn only_the_user_of_the_server_can_read_its_texts_whatever_the_umask_is() {
        use std::os::unix::fs::PermissionsExt as _;
        let (database, home) = (database(), Home::new());
        let tenant = format!("modes-{}", std::process::id());
        let init = home.team(&["init", "ana", "--tenant", &tenant, "--database", &database]);
        let options = ["--data", "team", "--database", &database, "--texts", "texts", "--copy-index", "60"];
        let mut server = Server::start_open_to_all(&home, &options);
        keep(&server.authority(), init.trim(), "The pool has ten connections.").unwrap();
        server.terminate();
        assert!(server.wait_for_end().success());
        let mut open = vec![home.project().join("texts"), home.project().join("team")];
        let mut files = 0;
        while let Some(path) = open.pop() {
            let about = std::fs::metadata(&path).unwrap();
            let mode = about.permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{} has {mode:o}", path.display());
            files += usize::from(about.is_file());
            if about.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|one| one.unwrap().path()));
            }
        }
        assert!(files > 0);
    }

    #[test]
    fn a_semantic_server_finds_what_is_said_in_other_words() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("semantic-{}", std::process::id());
        let init = home.team(&["init", "ana", "--tenant", &tenant, "--database", &database]);
        let token = init.trim();
        let search = |options: &[&str]| {
            let place = ["--data", "team", "--database", &database, "--texts", "texts"];
            let server = Server::start_team(&home, &[&place[..], options].concat());
            keep(&server.authority(), token, "delete folders recursively").unwrap();
            let query = json!({ "project": PROJECT, "query": "remove a directory and everything inside" });
            let found = server.send(&Request::post("/v1/search", query.to_string()).token(token)).json();
            let hits = found["hits"].as_array().unwrap().len();
            (hits, found["by_meaning"].clone(), server.send(&Request::get("/ready")).json()["index"].clone())
        };
        assert_eq!(search(&[]), (0, json!(false), json!("empty")));
        assert_eq!(search(&["--semantic"]), (2, json!(true), json!("rebuilt")), "both notes have vectors now");
        assert_eq!(search(&["--semantic"]), (3, json!(true), json!("found")));
    }

    #[test]
    fn a_new_server_begins_with_the_copy_that_another_left_at_its_end() {
        let (database, home) = (database(), Home::new());
        let tenant = format!("copied-{}", std::process::id());
        let init = home.team(&["init", "ana", "--tenant", &tenant, "--database", &database]);
        let token = init.trim();
        let start = |data: &str| {
            let options = ["--data", data, "--database", &database, "--texts", "texts"];
            Server::start_team(&home, &[&options[..], &["--copy-index", "60"]].concat())
        };
        let check = |server: &Server, index: &str| {
            assert_eq!(server.send(&Request::get("/ready")).json()["index"], index);
            let page = || server.send(&Request::get("/metrics").token(token)).text();
            let started = format!("weir_index_started{{how=\"{index}\"}} 1");
            assert!(page().lines().any(|found| found == started), "{started}");
            while !page().lines().any(|found| found == "weir_index_lag_records 0") {
                std::thread::yield_now();
            }
            let search = json!({ "project": PROJECT, "query": "connections" }).to_string();
            let found = server.send(&Request::post("/v1/search", search).token(token)).json();
            assert_eq!(found["hits"][0]["excerpt"], "The pool has ten connections.", "{found}");
        };
        let mut one = start("one");
        assert_eq!(one.send(&Request::get("/ready")).json()["index"], "empty");
        keep(&one.authority(), token, "The pool has ten connections.").unwrap();
        let search = json!({ "project": PROJECT, "query": "connections" }).to_string();
        assert_eq!(one.send(&Request::post("/v1/search", search).token(token)).status, 200);
        one.terminate();
        assert!(one.wait_for_end().success());
        check(&start("two"), "restored");
        check(&start("one"), "found");

        let copies = home.project().join("texts").join("index-copies");
        let within = |folder: std::path::PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        // Below the name of each server is a folder for each bucket.
        for file in within(copies).flat_map(within).flat_map(within) {
            std::fs::write(file, "damaged").unwrap();
        }
        let three = start("three");
        let reason = "cannot restore the index from a copy: the stored data is damaged (its manifest cannot be read)";
        assert!(three.next_line().contains("weir-server invite"));
        // Other tests may have tenants in this database, in other buckets.
        let told = three.next_line();
        assert!(told.starts_with(&format!("weir: {reason}; ")) && told.ends_with(" of 64 buckets"), "{told}");
        check(&three, "rebuilt");
    }
}

mod built {
    use serde_json::{Value, json};

    use super::{Home, said};
    use crate::serve::support::{Request, Response, Server};

    const PROJECT: &str = "github.com/acme/api";

    /// Runs a command on the data of the team.
    fn team(home: &Home, arguments: &[&str]) -> String {
        home.team(&[arguments, &["--data", "team"]].concat()).trim().to_owned()
    }

    fn post(server: &Server, path: &str, token: &str, body: &Value) -> Response {
        server.send(&Request::post(path, body.to_string()).token(token))
    }

    fn finds(server: &Server, token: &str) -> Response {
        post(server, "/v1/search", token, &json!({ "project": PROJECT, "query": "connections" }))
    }

    #[test]
    fn a_note_of_one_user_reaches_another_until_their_token_ends() {
        let home = Home::new();
        let ana = team(&home, &["init", "ana"]);
        let mut server = Server::start_team(&home, &["--data", "team"]);
        let note = json!({ "project": PROJECT, "text": "The pool has ten connections.", "kind": "decision" });
        assert_eq!(post(&server, "/v1/notes", &ana, &note).status, 201);
        let ben = team(&home, &["invite", "ben", "--scope", "read", "--valid-for", "8h"]);
        let hit = finds(&server, &ben).json()["hits"][0].clone();
        assert_eq!((&hit["author"]["user"], &hit["excerpt"]), (&json!("ana"), &note["text"]), "{hit}");
        assert_eq!(post(&server, "/v1/notes", &ben, &note).status, 403);
        let refused = post(&server, "/v1/tools/ctx_execute", &ben, &json!({}));
        assert_eq!(refused.status, 501, "{}", refused.text());
        let problem = refused.json();
        assert!(problem["hint"].as_str().unwrap().contains("weir mcp"), "{problem}");
        let newer = team(&home, &["rotate", &ben]);
        assert_eq!((finds(&server, &ben).status, finds(&server, &newer).status), (401, 200));
        assert!(team(&home, &["list"]).contains("revoked"));
        team(&home, &["revoke", "--user", "ben"]);
        assert_eq!(finds(&server, &newer).status, 401);
        server.terminate();
        assert!(server.wait_for_end().success());
    }

    #[test]
    fn what_a_limit_refuses_has_an_id_and_is_counted_and_logged() {
        let home = Home::new();
        let ana = team(&home, &["init", "ana"]);
        let options = ["--data", "team", "--max-body", "1", "--log", "text"];
        let server = Server::start_team(&home, &options);
        let long = json!({ "project": PROJECT, "text": "x".repeat(2 << 20) });
        let refused =
            server.send(&Request::post("/v1/notes", long.to_string()).token(&ana).header("X-Request-Id", "a-1"));
        let problem = refused.problem(413);
        assert_eq!((refused.header("x-request-id"), &problem["request_id"]), (Some("a-1"), &json!("a-1")), "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains("fewer records"), "{problem}");
        let figures = server.send(&Request::get("/metrics").token(&ana)).text();
        assert!(figures.contains("weir_http_requests_total{route=\"/v1/notes\",status=\"413\"} 1\n"), "{figures}");
        let lines: Vec<String> = std::iter::repeat_with(|| server.next_line()).take(3).collect();
        assert!(lines.iter().any(|line| line.contains("413") && line.contains("a-1")), "{lines:?}");
    }

    #[test]
    fn a_note_that_may_still_be_kept_is_not_called_cancelled() {
        let home = Home::new();
        let ana = team(&home, &["init", "ana"]);
        let server = Server::start_team(&home, &["--data", "team", "--request-timeout", "4"]);
        let lock = write_lock(&home);
        let late = post(&server, "/v1/notes", &ana, &json!({ "project": PROJECT, "text": "kept after all" }));
        drop(lock);
        let problem = late.problem(503);
        assert!(problem["detail"].as_str().unwrap().contains("may still be carried out"), "{problem}");
        assert!(
            problem["hint"].as_str().unwrap().contains("before you repeat another note, check if it was stored"),
            "{problem}"
        );
    }

    /// Keeps the server from writing until the returned connection is dropped.
    #[expect(clippy::disallowed_methods, reason = "holds the database as another program would")]
    fn write_lock(home: &Home) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(home.project().join("team").join("records.db")).unwrap();
        connection.execute_batch("PRAGMA busy_timeout = 30000; BEGIN IMMEDIATE").unwrap();
        connection
    }

    #[test]
    fn a_dry_run_of_a_move_says_what_there_is_and_changes_nothing() {
        let home = Home::new();
        let ana = team(&home, &["init", "ana"]);
        let server = Server::start_team(&home, &["--data", "team"]);
        let note = json!({ "project": PROJECT, "text": "The pool has ten connections." });
        assert_eq!(post(&server, "/v1/notes", &ana, &note).status, 201);
        let said = team(&home, &["migrate", "--dry-run"]);
        assert!(said.contains("would move 1 tenant with 1 token, 1 record in 1 project (0 erased), 1 text"), "{said}");
        team(&home, &["init", "eve", "--tenant", "old"]);
        team(&home, &["delete", "old", "--confirm", "old"]);
        let said = team(&home, &["migrate", "--dry-run"]);
        assert!(said.contains("would move 1 tenant with 1 token"), "{said}");
        assert!(said.contains("3 rows of the audit of 1 deleted tenant are not moved, and stay in "), "{said}");
        assert_eq!(team(&home, &["migrate", "--cancel"]), "no move has begun");
        assert_eq!(post(&server, "/v1/notes", &ana, &note).status, 201);
    }

    #[test]
    fn a_tenant_is_deleted_only_by_its_name_twice() {
        let home = Home::new();
        let ana = team(&home, &["init", "ana"]);
        let server = Server::start_team(&home, &["--data", "team"]);
        let note = json!({ "project": PROJECT, "text": "The pool has ten connections." });
        assert_eq!(post(&server, "/v1/notes", &ana, &note).status, 201);
        assert_eq!(finds(&server, &ana).status, 200);
        let refused = home.weir_server(&["delete", "team", "--data", "team"]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(team(&home, &["delete", "team", "--confirm", "team"]).contains("1 record and 1 token"));
        assert_eq!(finds(&server, &ana).status, 401);
        let gone = home.weir_server(&["delete", "team", "--confirm", "team", "--data", "team"]);
        assert_eq!(gone.status.code(), Some(3), "{}", said(&gone));
        let again = team(&home, &["init", "ana"]);
        assert_eq!(finds(&server, &again).json()["hits"], json!([]));
    }

    /// Returns what the database of the team answers to a query with one column.
    #[expect(clippy::disallowed_methods, reason = "looks at the file as another program would")]
    fn rows(home: &Home, sql: &str) -> Vec<String> {
        let connection = rusqlite::Connection::open(home.project().join("team/records.db")).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn a_member_is_erased_only_by_their_name_twice() {
        let home = Home::new();
        let (ana, ben) = (team(&home, &["init", "ana"]), team(&home, &["invite", "ben"]));
        let server = Server::start_team(&home, &["--data", "team"]);
        let (own, theirs) = ("The pool has ten connections.", "The vault is behind the painting.");
        let note = |token: &str, text: &str, audience: &str| {
            let body = json!({ "project": PROJECT, "text": text, "audience": audience });
            post(&server, "/v1/notes", token, &body).json()["id"].as_str().unwrap().to_owned()
        };
        let confirmed = note(&ana, own, "team");
        note(&ben, theirs, "team");
        note(&ben, "A diary.", "author");
        let confirm = format!("/v1/entries/{confirmed}/confirm");
        assert_eq!(post(&server, &confirm, &ben, &json!({ "project": PROJECT })).status, 200);
        let refused = home.weir_server(&["erase", "ben", "--data", "team"]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        let done = team(&home, &["erase", "ben", "--confirm", "ben"]);
        assert!(done.starts_with("erased `ben`: removed 2 entries and 1 token; "), "{done}");
        assert!(done.contains("\n1 record of what they superseded, confirmed, removed or granted still ha"), "{done}");
        let name = done.split("the audit calls them ").nth(1).unwrap().lines().next().unwrap();
        let search = json!({ "project": PROJECT, "query": "vault painting diary connections" });
        let hits = post(&server, "/v1/search", &ana, &search).json()["hits"].clone();
        assert_eq!((hits.as_array().unwrap().len(), &hits[0]["excerpt"]), (1, &json!(own)), "{hits}");
        assert_eq!(finds(&server, &ben).status, 401);
        let named = "SELECT actor FROM audit WHERE actor = 'ben' OR target LIKE '%ben%'
            UNION ALL SELECT user FROM tokens WHERE user = 'ben' UNION ALL SELECT user FROM hosts WHERE user = 'ben'";
        assert_eq!(rows(&home, named), [""; 0]);
        let acted = rows(&home, "SELECT DISTINCT actor FROM audit ORDER BY actor");
        assert_eq!(acted, ["ana", name, "operator"]);
        let texts = std::fs::read_dir(home.project().join("team/texts")).unwrap().count();
        assert!(texts > 0, "that of ana stays");
        let again = home.weir_server(&["erase", "eve", "--confirm", "eve", "--data", "team"]);
        assert_eq!(again.status.code(), Some(3), "{}", said(&again));
    }

    #[test]
    fn old_rows_of_the_audit_are_deleted_and_the_audit_says_how_many() {
        let home = Home::new();
        team(&home, &["init", "ana"]);
        for user in ["ben", "eve", "fay"] {
            team(&home, &["invite", user]);
        }
        #[expect(clippy::disallowed_methods, reason = "makes rows old, which takes a long time otherwise")]
        let connection = rusqlite::Connection::open(home.project().join("team/records.db")).unwrap();
        let aged = "UPDATE audit SET at = at - 91 * 86400000 WHERE id <= 3";
        assert_eq!(connection.execute(aged, []).unwrap(), 3);
        let said = team(&home, &["audit", "--keep", "90d"]);
        assert!(said.starts_with("deleted 3 rows of the audit from before "), "{said}");
        let left =
            rows(&home, "SELECT action || ' ' || CASE action WHEN 'expire audit' THEN target ELSE '' END FROM audit");
        assert_eq!(left, ["add token ", "add token ", "expire audit 3 rows of the audit"]);
        assert!(team(&home, &["audit", "--keep", "90d"]).starts_with("deleted 0 rows"));
        let refused = home.weir_server(&["audit", "--keep", "soon", "--data", "team"]);
        assert_eq!(refused.status.code(), Some(2), "{}", super::said(&refused));
    }

    #[test]
    fn a_prepared_folder_is_left_as_it_is_and_one_that_is_not_ours_is_refused() {
        let home = Home::new();
        let init = ["init", "eve", "--data", "team"];
        let first = home.weir_server(&init);
        assert!(said(&first).contains("prepared the database: 0001_records"), "{}", said(&first));
        let before = team(&home, &["list"]);
        let again = home.team(&init);
        assert!(again.starts_with("already prepared, schema "), "{again}");
        assert!(again.contains("`team` exists, and nothing was changed"), "{again}");
        assert_eq!(team(&home, &["list"]), before);

        let path = home.project().join("team/records.db");
        for (sql, why) in [
            ("INSERT INTO migrations VALUES (99, '0099_later', '', ''); PRAGMA user_version = 100", "`0099_later`"),
            ("DROP TABLE migrations; PRAGMA user_version = 0", "it has tables of another program"),
        ] {
            #[expect(clippy::disallowed_methods, reason = "plays the part of another program")]
            rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
            for arguments in [&init[..], &["serve", "--data", "team"]] {
                let refused = home.weir_server(arguments);
                assert_eq!(refused.status.code(), Some(4), "{arguments:?}: {}", said(&refused));
                assert!(said(&refused).contains(why), "{arguments:?}: {}", said(&refused));
            }
        }
    }

    #[test]
    fn a_folder_without_a_team_is_refused_and_so_is_a_token_of_nobody() {
        let home = Home::new();
        let refused = home.weir_server(&["serve", "--data", "team"]);
        assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
        assert!(said(&refused).contains("weir-server init"), "{}", said(&refused));
        assert!(!home.project().join("team").exists(), "nothing was created");
        team(&home, &["init", "ana"]);
        assert!(team(&home, &["init", "ana", "--max-records", "5"]).contains("5 records"));
        let both = team(&home, &["init", "ana", "--max-records", "5", "--max-bytes", "5000000"]);
        assert!(both.contains("5 records and 5000000 bytes"), "{both}");
        let unknown = home.weir_server(&["revoke", "0011223344556677", "--data", "team"]);
        assert_eq!(unknown.status.code(), Some(3), "{}", said(&unknown));
        let stranger = home.weir_server(&["invite", "eve", "--tenant", "other", "--data", "team"]);
        assert_eq!(stranger.status.code(), Some(3), "{}", said(&stranger));
        assert!(said(&stranger).contains("there is no such tenant"), "{}", said(&stranger));
    }
}

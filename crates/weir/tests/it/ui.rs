//! `weir ui` as a browser uses it: a real server, real requests, and what nobody else can do to it.

mod figures;
mod forms;
mod hostile;
mod support;

use crate::serve::support::Request;
use crate::support::{Home, TIMEOUT, said, wait_until, write};
use support::{Pages, between, furnished};

#[test]
fn every_page_shows_what_is_kept() {
    let (home, output, note) = furnished();
    let pages = Pages::open(&home);
    let project = pages.project();
    let check = |path: &str, texts: &[&str]| {
        for path in [path.to_owned(), format!("{project}{path}")] {
            let page = pages.page(&path);
            for text in texts {
                assert!(page.contains(text), "{path} has no {text}:\n{page}");
            }
        }
    };
    check("/", &["<h1>Today</h1>", "tokens of 1 output", "seq 1 30000", "Make the pool of connections smaller"]);
    check("/?days=30", &["30 days to", "Net per day"]);
    check("/sessions", &["<h1>Sessions</h1>", "Claude Code", "Make the pool of connections smaller"]);
    check("/sessions/claude-code~s", &["Timeline", "Guide", "Reflect", "Where this session stood", "seq 1 30000"]);
    check("/search?q=connections", &["<mark>connections</mark>", "decision, revision 2", "superseded"]);
    check("/search?q=connections", &["value=\"note\">Notes ", "value=\"page\">Pages 0<"]);
    check("/search?q=port&kind=note&from=model", &["Tests need", "not confirmed"]);
    check(&format!("/entries/{output}"), &["Digest", "id=\"L1\"", "lines 49", "30,000"]);
    check(&format!("/entries/{output}?lines=20000-20002"), &["id=\"L20001\"", "lines 1–19,999"]);
    check(&format!("/entries/{note}"), &["Tests need port 7071", "model, not confirmed"]);
    check("/notes", &["The pool has 16 connections", "revision 2", "Written by the model, not confirmed"]);
    check("/projects", &["<h1>Projects</h1>", ">project</a>"]);
    check("/health", &["<h1>"]);
    check("/settings", &["by_product_tokens", "Nothing is set.", "config.toml"]);
}

#[test]
fn settings_say_whether_the_users_prices_are_used() {
    let home = Home::new();
    let prices = home.at(".config/weir/prices.toml");
    write(&prices, "date = \"2026-01-01\"\n");
    let pages = Pages::open(&home);
    let page = pages.page("/settings");
    assert!(page.contains("<div class=\"value\">in use<"), "{page}");
    write(&prices, "date = 3\n");
    let page = pages.page("/settings");
    assert!(page.contains("cannot use the prices in "), "{page}");
}

#[test]
fn a_doubtful_note_says_why() {
    let (home, ..) = furnished();
    home.write("pool.rs", "32");
    let pages = Pages::open(&home);
    let page = pages.page(&format!("{}/notes", pages.project()));
    for text in ["May no longer be true", "pool.rs has changed since", "Still true"] {
        assert!(page.contains(text), "no {text}:\n{page}");
    }
}

#[test]
fn a_new_note_moves_no_other_to_the_next_page() {
    let home = Home::new();
    for number in 0..26 {
        home.note(&[&format!("note number {number:02}")]);
    }
    let pages = Pages::open(&home);
    let first = pages.page(&format!("{}/notes?show=current", pages.project()));
    home.note(&["a newer one"]);
    let next = between(&first, "rel=\"next\" href=\"", "\"").unwrap().replace("&amp;", "&");
    let second = pages.page(&next);
    assert!(second.contains("note number 00") && !second.contains("note number 01"), "{next}: {second}");
}

#[test]
fn what_takes_long_is_made_in_the_background() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let project = pages.project();
    for (path, text) in [("/window", "Cost by window size"), ("/health", "checks pass")] {
        let has_come = || {
            let page = pages.page(&format!("{project}{path}"));
            page.contains(text) || page.contains("need attention") || page.contains("needs attention")
        };
        assert!(wait_until(TIMEOUT, has_come), "{path} never came");
    }
    let has_hooks = || {
        let page = pages.page(&format!("{project}/health"));
        ["half within", "99 of 100 within", ">held back<"].iter().all(|text| page.contains(text))
    };
    assert!(wait_until(TIMEOUT, has_hooks), "the hooks and outputs of the day never came");
    let window = pages.page("/window");
    for text in ["How sure is this?", "1 long session of Claude Code", "Not known"] {
        assert!(window.contains(text), "no {text}:\n{window}");
    }
    let today = pages.page("/");
    assert!(today.contains(" spent."), "the transcript has a price: {today}");
}

#[test]
fn before_anything_was_recorded_it_says_what_to_do() {
    let home = Home::new();
    let pages = Pages::open(&home);
    let page = pages.page("/");
    assert!(page.contains("Connect a client") && page.contains("weir setup"), "{page}");
    assert!(!home.data().join("projects").exists(), "looking makes no store");
    for path in ["/sessions", "/search", "/notes", "/window", "/projects", "/health", "/settings"] {
        pages.page(path);
    }
    assert!(!home.data().join("projects").exists(), "looking makes no store");
}

#[test]
fn the_link_works_once_and_nobody_else_gets_in() {
    let (home, output, _) = furnished();
    let pages = Pages::open(&home);
    let again = pages.send(&Request::get(&pages.link));
    assert_eq!((again.status, again.header("set-cookie")), (403, None));
    assert!(again.text().contains("This link does not work") && again.text().contains("weir ui"), "{}", again.text());
    let back = pages.send(&pages.request(&pages.link));
    assert_eq!(back.status, 303, "the browser that opened it may come back to it");
    assert!(back.header("location").is_some_and(|address| address.starts_with("/in/")), "{back:?}");
    let entry = format!("/entries/{output}/raw");
    for path in ["/", "/notes", "/sessions", "/search?q=pool", "/settings", "/nothing", "/open/", &entry] {
        let refused = pages.send(&Request::get(path));
        assert_eq!(refused.status, 403, "{path}");
        let text = refused.text();
        assert!(text.contains("weir ui") && !text.contains("pool") && !text.contains("project"), "{path}: {text}");
    }
    let wrong = format!("{}0", pages.cookie);
    assert_eq!(pages.send(&Request::get("/").header("Cookie", &wrong)).status, 403);
    assert_eq!(pages.send(&pages.request("/")).status, 200);
}

#[test]
fn a_head_does_not_use_up_the_link() {
    let home = Home::new();
    let pages = Pages::start(&home);
    assert_eq!(pages.send(&Request::get(&pages.link).method("HEAD")).status, 403);
    assert_eq!(pages.send(&Request::get(&pages.link)).status, 200);
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let port = pages.authority().rsplit(':').next().unwrap().to_owned();
    for host in ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1"] {
        assert_eq!(pages.send(&pages.request("/").header("Host", host)).status, 421, "{host}");
    }
    assert_eq!(pages.send(&pages.request("/").header("Host", &format!("localhost:{port}"))).status, 200);
    for origin in ["null", "https://evil.example", "http://127.0.0.1:1"] {
        assert_eq!(pages.send(&pages.request("/").header("Origin", origin)).status, 403, "{origin}");
    }
}

#[test]
fn the_link_works_on_every_address_of_this_machine() {
    let home = Home::new();
    for address in ["127.0.0.1:0", "127.0.0.2:0"] {
        let pages = Pages::start_with(&home, &["--bind", address]);
        let welcome = pages.send(&Request::get(&pages.link));
        assert_eq!(welcome.status, 200, "{address}: {}", welcome.text());
    }
}

#[test]
fn every_answer_has_its_headers() {
    let (home, output, _) = furnished();
    let pages = Pages::open(&home);
    let refused = pages.send(&Request::get("/"));
    let missing = pages.get("/nothing");
    let raw = pages.get(&format!("/entries/{output}/raw"));
    for (name, response) in [("a page", pages.get("/notes")), ("refused", refused), ("missing", missing)] {
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{name}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{name}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{name}");
        assert_eq!(response.header("referrer-policy"), Some("same-origin"), "{name}");
        assert_eq!(response.header("cache-control"), Some("no-store"), "{name}");
        assert!(!response.text().contains(" style=\"") && !response.text().contains("<style"), "{name}");
    }
    assert_eq!(raw.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(raw.header("content-security-policy").is_some_and(|policy| policy.contains("sandbox")), "{raw:?}");
    assert!(raw.text().starts_with("1\n2\n3\n") && raw.text().ends_with("\n30000\n"));
    let style = between(&pages.page("/"), "rel=\"stylesheet\" href=\"", "\"").unwrap();
    let style = pages.send(&Request::get(&style));
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
}

#[test]
fn what_is_not_there_is_a_page_that_says_so() {
    let (home, ..) = furnished();
    let pages = Pages::open(&home);
    let project = pages.project();
    for path in [
        "/entries/0000000000",
        "/entries/nonsense",
        "/sessions/claude-code~none",
        "/sessions/none",
        "/nothing",
        "/in/none-0123456789abcdef",
        &format!("{project}/entries/0000000000"),
        "/entries/..%2f..%2fetc%2fpasswd",
    ] {
        let response = pages.get(path);
        assert_eq!(response.status, 404, "{path}: {}", response.text());
        assert!(response.text().contains("Not found"), "{path}: {}", response.text());
    }
    let wrong = pages.get(&format!("{project}/entries/0000000000?lines=x"));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
    let menu = wrong.text();
    assert!(menu.contains(&format!("href=\"{project}/notes\"")), "the project is still chosen: {menu}");
    let menu = pages.get("/nothing").text();
    assert!(menu.contains(&format!("href=\"{project}\"")) && !menu.contains("No project has a store yet"), "{menu}");
}

#[test]
fn a_store_that_cannot_be_read_closes_no_other_page() {
    let (home, ..) = furnished();
    let stores = || -> Vec<_> {
        let folders = std::fs::read_dir(home.data().join("projects")).unwrap();
        folders.map(|folder| folder.unwrap().path()).collect()
    };
    let known = stores();
    let other = home.at("other");
    std::fs::create_dir(&other).unwrap();
    let noted = home.weir_in(&other, &["note", "Elsewhere"]);
    assert!(noted.status.success(), "{}", said(&noted));
    let broken = stores().into_iter().find(|store| !known.contains(store)).unwrap();
    for name in ["log.db-wal", "log.db-shm"] {
        let _ = std::fs::remove_file(broken.join(name));
    }
    std::fs::write(broken.join("log.db"), "garbage ".repeat(600)).unwrap();
    let pages = Pages::open(&home);
    for (path, text) in [
        ("/", "seq 1 30000"),
        ("/sessions", "Make the pool of connections smaller"),
        ("/notes", "The pool has 16 connections"),
        ("/search?q=connections", "<mark>connections</mark>"),
        ("/projects", "the store cannot be read"),
    ] {
        let page = pages.page(path);
        assert!(page.contains(text) && page.contains("cannot be read"), "{path}:\n{page}");
    }
    assert!(pages.page("/sessions/claude-code~s").contains("Timeline"));
    let key = broken.file_name().unwrap().to_str().unwrap();
    let closed = pages.get(&format!("/in/{key}/notes"));
    assert_eq!(closed.status, 503, "{}", closed.text());
    assert!(closed.text().contains(">All projects</a>"), "{}", closed.text());
}

#[test]
fn pages_are_for_this_machine_only() {
    let home = Home::new();
    let output = home.weir(&["ui", "--bind", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("the pages are for this machine only"), "{}", said(&output));
    let output = home.weir(&["ui", "--project", "elsewhere"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
}

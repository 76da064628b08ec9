//! Tests what listeners of a project are told.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::time::Duration;

use weir_records::TokenScope;
use weir_team::ServiceOptions;

use super::support::{API, TestServer, World, encoded, options};

/// How long nothing has to come before a test takes it that nothing comes.
const SILENCE: Duration = Duration::from_millis(500);

/// Somebody who listens to a project.
struct Listener(BufReader<TcpStream>);

impl Listener {
    /// Begins to listen, and returns the status of the answer too.
    fn new(server: &TestServer, token: &str, after: u64) -> (Self, String) {
        let path = format!("/v1/sync/news?project={}&after={after}", encoded(API));
        let mut listener = Self(BufReader::new(server.open(&path, token)));
        let status = listener.line().unwrap();
        while listener.line().is_some_and(|line| !line.is_empty()) {}
        (listener, status)
    }

    /// Returns the next line, or `None` at the end or if there is none in time.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|read| *read > 0).map(|_| line.trim_end().to_owned())
    }

    fn waits_for_news(&mut self) -> bool {
        std::iter::from_fn(|| self.line()).any(|line| line == "event: news")
    }

    fn hears_nothing(&mut self) -> bool {
        let usual = self.0.get_ref().read_timeout().unwrap();
        self.0.get_ref().set_read_timeout(Some(SILENCE)).unwrap();
        let heard = std::iter::from_fn(|| self.line()).any(|line| line == "event: news");
        self.0.get_ref().set_read_timeout(usual).unwrap();
        !heard
    }
}

fn who_listens_hears_of_what_is_new_and_of_nothing_else(world: &World) {
    let server = world.server();
    let [ana, ben] = ["ana", "ben"].map(|user| server.token("acme", user, TokenScope::Write));
    let stranger = server.token("umbrella", "eve", TokenScope::Write);
    let (mut listener, status) = Listener::new(&server, &ben, 0);
    assert!(status.contains(" 200 "), "{status}");
    server.note(&ana, "another project", "The pool has ten connections.");
    server.note(&stranger, API, "The pool has ten connections.");
    assert!(listener.hears_nothing());
    for text in ["The pool has ten connections.", "The pool has twelve connections."] {
        server.note(&ana, API, text);
        assert!(listener.waits_for_news());
    }
    assert!(listener.hears_nothing());
}

fn who_listens_to_one_server_hears_what_another_one_takes(world: &World) {
    let walking =
        |name: &str| world.server_named(name, ServiceOptions { walk_every: Duration::from_millis(10), ..options() });
    let (one, other) = (walking("one"), walking("other"));
    let token = one.token("acme", "ana", TokenScope::Write);
    let (mut listener, _) = Listener::new(&one, &token, 0);
    other.note(&token, API, "The pool has ten connections.");
    assert!(listener.waits_for_news());
    assert!(listener.hears_nothing());
}

fn what_was_written_before_is_news_to_who_has_not_read_it(world: &World) {
    let server = world.server();
    let token = server.token("acme", "ana", TokenScope::Write);
    server.note(&token, API, "The pool has ten connections.");
    // A position beyond the head is of a log that was put back.
    for (after, is_news) in [(0, true), (1, false), (7, true)] {
        let (mut listener, _) = Listener::new(&server, &token, after);
        let is_told = if is_news { listener.waits_for_news() } else { !listener.hears_nothing() };
        assert_eq!(is_told, is_news, "after {after}");
    }
}

fn listeners_are_bounded_and_leave_room_for_other_requests(world: &World) {
    let mut options = options();
    options.limits.max_connections = 8;
    let server = world.server_named("one", options);
    let [ana, eve] =
        [("acme", "ana"), ("umbrella", "eve")].map(|(tenant, user)| server.token(tenant, user, TokenScope::Read));
    let listen = |token: &str| Listener::new(&server, token, 0);
    let of_acme = [listen(&ana), listen(&ana)];
    assert!(of_acme.iter().all(|(_, status)| status.contains(" 200 ")));
    assert!(listen(&ana).1.contains(" 503 "));
    assert!(listen(&eve).1.contains(" 200 "));
    server.get("/v1/me", &ana).ok(200);
}

fn only_members_listen(world: &World) {
    let server = world.server();
    let path = format!("/v1/sync/news?project={}", encoded(API));
    server.get(&path, "").problem(401);
    let token = server.token_with("acme", "ana", |token| weir_records::ApiToken {
        projects: Some(vec![weir_core::ProjectKey("github.com/acme/web".into())].into_iter().collect()),
        ..token
    });
    server.get(&path, &token).problem(403);
    for query in ["", "?project=", "?project=p&colour=red", "?project=p&after=x"] {
        server.get(&format!("/v1/sync/news{query}"), &token).problem(422);
    }
}

on_each_backend! {
    who_listens_hears_of_what_is_new_and_of_nothing_else,
    who_listens_to_one_server_hears_what_another_one_takes,
    what_was_written_before_is_news_to_who_has_not_read_it,
    listeners_are_bounded_and_leave_room_for_other_requests,
    only_members_listen,
}

//! Machines that sync while their server is killed again and again: every note must be on every machine exactly once.

use std::collections::BTreeSet;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::{PROJECT, Person};
use crate::serve::support::{Request, Server};
use crate::support::{Home, TIMEOUT, write};

/// How many notes each machine writes, with an exchange after each.
const NOTES: usize = 4;
/// How often the server is killed.
const KILLS: usize = 4;

/// An address that stays, before a server whose own changes. Without a server, connections are cut.
struct Relay {
    authority: String,
    target: Arc<Mutex<String>>,
}

impl Relay {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let target = Arc::new(Mutex::new(String::new()));
        let current = Arc::clone(&target);
        // The threads end with the test.
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let authority = current.lock().unwrap().clone();
                if let Ok(far) = TcpStream::connect(authority) {
                    pass(&near, &far);
                    pass(&far, &near);
                }
            }
        });
        Self { authority, target }
    }

    fn lead_to(&self, server: &Server) {
        *self.target.lock().unwrap() = server.authority();
    }
}

/// Passes on what comes from a connection until it ends.
fn pass(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        // A side that is gone ends it, and the other side sees that.
        let _ = std::io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    });
}

#[derive(Default)]
struct Figures {
    exchanges: usize,
    failed: usize,
}

/// Writes notes on a machine, with an exchange after each, and reports whether those succeeded.
fn work(person: &Person, machine: usize, ended: &Sender<bool>) {
    for number in 0..NOTES {
        person.note(&format!("Note {number} of machine {machine}."), &[]);
        ended.send(person.home.weir(&["sync"]).status.success()).unwrap();
    }
}

/// Kills the server each time that some exchanges have ended, while others are under way, and starts it again.
fn kill_again_and_again(
    ended: &Receiver<bool>,
    server: &mut Server,
    most: usize,
    mut restart: impl FnMut() -> Server,
) -> Figures {
    let mut figures = Figures::default();
    let between = (most / (KILLS + 1)).max(1);
    while let Ok(has_succeeded) = ended.recv_timeout(TIMEOUT) {
        figures.exchanges += 1;
        figures.failed += usize::from(!has_succeeded);
        if figures.exchanges.is_multiple_of(between) && figures.exchanges / between <= KILLS {
            server.kill();
            *server = restart();
        }
    }
    figures
}

fn log_of(server: &Server, token: &str) -> Vec<String> {
    let (mut after, mut ids) = (0, Vec::new());
    loop {
        let path = format!("/v1/sync/records?project={PROJECT}&after={after}&limit=500");
        let batch = server.send(&Request::get(&path).token(token)).json();
        let records = batch["records"].as_array().unwrap().iter();
        ids.extend(records.map(|one| one["record"]["id"].as_str().unwrap().to_owned()));
        after = batch["next"].as_u64().unwrap();
        if batch["more"] == false {
            return ids;
        }
    }
}

fn titles(person: &Person) -> Vec<String> {
    let notes = person.home.json(&["notes", "--all"]);
    let title = |note: &Value| note["title"].as_str().unwrap().to_owned();
    let mut titles: Vec<String> = notes["notes"].as_array().unwrap().iter().map(title).collect();
    titles.sort();
    titles
}

/// Lets machines sync with a server that is started with `options`, and whose team is found with `place`. Returns the
/// figures.
fn check(options: &[&str], place: &[&str]) -> String {
    let home = Home::new();
    let first = home.team(&[&["init", "user0"], place].concat());
    let relay = Relay::new();
    let reached_by = ["--allow-host", relay.authority.as_str()];
    let start = || {
        let server = Server::start_team(&home, &[&reached_by[..], options].concat());
        relay.lead_to(&server);
        server
    };
    let mut server = start();
    let people: Vec<Person> = (0..machine_count())
        .map(|machine| {
            let name = format!("user{machine}");
            let invite = || home.team(&[&["invite", &name], place].concat());
            let token = if machine == 0 { first.clone() } else { invite() };
            let person = Person { home: Home::new(), token };
            write(&person.home.at("token"), &person.token);
            person.protect_token();
            person.connect(&format!("http://{}", relay.authority), &[]);
            person
        })
        .collect();
    let (sender, ended) = channel();
    let figures = std::thread::scope(|threads| {
        for (machine, person) in people.iter().enumerate() {
            let sender = sender.clone();
            threads.spawn(move || work(person, machine, &sender));
        }
        drop(sender);
        kill_again_and_again(&ended, &mut server, people.len() * NOTES, start)
    });
    for _ in 0..2 {
        people.iter().for_each(|person| drop(person.sync()));
    }
    let notes = |machine: usize| (0..NOTES).map(move |number| format!("Note {number} of machine {machine}."));
    let mut expected: Vec<String> = (0..people.len()).flat_map(notes).collect();
    expected.sort();
    let log = log_of(&server, first.trim());
    assert_eq!((log.len(), log.iter().collect::<BTreeSet<_>>().len()), (expected.len(), expected.len()));
    for (machine, person) in people.iter().enumerate() {
        assert_eq!(titles(person), expected, "machine {machine}");
    }
    let Figures { exchanges, failed } = figures;
    format!(
        "{} machines, {KILLS} kills, {exchanges} exchanges of which {failed} failed, {} records, each once everywhere",
        people.len(),
        log.len()
    )
}

#[test]
fn nothing_is_lost_or_doubled_when_the_server_is_killed() {
    println!("{}", check(&["--data", "team"], &["--data", "team"]));
}

/// Needs a PostgreSQL: `.ci/postgres run -- COMMAND…` starts one and tells the command where it is.
mod postgres {
    #[test]
    fn nothing_is_lost_or_doubled_when_a_server_on_postgresql_is_killed() {
        #[expect(clippy::disallowed_methods, reason = "the environment says where the server is")]
        let database = std::env::var("WEIR_POSTGRES").expect("run this with `.ci/postgres run --`");
        let tenant = format!("synced-{}", std::process::id());
        let options = ["--data", "index", "--database", &database, "--texts", "texts"];
        println!("{}", super::check(&options, &["--tenant", &tenant, "--database", &database]));
    }
}

/// Returns how many machines there are. `WEIR_SIMULATED_MACHINES` asks for more.
#[expect(clippy::disallowed_methods, reason = "a test reads its own variable")]
fn machine_count() -> usize {
    std::env::var("WEIR_SIMULATED_MACHINES").ok().and_then(|count| count.parse().ok()).unwrap_or(4)
}

//! Two people with a home and a client each, Claude Code and Codex, and one team server.
//!
//! The clients run without a network, so a Unix socket leads from there to the server. Without it, a session is
//! offline.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{CODEX_CONFIG, Client, Outcome, TestHome, WEIR, between, claude, list, text};
use crate::serve::support::{Request, Server};
use crate::support::{Home, TIMEOUT, age, said, wait_until};

const PROJECT: &str = "github.com/acme/api";
/// A word that only the decision has.
const MARKER: &str = "zyxwoquvark";
const DECISION: &str = "The pool has sixteen connections, since zyxwoquvark starves otherwise";
/// Longer than the pause between two exchanges that hooks start, in seconds.
const PAUSE_SECONDS: u64 = 360;

/// A team server, and the way to it from the networks of clients.
struct Team {
    home: Home,
    server: Server,
}

impl Team {
    /// Starts a server. Returns it with the token of its first user.
    fn new(first: &str) -> (Self, String) {
        let home = Home::new();
        let token = home.team(&["init", first, "--data", "team"]).trim().to_owned();
        let server = Server::start_team(&home, &["--data", "team"]);
        let team = Self { home, server };
        let (listener, authority) = (UnixListener::bind(team.socket()).unwrap(), team.server.authority());
        // The threads end with the test.
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                if let Ok(far) = TcpStream::connect(&authority) {
                    pass_both_ways(&near, &far);
                }
            }
        });
        (team, token)
    }

    fn invite(&self, name: &str) -> String {
        self.home.team(&["invite", name, "--data", "team"]).trim().to_owned()
    }

    fn socket(&self) -> PathBuf {
        self.home.at("team.socket")
    }

    /// Returns how many records the server's log of the project has.
    fn head(&self, token: &str) -> u64 {
        let path = format!("/v1/sync/records?project={PROJECT}&after=0&limit=1");
        let answer = self.server.send(&Request::get(&path).token(token)).json();
        answer["head"].as_u64().unwrap_or_else(|| panic!("{answer}"))
    }

    /// Returns what the server's index finds for a word.
    fn found(&self, token: &str, word: &str) -> Vec<Value> {
        let body = json!({ "project": PROJECT, "query": word }).to_string();
        list(&self.server.send(&Request::post("/v1/search", body).token(token)).json()["hits"]).to_vec()
    }
}

fn pass_both_ways(near: &UnixStream, far: &TcpStream) {
    let (mut from_near, mut from_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let (mut to_near, mut to_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    std::thread::spawn(move || {
        pass(&mut from_near, &mut to_far);
        to_far.shutdown(Shutdown::Write)
    });
    std::thread::spawn(move || {
        pass(&mut from_far, &mut to_near);
        to_near.shutdown(Shutdown::Write)
    });
}

fn pass(from: &mut impl Read, to: &mut impl Write) {
    // A side that is gone ends it, and the other side sees that.
    let _ = std::io::copy(from, to);
}

#[derive(Clone, Copy)]
enum Network {
    /// Where the team server can be reached.
    Team,
    Offline,
}

/// Somebody with a home and a client of their own.
struct Person<'a> {
    team: &'a Team,
    place: TestHome,
    client: &'static str,
    token: String,
}

impl<'a> Person<'a> {
    /// Sets Weir up for a client, and connects the project to the team.
    fn joined(team: &'a Team, client: &'static str, token: String) -> Self {
        let place = TestHome::new();
        if client == "codex" {
            let config = CODEX_CONFIG.split("[mcp_servers.weir]").next().unwrap();
            place.write("home/.codex/config.toml", config);
        }
        place.set_up(client);
        let weir = json!({ "weir": { "type": "stdio", "command": WEIR, "args": ["mcp"] } });
        place.write("servers.json", &json!({ "mcpServers": weir }).to_string());
        place.write("home/token", &token);
        let path = place.path("home/token");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let person = Self { team, place, client, token };
        let connect = ["sync", "--server", team.server.url(), "--project", PROJECT, "--token-file"];
        person.ok(&[&connect[..], &[path.to_str().unwrap()]].concat());
        person
    }

    /// Returns what a command prints, which must succeed.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.place.weir(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn sync(&self) -> Value {
        serde_json::from_str(&self.ok(&["sync", "--json"])).unwrap()
    }

    /// Runs a session of the client to its end. `words` is what the scenario has its model say to a tool.
    fn run(&self, scenario: &str, network: Network, words: &str) -> Outcome {
        // The log of the model goes on from run to run.
        let _ = std::fs::remove_file(self.place.path("requests.jsonl"));
        let for_claude = [
            "--print", "Go on with the pool", "--output-format=json", "--strict-mcp-config",
            "--mcp-config=../servers.json", "--dangerously-skip-permissions",
        ];
        let for_codex = [
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--disable=plugins",
            "--dangerously-bypass-hook-trust",
            "--config=model_providers.scripted.base_url=\"http://127.0.0.1:{PORT}/v1\"",
            "Go on with the pool",
        ];
        let is_claude = self.client == "claude";
        let client = Client {
            name: self.client,
            scenario: Some(scenario),
            environment: if is_claude { claude::ENVIRONMENT } else { &[] },
            arguments: if is_claude { &for_claude[..] } else { &for_codex[..] },
        };
        let port = self.team.server.authority().rsplit(':').next().unwrap().to_owned();
        let forward = format!("--forward={port}={}", self.team.socket().display());
        let words = format!("--var=TEXT={words}");
        let more = [words.as_str(), forward.as_str()];
        self.place.run_with(&client, if matches!(network, Network::Team) { &more[..] } else { &more[..1] })
    }

    /// Lets the client's model keep a decision. Returns its reference.
    fn decides(&self, network: Network, decision: &str) -> String {
        let outcome = self.run("team_notes.json", network, decision);
        between(outcome.steps()[1], "kept [ctx:", "] in project scope").to_owned()
    }

    /// Lets the client's model search notes in a new session. Returns what the model is told.
    fn is_told(&self, words: &str) -> String {
        let outcome = self.run("team_searches.json", Network::Team, words);
        outcome.steps()[1].to_owned()
    }

    fn confirms(&self, reference: &str) {
        self.ok(&["notes", "--confirm", reference]);
    }

    /// Runs a session after which the client's hooks start an exchange.
    fn syncs_after_a_session(&self) {
        self.wait_out_the_pause();
        self.run("says_end.json", Network::Team, "");
    }

    /// Makes the last exchange look older than the pause between two that hooks start.
    fn wait_out_the_pause(&self) {
        let projects = std::fs::read_dir(self.place.path("home/.local/share/weir/projects")).unwrap();
        let marks = projects.map(|one| one.unwrap().path().join("team.mark")).filter(|mark| mark.exists());
        let marks: Vec<PathBuf> = marks.collect();
        let [mark] = marks.as_slice() else { panic!("one project is connected: {marks:?}") };
        age(mark, PAUSE_SECONDS);
    }

    fn notes_found(&self, words: &str) -> String {
        said(&self.place.weir(&["search", "--kind", "note", words]))
    }

    fn forgets(&self, reference: &str) {
        let plan: Value = serde_json::from_str(&self.ok(&["forget", reference, "--json"])).unwrap();
        self.ok(&["forget", reference, "--confirm", text(&plan["confirm"])]);
    }
}

/// A decision of one person's model is confirmed, shared after a session, and found by the other's model.
fn share_a_decision(ana: &Person<'_>, ben: &Person<'_>) -> String {
    let reference = ana.decides(Network::Team, DECISION);
    let early = ana.sync();
    assert_eq!((&early["sent"], list(&early["unconfirmed"]).len()), (&json!(0), 1), "{early}");
    ana.confirms(&reference);
    ana.syncs_after_a_session();
    assert!(wait_until(TIMEOUT, || ana.team.head(&ana.token) == 2), "the decision and its confirmation");
    ben.syncs_after_a_session();
    assert!(wait_until(TIMEOUT, || ben.notes_found(MARKER).contains("sixteen")), "{}", ben.notes_found(MARKER));

    let told = ben.is_told("connections of the pool");
    let fenced = format!("<<<{reference}\n{DECISION}\n{reference}>>>");
    let standing = ["by ana (teammate)", "confirmed by a person", "with claude-code", "confirmed on the team by ana"];
    for expected in standing.into_iter().chain([fenced.as_str()]) {
        assert!(told.contains(expected), "no {expected} in {told}");
    }
    reference
}

/// Both revise the decision without a network. Returns the references of the revisions.
fn revise_offline(ana: &Person<'_>, ben: &Person<'_>) -> [String; 2] {
    let head = ana.team.head(&ana.token);
    let revisions = [(ana, "twelve"), (ben, "twenty")].map(|(person, count)| {
        person.wait_out_the_pause();
        let revision = person.decides(Network::Offline, &format!("The pool has {count} connections after all"));
        person.confirms(&revision);
        let checked = said(&person.place.weir(&["doctor"]));
        assert!(checked.contains("the last sync failed: cannot reach the team server"), "{checked}");
        revision
    });
    assert_eq!(ana.team.head(&ana.token), head, "nothing left a machine that was offline");
    for person in [ana, ben, ana] {
        person.sync();
    }
    revisions
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn two_people_share_revise_resolve_and_forget_a_decision() {
    let (team, token) = Team::new("ana");
    let ana = Person::joined(&team, "claude", token);
    let ben = Person::joined(&team, "codex", team.invite("ben"));
    let decision = share_a_decision(&ana, &ben);

    let [of_ana, of_ben] = revise_offline(&ana, &ben);
    for (person, own, other, author) in [(&ana, &of_ana, &of_ben, "ben"), (&ben, &of_ben, &of_ana, "ana")] {
        let fork = format!("forked: another current revision of this topic is [ctx:{other}] by {author}, ");
        for shown in [person.ok(&["notes", "--all"]), person.notes_found("pool connections"), person.is_told("pool")] {
            assert!(shown.contains(&fork) && shown.contains(own.as_str()), "no {fork} in {shown}");
        }
    }
    ben.ok(&["note", "The pool has eighteen connections, both measured", "--kind", "decision", "--topic", "db-pool"]);
    ben.sync();
    ana.sync();
    for person in [&ana, &ben] {
        for shown in [person.notes_found("pool connections"), person.is_told("pool")] {
            assert!(shown.contains("eighteen") && !shown.contains("forked:"), "{shown}");
        }
    }

    assert_eq!(team.found(&ben.token, MARKER).len(), 1);
    ana.forgets(&decision);
    ana.sync();
    let removed = ben.ok(&["sync"]);
    let expected = format!("[ctx:{decision}] was removed by ana, here too; nothing is left of it");
    assert!(removed.contains(&expected), "{removed}");
    assert_eq!(team.found(&ben.token, MARKER), Vec::<Value>::new());
    for person in [&ana, &ben] {
        for shown in [person.notes_found(MARKER), person.is_told(MARKER)] {
            assert!(!shown.contains("sixteen"), "{shown}");
        }
        person.place.assert_no_faults();
    }
}

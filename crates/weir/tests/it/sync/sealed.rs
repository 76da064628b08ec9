//! Sealed projects: members read what the server cannot, and nothing leaves in clear.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use weir_core::{ProjectKey, TenantId, UserId};
use weir_records::sealed::{Identity, KeyGrants, Keyring, Member, Roster, SealedPlace};
use weir_records::{Audience, Author, Body, HostId, LogicalTime, Record, RecordId};

use super::{PROJECT, Person, Team, files};
use crate::serve::support::Request;
use crate::support::{said, text};

/// Words that only sealed notes have.
const WORDS: [&str; 3] = ["zyxwoquvark", "painting", "hideaway"];
const NOTE: &str = "The zyxwoquvark is behind the painting.";

impl Person {
    fn key(&self) -> String {
        self.home.ok(&["sync", "--key"]).trim().to_owned()
    }

    /// Returns what a member passes to `--admit` for this machine.
    fn member(&self, user: &str) -> String {
        format!("{user}={}", self.key())
    }

    fn write_secret(&self) -> String {
        self.note(NOTE, &["--topic", "hideaway"])
    }

    fn store(&self) -> PathBuf {
        let projects = std::fs::read_dir(self.home.data().join("projects")).unwrap();
        projects.map(|one| one.unwrap().path()).find(|path| path.join("team.db").exists()).unwrap()
    }
}

impl Team {
    /// Returns a team with a project that ana has sealed, and ben, whom she has admitted.
    fn sealed() -> (Self, Person, Person) {
        let (team, ana) = Self::new();
        let ben = team.invite("ben");
        ana.home.ok(&["sync", "--seal"]);
        ana.home.ok(&["sync", "--admit", &ben.member("ben")]);
        assert_eq!(ben.sync()["sealed"]["member"], true);
        (team, ana, ben)
    }

    /// Checks that no file of the server has a word of what was sealed, and that there is no text at all.
    fn check_unread(&self) {
        let folder = self.home.project().join("team");
        assert!(folder.join("records.db").exists());
        for path in files(&folder) {
            let content = text(&std::fs::read(&path).unwrap());
            for word in WORDS {
                assert!(!content.contains(word), "{word} is in {}", path.display());
            }
            assert!(!path.starts_with(folder.join("texts")) || content.is_empty(), "{} is a text", path.display());
        }
    }

    fn search(&self, person: &Person) -> Value {
        let body = json!({ "project": PROJECT, "query": "painting" }).to_string();
        self.server.send(&Request::post("/v1/search", body).token(person.token.trim())).json()
    }
}

#[test]
fn a_member_finds_a_sealed_note_and_the_server_has_no_word_of_it() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    let sealed = ana.home.json(&["sync", "--seal"])["sealed"].clone();
    assert_eq!((&sealed["member"], &sealed["sealed"]), (&json!(true), &json!(true)), "{sealed}");
    ana.write_secret();
    assert_eq!(ana.sync()["sent"], 1);
    let told = ben.home.ok(&["sync"]);
    let ask = format!("weir sync --admit {}", ben.member("ben"));
    assert!(told.contains("1 sealed record that this machine cannot read") && told.contains(&ask), "{told}");
    assert!(!ben.search("painting").contains("zyxwoquvark"));

    let told = ana.home.ok(&["sync", "--admit", &ben.member("ben")]);
    assert!(told.contains("sealed for 2 machines"), "{told}");
    let received = ben.sync();
    assert_eq!(received["received"][0]["user"], "ana", "{received}");
    assert_eq!(
        (&received["sealed"]["fingerprint"], &received["sealed"]["locked"]),
        (&sealed["fingerprint"], &json!(0))
    );
    assert!(ben.search("painting").contains("by ana (teammate)"));
    ben.note("The zyxwoquvark was moved.", &["--topic", "hideaway"]);
    ben.sync();
    ana.sync();
    assert!(ana.search("zyxwoquvark moved").contains("by ben (teammate)"));
    team.check_unread();
    let refused = team.search(&ana);
    assert_eq!((&refused["title"], &refused["hits"]), (&json!("Sealed project"), &Value::Null), "{refused}");
}

#[test]
fn a_note_that_was_to_leave_in_clear_waits_and_is_sealed() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    ana.home.ok(&["sync", "--seal"]);
    // This machine does not know of the seal yet, and has no key.
    ben.write_secret();
    let told = ben.home.ok(&["sync"]);
    assert!(told.contains("no note is sent") && !told.contains("refused for good"), "{told}");
    team.check_unread();
    ana.home.ok(&["sync", "--admit", &ben.member("ben")]);
    assert_eq!(ben.sync()["sent"], 1);
    assert_eq!(ana.sync()["received"][0]["user"], "ben");
    team.check_unread();
}

#[test]
fn nothing_leaves_in_clear_once_a_key_was_asked_for() {
    let (team, ana) = Team::new();
    ana.key();
    ana.write_secret();
    assert_eq!(ana.home.json(&["sync", "--dry-run"])["would_send"], json!([]));
    let told = ana.home.ok(&["sync"]);
    assert!(told.contains("sent 0 records") && told.contains("weir sync --seal"), "{told}");
    team.check_unread();
    assert_eq!(ana.home.json(&["sync", "--seal"])["sent"], 2, "the keys and the note");
    team.check_unread();
}

#[test]
fn a_project_can_be_sealed_before_its_first_note_leaves() {
    let (team, ana) = Team::new();
    ana.home.ok(&["sync", "--stop"]);
    ana.write_secret();
    let told = ana.connect(team.server.url(), &["--seal"]);
    assert!(told.contains("sent 2 records") && told.contains("sealed for 1 machine;"), "{told}");
    team.check_unread();
}

#[test]
fn a_dry_run_shows_the_ciphertext_and_what_is_sealed_in_it() {
    let (team, ana, _) = Team::sealed();
    ana.write_secret();
    let shown = ana.home.json(&["sync", "--dry-run"]);
    let [only] = shown["would_send"].as_array().unwrap().as_slice() else { panic!("not one: {shown}") };
    assert_eq!(
        (&only["sealed"]["text"], &only["sealed"]["entry"]["note"]["topic"]),
        (&json!(NOTE), &json!("hideaway"))
    );
    let leaving = only["record"].to_string();
    assert!(only["record"]["body"]["sealed"]["content"].is_string(), "{leaving}");
    assert!(WORDS.iter().all(|word| !leaving.contains(word)), "{leaving}");
    assert!(
        !team.home.project().join("team/texts").exists() || files(&team.home.project().join("team/texts")).is_empty()
    );
}

#[test]
fn who_is_removed_keeps_what_they_read_and_gets_nothing_newer() {
    let (team, ana, ben) = Team::sealed();
    ana.write_secret();
    ana.sync();
    ben.sync();
    let told = ana.home.ok(&["sync", "--revoke", &ben.key()]);
    assert!(told.contains("sealed for 1 machine;"), "{told}");
    ana.note("The hideaway is in the harbour.", &[]);
    ana.sync();
    ben.note("The hideaway is in the attic.", &[]);
    let told = ben.home.ok(&["sync"]);
    assert!(told.contains("was not given the new key") && told.contains("1 sealed record"), "{told}");
    assert!(ben.search("painting").contains("zyxwoquvark") && !ben.search("hideaway").contains("harbour"));
    assert_eq!(ana.sync()["received"], json!([]));
    // A removed machine cannot let itself in.
    let refused = ben.home.weir(&["sync", "--admit", &ben.member("ben")]);
    assert!(said(&refused).contains("is not a member"), "{}", said(&refused));
    ana.home.ok(&["sync", "--admit", &ben.member("ben")]);
    ben.sync();
    assert!(ben.search("hideaway").contains("harbour"));
    assert_eq!(ana.sync()["received"][0]["user"], "ben");
    team.check_unread();
}

/// Posts a change of members that a machine has signed, with the token of its user.
fn post(team: &Team, person: &Person, user: &str, change: &KeyGrants) {
    let record = Record {
        id: RecordId { host: HostId::random().unwrap(), index: 0 },
        time: LogicalTime { millis: 1_700_000_000_000, count: 0 },
        tenant: TenantId("team".into()),
        project: ProjectKey(PROJECT.into()),
        author: Author { user: UserId(user.into()), client: String::new() },
        audience: Audience::Team,
        body: Body::Granted(Box::new(change.clone())),
    };
    let body = format!("{{\"project\":\"{PROJECT}\",\"records\":[{}],\"texts\":{{}}}}", record.to_json().unwrap());
    let answer = team.server.send(&Request::post("/v1/sync/records", body).token(person.token.trim())).json();
    assert_eq!(answer["accepted"], 1, "{answer}");
}

/// Returns how many sealed entries the log has, and how many of them machines can open with the keys that they have and
/// get from it.
fn readable(team: &Team, person: &Person, mut rings: [(&Identity, Keyring); 2]) -> (usize, usize) {
    let (tenant, project) = (TenantId("team".into()), ProjectKey(PROJECT.into()));
    let place = SealedPlace { tenant: &tenant, project: &project };
    let path = format!("/v1/sync/records?project={PROJECT}&limit=500");
    let log = team.server.send(&Request::get(&path).token(person.token.trim())).json();
    let mut sealed = Vec::new();
    for one in log["records"].as_array().unwrap() {
        let record = Record::from_value(one["record"].clone()).unwrap();
        match &record.body {
            Body::Granted(change) => {
                for (identity, ring) in &mut rings {
                    let extended = ring.extended_by(identity, place, change).unwrap();
                    *ring = extended.unwrap_or_else(|| ring.clone());
                }
            }
            Body::Sealed(_) => sealed.push(record),
            other => panic!("{other:?}"),
        }
    }
    let is_open = |record: &&Record| rings.iter().any(|(_, ring)| ring.open(record).is_ok());
    (sealed.len(), sealed.iter().filter(is_open).count())
}

#[test]
fn who_is_removed_does_not_come_back_with_the_keys_they_had() {
    let (team, ana, ben) = Team::sealed();
    let carol = team.invite("carol");
    ana.home.ok(&["sync", "--admit", &carol.member("carol")]);
    carol.sync();
    // What ben's machine has before it is removed: its identity, its keys and the changes.
    ben.sync();
    let file: Value = serde_json::from_slice(&std::fs::read(ben.store().join("team.key")).unwrap()).unwrap();
    let identity = Identity::from_text(file["identity"].as_str().unwrap()).unwrap();
    let ring = Keyring::from_texts(file["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap())).unwrap();
    let (tenant, project) = (TenantId("team".into()), ProjectKey(PROJECT.into()));
    let place = SealedPlace { tenant: &tenant, project: &project };
    let learned = |changes: &[KeyGrants]| {
        let mut roster = Roster::default();
        changes.iter().for_each(|change| drop(roster.learn(place, change).unwrap()));
        roster
    };
    let changes: Vec<KeyGrants> = serde_json::from_value(file["changes"].clone()).unwrap();
    let before = learned(&changes);

    ana.home.ok(&["sync", "--revoke", &identity.public().to_string()]);
    ana.note("Beta comes after the removal of ben.", &[]);
    ana.sync();
    ben.sync();
    let puppet = Identity::random().unwrap();
    let (again, second) = (identity.public(), Member { key: puppet.public(), user: "ben".into() });
    let sneaky = before.change(place, &identity, &ring, (std::slice::from_ref(&second), &[])).unwrap();
    let renewal = before.change(place, &identity, &ring, (&[], &[])).unwrap();
    let by_puppet = {
        let mut roster = before.clone();
        roster.learn(place, &sneaky).unwrap();
        roster.change(place, &puppet, &ring, (&[], &[])).unwrap()
    };
    for change in [&sneaky, &renewal, &by_puppet] {
        post(&team, &ben, "ben", change);
    }
    let report = ana.sync();
    let keys = |report: &Value| {
        let members = report["sealed"]["members"].as_array().unwrap().clone();
        members.into_iter().map(|member| member["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let strangers = [again, second.key].map(|key| key.to_string());
    assert!(strangers.iter().all(|key| !keys(&report).contains(key)) && keys(&report).len() == 2, "{report}");
    ana.home.ok(&["sync", "--revoke", &carol.key()]);
    ana.note("Delta comes on friday.", &[]);
    let report = ana.sync();
    assert_eq!(keys(&report), [ana.key()], "{report}");
    // Neither the old machine nor the second one reads what was written since.
    ben.sync();
    assert!(!ben.search("delta friday").contains("Delta") && !ben.search("beta").contains("Beta"));
    assert_eq!(readable(&team, &ben, [(&identity, ring), (&puppet, Keyring::default())]), (2, 0));
}

#[test]
fn new_members_are_named_and_notes_from_before_the_seal_are_marked() {
    let (team, ana) = Team::new();
    ana.note("Otters hold hands.", &[]);
    ana.sync();
    let [ben, carol] = ["ben", "carol"].map(|name| team.invite(name));
    ana.home.ok(&["sync", "--seal"]);
    ana.home.ok(&["sync", "--admit", &ben.member("ben")]);
    ben.sync();
    assert!(ben.search("otters").contains("not sealed, by the server's word"), "{}", ben.search("otters"));
    ben.home.ok(&["sync", "--admit", &carol.member("carol")]);
    let told = ana.home.ok(&["sync"]);
    let named = format!("carol ({}) is a member now, admitted by ben", carol.key());
    assert!(told.contains(&named) && told.contains("sealed for 3 machines"), "{told}");
    ana.note("Seals clap.", &[]);
    ana.sync();
    ben.sync();
    assert!(!ben.search("seals clap").contains("not sealed"), "{}", ben.search("seals clap"));
    assert!(!ana.search("otters").contains("not sealed"));
    ana.home.ok(&["sync", "--revoke", &carol.key()]);
    let told = ben.home.ok(&["sync"]);
    assert!(told.contains("is no member any more, removed by ana"), "{told}");
}

#[test]
fn what_is_forgotten_is_gone_from_members_and_from_the_log() {
    let (team, ana, ben) = Team::sealed();
    let reference = ana.write_secret();
    ana.sync();
    ben.sync();
    ana.forget(&reference);
    ana.sync();
    let told = ben.home.ok(&["sync"]);
    assert!(told.contains("was removed by ana, here too; nothing is left of it"), "{told}");
    assert!(!ben.search("painting").contains("zyxwoquvark"));
    let path = format!("/v1/sync/records?project={PROJECT}&limit=500");
    let left = team.server.send(&Request::get(&path).token(ana.token.trim())).json();
    let records = left["records"].as_array().unwrap();
    assert!(records.iter().all(|one| one["record"]["body"]["sealed"].is_null()), "{left}");
}

#[test]
fn revisions_fork_and_resolve_in_a_sealed_project_too() {
    let (_team, ana, ben) = Team::sealed();
    ana.write_secret();
    ana.sync();
    ben.sync();
    ana.note("The hideaway is in the attic.", &["--topic", "hideaway"]);
    ben.note("The hideaway is in the harbour.", &["--topic", "hideaway"]);
    for person in [&ana, &ben, &ana] {
        person.sync();
    }
    for person in [&ana, &ben] {
        assert!(
            person.search("hideaway").contains("forked: another current revision"),
            "{}",
            person.search("hideaway")
        );
    }
    ben.note("The hideaway is in the harbour; both looked.", &["--topic", "hideaway"]);
    ben.sync();
    ana.sync();
    assert!(!ana.search("hideaway").contains("forked:"));
}

#[test]
fn keys_are_private_and_a_wrong_one_is_refused() {
    let (_team, ana, ben) = Team::sealed();
    let file = ana.store().join("team.key");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for wrong in ["wk1", "ben=wk1", &ben.member("ben")[..60], &ben.key(), "ben"] {
        let refused = ana.home.weir(&["sync", "--admit", wrong]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    }
    let refused = ben.home.weir(&["sync", "--seal"]);
    assert!(said(&refused).contains("sealed already"), "{}", said(&refused));
    let refused = ana.home.weir(&["sync", "--revoke", &ana.key()]);
    assert!(said(&refused).contains("cannot remove itself"), "{}", said(&refused));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(said(&ana.home.weir(&["sync"])).contains("chmod 600"));
}

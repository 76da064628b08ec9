//! Invitations: an admin prints one, and somebody becomes a user with it.

use std::os::unix::fs::PermissionsExt as _;

use super::{PROJECT, Team};
use crate::support::{Home, said, write};

#[test]
fn an_invited_user_shares_the_project_without_an_operator() {
    let (team, ana) = Team::new();
    ana.note("The pool has ten connections.", &["--kind", "decision"]);
    ana.sync();
    let code = ana.home.ok(&["invite", "ben", "--valid-for", "8h"]);
    assert!(code.starts_with("invite_weir_") && code.trim().lines().count() == 1, "{code}");
    let ben = Home::new();
    write(&ben.at("invitation"), &code);
    let file = ben.at("invitation");
    let options = ["sync", "--server", team.server.url(), "--project", PROJECT, "--invitation", file.to_str().unwrap()];
    // A name that is not asked for, and a dry run, use nothing up.
    let refused = ben.weir(&[&options[..], &["--as", "fay"]].concat());
    assert!(said(&refused).contains("for somebody else"), "{}", said(&refused));
    assert!(!ben.weir(&[&options[..], &["--dry-run"]].concat()).status.success());
    assert!(ben.ok(&options).contains("received 1 note"));
    assert!(ben.ok(&["search", "connections"]).contains("by ana (teammate)"));
    let stored = std::fs::read_dir(ben.data().join("team-tokens")).unwrap().next().unwrap().unwrap();
    assert_eq!(stored.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // It is used up, and ben may not invite.
    let again = Home::new().weir(&options);
    assert!(said(&again).contains("was accepted already"), "{}", said(&again));
    assert!(said(&ben.weir(&["invite", "eve"])).contains("this needs the scope `admin`"));
    assert!(ana.home.ok(&["invite", "--list"]).contains("used    write for ben, accepted 1 of 1 times, by ana"));
    ben.ok(&["sync", "--stop"]);
    assert!(std::fs::read_dir(ben.data().join("team-tokens")).unwrap().next().is_none());
}

#[test]
fn an_invitation_without_a_name_asks_for_one_and_can_be_revoked() {
    let (team, ana) = Team::new();
    let made = ana.home.json(&["invite", "--uses", "2", "--scope", "read", "--project", PROJECT]);
    let (code, id) = (made["invitation"].as_str().unwrap(), made["id"].as_str().unwrap());
    let accept = |more: &[&str]| {
        let home = Home::new();
        write(&home.at("invitation"), code);
        let file = home.at("invitation");
        let options = ["sync", "--server", team.server.url(), "--project", PROJECT, "--invitation"];
        said(&home.weir(&[&options[..], &[file.to_str().unwrap()], more].concat()))
    };
    assert!(accept(&[]).contains("the invitation names nobody"));
    assert!(accept(&["--as", "ana"]).contains("has a user `ana` already"));
    assert!(accept(&["--as", "fay"]).contains("received 0 notes"));
    ana.home.ok(&["invite", "--revoke", id]);
    assert!(accept(&["--as", "gus"]).contains("was revoked"));
    assert!(said(&ana.home.weir(&["invite", "--revoke", id])).contains("no invitation"));
    assert!(said(&ana.home.weir(&["invite", "--revoke", "../me"])).contains("is not the id of an invitation"));
}

//! What a run leaves behind to be run later, outside: it is moved away or said.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::lifetime::{PATIENCE, wait_until};
use super::world::{User, World, announce_skip};

/// What becomes of a thing that was planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It cannot be made.
    Refused,
    /// It is moved away, and the answer says so.
    MovedAway,
    /// It stays, and the answer says so.
    Said,
}

/// Runs a script and looks at what it planted: at a path, which the answer must name.
fn check(script: &str, path: &str, fate: Fate) {
    check_in(|_| (), script, path, fate);
}

fn check_in(prepare: impl Fn(&World), script: &str, path: &str, fate: Fate) {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        prepare(&world);
        let answer = world.run(script);
        assert_eq!(answer["sandbox"], "full", "{answer}");
        let remarks = answer["remarks"].to_string();
        let there = world.project().join(path).symlink_metadata().is_ok();
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        let found = match (there, remarks.contains(name)) {
            (false, false) => Fate::Refused,
            (false, true) => Fate::MovedAway,
            (true, true) => Fate::Said,
            (true, false) => panic!("as {user:?}, `{script}` left {path} and nobody said so: {answer}"),
        };
        assert_eq!(found, fate, "as {user:?}, `{script}`: {answer}");
    }
}

/// Number 22 of the list.
#[test]
fn another_place_for_the_repository_cannot_be_named() {
    check("echo ../evil > .git/commondir", ".git/commondir", Fate::Refused);
}

/// Number 23 of the list.
#[test]
fn a_planted_bare_repository_is_moved_away() {
    let bare = "mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/main' > docs/HEAD; echo '[core]' > docs/config";
    check(bare, "docs/HEAD", Fate::MovedAway);
}

/// Number 24 of the list.
#[test]
fn a_planted_nested_repository_is_moved_away() {
    let nested = "mkdir -p lib/.git/hooks lib/.git/objects lib/.git/refs; echo 'ref: refs/heads/main' > lib/.git/HEAD; \
                  printf '[core]\\n\\tfsmonitor = touch /var/tmp/evil\\n' > lib/.git/config";
    check(nested, "lib/.git", Fate::MovedAway);
}

/// Number 24 of the list.
#[test]
fn a_planted_link_to_a_repository_is_moved_away() {
    check("mkdir lib; echo 'gitdir: ../out/evil' > lib/.git", "lib/.git", Fate::MovedAway);
}

#[test]
fn a_nested_repository_cannot_be_given_hooks() {
    let nested = |world: &World| {
        world.write("project/lib/.git/HEAD", "ref: refs/heads/main\n");
        world.write("project/lib/.git/config", "[core]\n");
        world.write("project/lib/.git/hooks/sample", "");
    };
    check_in(nested, "echo evil > lib/.git/hooks/pre-commit", "lib/.git/hooks/pre-commit", Fate::Refused);
}

/// Number 25 of the list.
#[test]
fn planted_settings_of_clients_and_editors_are_moved_away() {
    for (script, path) in [
        ("echo '{}' > .mcp.json", ".mcp.json"),
        ("mkdir .claude; echo '{}' > .claude/settings.json", ".claude"),
        ("mkdir .vscode; echo '{}' > .vscode/tasks.json", ".vscode"),
        ("echo 'touch evil' > .envrc", ".envrc"),
        ("mkdir -p conf/deep; echo 'touch evil' > conf/deep/.envrc", "conf/deep/.envrc"),
        ("ln -s out/evil .claude", ".claude"),
        ("mkdir .husky; echo evil > .husky/pre-commit", ".husky"),
        ("mkdir -p out/x && mv out/x .idea", ".idea"),
    ] {
        check(script, path, Fate::MovedAway);
    }
}

#[test]
fn what_people_change_every_day_stays_and_is_said() {
    check("echo 'be evil' > CLAUDE.md", "CLAUDE.md", Fate::Said);
}

#[test]
fn settings_that_are_there_cannot_be_changed() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.write("project/.mcp.json", "{}");
        world
            .run("rm -f .mcp.json; echo evil > .mcp.json; mv .mcp.json away; echo evil > out/x; mv -f out/x .mcp.json");
        assert_eq!(fs::read_to_string(world.project().join(".mcp.json")).unwrap(), "{}", "as {user:?}");
    }
}

/// A file that was there cannot be changed by the run, so whoever changed it meanwhile was somebody else.
#[test]
fn what_the_user_changes_during_a_run_stays() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let (project, settings) = (world.project(), world.project().join(".vscode/settings.json"));
    world.write("project/.vscode/settings.json", "{}");
    let code = "touch out/up; while [ ! -e out/saved ]; do :; done";
    let run = world.weir(&["run", "--json", "--timeout", "30", code]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(PATIENCE, || project.join("out/up").exists()));
    fs::write(&settings, "{ \"changed\": \"by the user\" }").unwrap();
    fs::write(project.join("out/saved"), "").unwrap();
    let answer = super::world::answer(&run.wait_with_output().unwrap());
    assert_eq!(fs::read_to_string(settings).ok().as_deref(), Some("{ \"changed\": \"by the user\" }"), "{answer}");
}

#[test]
fn a_planted_thing_is_found_when_the_run_was_ended_before_its_time() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let code = "echo '{}' > .mcp.json; while :; do :; done";
    let answer = super::world::answer(&world.weir(&["run", "--json", "--timeout", "1", code]).output().unwrap());
    assert_eq!(answer["ended"], "timeout", "{answer}");
    assert!(answer["remarks"].to_string().contains(".mcp.json"), "{answer}");
    assert!(!world.project().join(".mcp.json").exists());
}

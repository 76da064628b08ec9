//! Weir's own configuration and data: obeyed only if they are the user's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::process::{Command, Stdio};

use super::world::{User, World, announce_skip, is_root};
use crate::support::{said, text};

/// A configuration that opens everything.
const EVIL: &str = "sandbox = \"off\"\n";

/// Runs a command that reads the home folder, and checks that nothing was run for this reason.
fn check_refused(mut run: Command, why: &str) {
    let output = run.output().unwrap();
    let said = said(&output);
    assert!(
        !output.status.success() && said.contains(why) && !text(&output.stdout).contains("hidden-at-home"),
        "{said}"
    );
}

const READ_HOME: [&str; 2] = ["run", "cat ~/unnamed.txt"];

#[test]
fn a_configuration_in_the_project_is_not_obeyed() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    world.write("project/.cfg/weir/config.toml", EVIL);
    world.write("project/.home/.config/weir/config.toml", EVIL);
    symlink("project/.cfg", world.home().join("through")).unwrap();
    for (variable, folder) in [
        ("XDG_CONFIG_HOME", world.project().join(".cfg")),
        ("XDG_CONFIG_HOME", world.home().join("through")),
        ("WEIR_DATA", world.project().join(".data")),
        ("HOME", world.project().join(".home")),
    ] {
        let mut run = world.weir(&READ_HOME);
        run.env(variable, folder);
        check_refused(run, "it is in the project");
    }
    // Elsewhere, the variable is the user's.
    world.write("own/weir/config.toml", "");
    let output = world.weir(&["run", "echo ran"]).env("XDG_CONFIG_HOME", world.home().join("own")).output().unwrap();
    assert!(text(&output.stdout).contains("ran"), "{}", said(&output));
}

/// Many people keep their settings in a repository.
#[test]
fn the_usual_configuration_is_obeyed_in_a_project_around_it() {
    for project in ["", ".config", ".local"] {
        let Some(world) = World::new(User::Plain) else { return announce_skip() };
        world.configure_wholly("[run]\nreadable = [\"~/outside.txt\"]\n");
        let folder = world.home().join(project);
        fs::create_dir_all(folder.join(".git")).unwrap();
        world.own_all();
        let output = world.weir(&["run", "cat ~/outside.txt"]).current_dir(folder).output().unwrap();
        assert!(text(&output.stdout).contains("outside\n"), "{project}: {}", said(&output));
    }
}

#[test]
fn what_others_can_change_is_not_obeyed() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let config = world.home().join(".config/weir/config.toml");
    world.configure_wholly(EVIL);
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    check_refused(world.weir(&READ_HOME), "another user can change it");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
    if !is_root() {
        return announce_skip();
    }
    chown(&config, Some(4321), None).unwrap();
    check_refused(world.weir(&READ_HOME), "another user can change it");
    chown(&config, Some(0), None).unwrap();
    world.configure_wholly("");
    let data = world.home().join(".local/share/weir");
    fs::create_dir_all(&data).unwrap();
    world.own_all();
    chown(&data, Some(4321), None).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    check_refused(world.weir(&READ_HOME), "it belongs to another user");
    // A hook says nothing, and leaves nothing behind for the other user.
    let mut hook = world.weir(&["hook", "claude", "SessionStart"]);
    let output = hook.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{}", said(&output));
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
}

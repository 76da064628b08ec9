//! The levels side by side: the outcome of each attempt in the full sandbox, and with Landlock as the only barrier.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::world::{User, World, announce_skip};
use super::{PROBES, for_user};

const ABOUT: &str = "\
# What each level holds

Every attempt of the escape suite, made by a user without privileges, in the full sandbox and at the Landlock level (Linux
6.12 or later). `works` is what a run can do there; an error or a signal is how it is kept from it. The numbers are those of
the list of attempts in the design. This file is written by the test that compares it: `UPDATE_EXPECT=1`.
";

/// Attempts with the same outcome for an unprivileged user without any sandbox: they need a privilege anyway, or
/// concern what is inherited. Every other attempt that the sandbox stops would succeed without it, or fail in another
/// way; a probe whose attempts cannot succeed proves nothing.
const SAME_ANYWAY: &[&str] = &[
    "+ write /etc/passwd",
    "+ write a setting of the kernel",
    "+ make a device",
    "+ unshare a mount namespace",
    "+ unshare a process namespace",
    "+ unshare a network namespace",
    "+ unshare a control group namespace",
    "+ unshare a time namespace",
    "17 open the namespace of the first process",
    "17 enter a namespace",
    "16 mount",
    "16 mount a folder again to write to it",
    "+ pivot_root",
    "+ chroot",
    "+ open_tree",
    "+ move_mount",
    "+ fsopen",
    "+ fsmount",
    "+ fspick",
    "+ mount_setattr",
    "+ open_tree_attr",
    "18 make a socket by its x32 number",
    "+ ptrace by its x32 number",
    "30 make a socket of packets",
    "+ connect one of a pair of stream sockets",
    "+ connect one of a pair of packet sockets",
    "40 trace the first process",
    "+ syslog",
    "+ reboot",
    "+ swapon",
    "+ acct",
    "+ sethostname",
    "+ settimeofday",
    "+ read the kernel's messages",
    "+ take capabilities",
    "+ take ambient capabilities",
    "+ allow new privileges",
    "+ leave the filter",
    "+ take groups",
    "+ make a raw socket",
    "+ give an interface an address",
    "+ find a terminal among the standard descriptors",
    "43 use the inherited descriptor 77",
    "+ use any inherited descriptor",
    "44 find a secret in the environment",
    "+ find a variable that loads code",
    "42 read the first process's environment",
    "+ read the first process's memory",
    "+ read the first process's map",
    "+ follow the first process's root",
    "+ follow the first process's folder",
    "+ follow the first process's program",
    "+ follow the first process's control socket",
    "47 make a file of 3 GB with truncate",
    "47 make a file of 3 GB with write",
    "47 make a file of 3 GB with fallocate",
    "+ allow larger files",
    "+ allow core dumps",
];

#[test]
fn what_is_open_at_the_landlock_level_is_known() {
    let Some(world) = World::without_namespaces(User::Plain) else { return announce_skip() };
    world.configure("sandbox = \"best-effort\"");
    let mut table = format!("{ABOUT}\n| attempt | full | landlock |\n| --- | --- | --- |\n");
    for probe in PROBES {
        let said = world.probe(probe, "landlock");
        assert_eq!(said.len(), probe.rows.len(), "{said:#?}");
        for ((name, full), (same, landlock)) in probe.rows.iter().zip(&said) {
            assert_eq!(name, same);
            writeln!(table, "| {name} | {} | {landlock} |", for_user(full, User::Plain)).unwrap();
        }
    }
    expect_file!["golden/levels.md"].assert_eq(&table);
}

/// Landlock does not cover file modes, and root owns the machine's devices.
const ROOT_ONLY: &[&str] = &["+ change the mode of the machine's /dev/null", "+ change the mode of standard input"];

#[test]
fn root_gets_no_further_than_a_user_at_the_landlock_level() {
    let Some(world) = World::without_namespaces(User::Root) else { return announce_skip() };
    let Some(plain) = World::without_namespaces(User::Plain) else { return announce_skip() };
    for world in [&world, &plain] {
        world.configure("sandbox = \"best-effort\"");
    }
    let mut further = Vec::new();
    for probe in PROBES {
        for ((name, root), (_, user)) in world.probe(probe, "landlock").into_iter().zip(plain.probe(probe, "landlock"))
        {
            if root == "works" && user != "works" {
                further.push(name);
            }
        }
    }
    assert_eq!(further, ROOT_ONLY);
}

/// A file hidden in one run must not be available to the next under another name.
#[test]
fn two_runs_at_the_landlock_level_show_nothing_hidden() {
    for first in ["mv .env seen", "ln .env seen", "mv conf seen", "mv .env out/seen", "ln .env out/seen"] {
        let Some(world) = World::without_namespaces(User::Plain) else { return announce_skip() };
        world.configure("sandbox = \"best-effort\"");
        world.run(first);
        let output = world.output("cat seen out/seen seen/secret.txt");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("hidden-"), "after `{first}`: {said}");
    }
}

/// A protected file must not be replaced by one that was created next to it.
#[test]
fn the_repository_cannot_be_replaced_at_the_landlock_level() {
    for script in [
        "mv .git away; mkdir out/git out/git/hooks; echo evil > out/git/config; mv out/git .git",
        "mv .git away; mkdir out/git; ln -s out/git .git",
        "mv .git/config .git/old; echo evil > out/config; mv out/config .git/config",
        "rm -rf .git",
    ] {
        let Some(world) = World::without_namespaces(User::Plain) else { return announce_skip() };
        world.configure("sandbox = \"best-effort\"");
        let config = world.project().join(".git/config");
        let before = std::fs::read_to_string(&config).unwrap();
        let answer = world.run(script);
        assert_eq!(std::fs::read_to_string(&config).ok(), Some(before), "`{script}`: {answer}");
    }
}

/// Only a machine without namespaces may lower the level; nothing that a run does may lower it.
#[test]
fn a_run_cannot_lower_the_level_of_the_next() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    world.configure("sandbox = \"best-effort\"");
    for script in [
        "ln -s / out/link; ln -s loop out/loop; mkfifo out/fifo; chmod 000 conf out",
        "chmod 755 conf out; mkdir -p $(printf 'deep/%.0s' $(seq 200)); touch deep/.env",
        "d=$(printf 'd%.0s' $(seq 250)); cd out; for n in $(seq 20); do mkdir $d && cd $d && touch .env; done",
        "for n in $(seq 300); do mkdir -p many/$n; echo > many/$n/.env; done",
        "echo > out/.env; ln out/.env out/other",
    ] {
        world.run(script);
        let output = world.output("cat .env; true");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains("\"sandbox\": \"full\"") || output.status.code() == Some(126), "`{script}`: {said}");
    }
}

#[test]
fn without_a_sandbox_the_attempts_would_succeed() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    world.configure("sandbox = \"off\"");
    let mut same = Vec::new();
    for probe in PROBES {
        for ((name, full), (_, bare)) in probe.rows.iter().zip(world.probe(probe, "none")) {
            if for_user(full, User::Plain) == bare && bare != "works" && !SAME_ANYWAY.contains(name) {
                same.push(*name);
            }
        }
    }
    assert!(same.is_empty(), "{same:#?}");
}

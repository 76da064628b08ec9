//! Weir's own queries to git: nothing that a repository's configuration names is started.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::world::{User, World, announce_skip};

/// A program that a repository tries to have started: it reads a secret and leaves a trace.
const EVIL: &str = "#!/bin/sh\ncat .env\ntouch \"$HOME/started\" out/started\nexit 1\n";

/// Settings with which git starts programs, even if it only shows the log.
const SETTINGS: &[&str] = &[
    "log.showSignature=true", "gpg.program=./evil.sh", "core.fsmonitor=./evil.sh", "core.pager=./evil.sh",
    "core.hooksPath=.", "core.alternateRefsCommand=./evil.sh", "diff.external=./evil.sh",
    "diff.evil.textconv=./evil.sh", "filter.evil.clean=./evil.sh", "alias.log=!./evil.sh",
];

fn git(world: &World, arguments: &[&str], input: Option<&str>) -> String {
    let file = world.home().join("input");
    std::fs::write(&file, input.unwrap_or_default()).unwrap();
    // The project may belong to a different user than the tests.
    let settings = world.home().join("git-settings");
    std::fs::write(&settings, "[safe]\n\tdirectory = *\n").unwrap();
    let mut command = Command::new("git");
    command.current_dir(world.project()).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
    command.env("HOME", world.home()).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", settings);
    let output = command.args(arguments).stdin(std::fs::File::open(file).unwrap()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Creates a repository with a signed commit, and with every setting that starts a program.
fn prepare(world: &World) {
    for name in ["a", "b"] {
        world.write(&format!("project/src/{name}.rs"), &format!("pub fn {name}() {{}}\n"));
    }
    world.write("project/evil.sh", EVIL);
    let evil = world.project().join("evil.sh");
    std::fs::set_permissions(evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    git(world, &["init", "--quiet"], None);
    git(world, &["add", "src"], None);
    git(world, &["commit", "--quiet", "-m", "both"], None);
    let commit = git(world, &["cat-file", "commit", "HEAD"], None);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
    let signed = format!("{}\n", commit.replacen("\n\n", &format!("\n{signature}\n\n"), 1));
    let hash = git(world, &["hash-object", "-t", "commit", "-w", "--stdin"], Some(&signed));
    git(world, &["update-ref", "HEAD", &hash], None);
    for setting in SETTINGS {
        let (name, value) = setting.split_once('=').unwrap();
        git(world, &["config", name, value], None);
    }
    world.own_all();
}

fn check(sandbox: &str) {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    prepare(&world);
    world.configure(&format!("sandbox = \"{sandbox}\""));
    let output = world.weir(&["map", "--focus", "src/a.rs"]).output().unwrap();
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("src/b.rs"), "{said}");
    for trace in [world.home().join("started"), world.project().join("out/started")] {
        assert!(!trace.exists(), "{sandbox}: {said}");
    }
    let found = Command::new("grep").args(["-rl", "hidden-env"]).arg(world.home().join(".local/share/weir")).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    assert_eq!(found, "", "{sandbox}");
}

#[test]
fn a_map_starts_nothing_that_the_repository_names() {
    check("required");
}

#[test]
fn a_map_starts_nothing_that_the_repository_names_without_a_sandbox() {
    check("off");
}

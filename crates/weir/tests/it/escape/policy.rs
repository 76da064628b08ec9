//! Rules, refusals and answers: what is denied is not run, what cannot be confined is not run, and output is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::world::{User, World, announce_skip};
use crate::support::parsed;

/// Runs a script that must be refused with this exit code and these words.
fn check_refused(world: &World, script: &str, code: i32, words: &[&str]) {
    let output = world.output(script);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "`{script}`: {said}");
    assert!(words.iter().all(|word| said.contains(word)), "`{script}`: {said}");
    assert!(!world.project().join("out/ran").exists(), "`{script}` was run: {said}");
}

/// Number 51 of the list, and other spellings of it.
#[test]
fn a_denied_program_is_not_run_however_it_is_spelt() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    for script in [
        "touch out/ran; sudo id", "touch out/ran; su\\\ndo id", "touch out/ran; 's'udo id", // typos: allow
        "touch out/ran; env sudo id", "touch out/ran; bash -c 'sudo id'", "touch out/ran; $(echo su)do id",
        "touch out/ran; x=sudo; $x id", "touch out/ran; eval 'su''do id'",
    ] {
        check_refused(&world, script, 126, &["nothing was run"]);
    }
}

#[test]
fn a_denied_program_cannot_be_started_from_another_language() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure_wholly("[policy]\ndeny = [\"Bash(base64 *)\", \"Bash(base64)\"]\n");
        let code = "import os\nprint(os.system('echo x | base64; echo x | /usr/bin/base64; echo x | /bin/base64'))";
        let output = world.weir(&["run", "--json", "-l", "python", code]).output().unwrap();
        let answer = parsed(&output);
        assert_eq!(answer["text"].as_str().unwrap().matches("Permission denied").count(), 3, "as {user:?}: {answer}");
    }
}

/// Number 54 of the list.
#[test]
fn what_comes_after_an_open_title_is_shown() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    for (script, visible) in [
        (r"printf '\033]0;title'; echo; echo 'rm -rf was here'", "rm -rf was here"),
        (r"printf '\033P'; echo; echo after", "after"),
        (r"printf '\033]8;;http://x\033\\link'; echo after", "after"),
        (r"echo 'rm -rf was here'; printf '\033[2J\033[H\033[1A\033[2K'; echo done", "rm -rf was here"),
        (r"printf 'rm -rf was here\r'; echo harmless", "harmless"),
    ] {
        let answer = world.run(script);
        assert!(answer["text"].as_str().unwrap().contains(visible), "`{script}`: {answer}");
    }
}

/// Number 55 of the list.
#[test]
fn without_namespaces_a_required_sandbox_is_a_refusal() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::without_namespaces(user) else { return announce_skip() };
        for lines in ["", "sandbox = \"required\""] {
            world.configure(lines);
            let words = ["make namespaces (unshare)", "nothing was run: a full sandbox is required", "best-effort"];
            check_refused(&world, "touch out/ran", 126, &words);
        }
    }
}

#[test]
fn without_namespaces_a_lower_level_is_taken_only_when_accepted_and_said() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::without_namespaces(user) else { return announce_skip() };
        world.configure("sandbox = \"best-effort\"");
        let answer = world.run("cat .env; true");
        assert_eq!(answer["sandbox"], "landlock", "{answer}");
        assert!(answer["remarks"][0].as_str().unwrap().contains("no full sandbox here"), "{answer}");
        assert!(!answer["text"].as_str().unwrap().contains("hidden-"), "{answer}");
    }
}

/// A project of dotfiles contains the configuration, which must not be a way to a run without a sandbox.
#[test]
fn the_configuration_is_safe_in_a_project_that_holds_it() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.write(".config/.git/HEAD", "ref: refs/heads/main\n");
        let before = fs::read_to_string(world.home().join(".config/weir/config.toml")).unwrap();
        let code = "echo 'sandbox = \"off\"' > weir/config.toml; mv weir aside; mkdir weir; \
                    echo 'sandbox = \"off\"' > weir/config.toml";
        let run = world.weir(&["run", "--json", code]).current_dir(world.home().join(".config")).output().unwrap();
        assert_eq!(parsed(&run)["sandbox"], "full");
        let after = fs::read_to_string(world.home().join(".config/weir/config.toml")).unwrap();
        assert_eq!(after, before, "as {user:?}");
    }
}

#[test]
fn no_configuration_can_be_planted_in_a_project_that_would_hold_it() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.write(".config/.git/HEAD", "ref: refs/heads/main\n");
        fs::remove_dir_all(world.home().join(".config/weir")).unwrap();
        let code = "mkdir -p weir; echo 'sandbox = \"off\"' > weir/config.toml";
        world.weir(&["run", "--json", code]).current_dir(world.home().join(".config")).output().unwrap();
        assert!(!world.home().join(".config/weir/config.toml").exists(), "as {user:?}");
    }
}

/// A program that a run could have planted is asked for its version. That must happen in a sandbox, even if the usual
/// one cannot be built: here, the path contains a link.
#[test]
fn a_runtime_is_asked_for_its_version_in_a_sandbox_or_not_at_all() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        check_planted_runtime(&world, user);
        let Some(world) = World::without_namespaces(user) else { return announce_skip() };
        check_planted_runtime(&world, user);
        world.configure("sandbox = \"best-effort\"");
        check_planted_runtime(&world, user);
    }
}

fn check_planted_runtime(world: &World, user: User) {
    let folder = tempfile::Builder::new().prefix("weir-escape-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let escaped = world.home().join("escaped");
    fs::create_dir_all(folder.path().join("real/bin")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    let program = folder.path().join("real/bin/node");
    fs::write(&program, format!("#!/bin/sh\necho x > {}\necho v22.20.0\n", escaped.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for path in ["link/bin", "real/bin"] {
        let path = format!("{}:/usr/bin:/bin", folder.path().join(path).display());
        let mut run = world.weir(&["run", "--json", "-l", "typescript", "console.log(1)"]);
        run.env("PATH", path).output().unwrap();
        assert!(!escaped.exists(), "as {user:?}, the planted program ran outside of the sandbox");
    }
}

/// Returns a world with a stand-in for an authenticated program outside, which leaves a trace when it is run.
fn with_brokered(user: User, name: &str) -> Option<World> {
    let world = World::new(user)?;
    world.configure_wholly(&format!("[run]\nbrokered = [{name:?}]\n"));
    let tools = world.home().parent().unwrap().join("tools");
    fs::create_dir(&tools).unwrap();
    let program = format!("#!/bin/sh\necho x > {}\necho granted\n", world.home().join("granted").display());
    fs::write(tools.join(name), program).unwrap();
    fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    Some(world)
}

fn check_broker(name: &str, script: &str, granted: bool) {
    for user in [User::Plain, User::Root] {
        let Some(world) = with_brokered(user, name) else { return announce_skip() };
        let tools = world.home().parent().unwrap().join("tools");
        let mut run = world.weir(&["run", "--json", script]);
        let output = run.env("PATH", format!("{}:/usr/bin:/bin", tools.display())).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(world.home().join("granted").exists(), granted, "as {user:?}, `{script}`: {said}");
    }
}

/// Number 52 of the list, and other ways to run more than the one command.
#[test]
fn the_broker_runs_nothing_but_the_whole_command() {
    check_broker("gh", "gh pr list", true);
    for script in [
        "printf -v 'a[$(gh auth token)]' x", "gh auth token", "gh api user", "gh pr list; gh pr list",
        "gh pr list > out/list", "bash -c 'gh pr list'", "env gh pr list",
    ] {
        check_broker("gh", script, false);
    }
}

/// Number 53 of the list.
#[test]
fn the_broker_starts_no_containers() {
    for script in
        ["docker run -v /:/h alpine", "docker exec web sh", "docker cp web:/etc/passwd .", "docker --host x ps"]
    {
        check_broker("docker", script, false);
    }
}

/// An authenticated program is run outside. A program that a run planted in a folder of `PATH` must not be mistaken for
/// it, nor may it load planted code.
#[test]
fn a_planted_program_is_never_run_outside() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure_wholly("[run]\nbrokered = [\"gh\"]\n");
        let (project, escaped) = (world.project(), world.home().join("escaped"));
        let plant =
            format!("mkdir bin; printf '#!/bin/sh\\necho x > {}\\n' > bin/gh; chmod 755 bin/gh", escaped.display());
        let path = format!("{}:/usr/bin:/bin", project.join("bin").display());
        world.weir(&["run", "--json", &plant]).env("PATH", &path).output().unwrap();
        assert!(project.join("bin/gh").exists(), "nothing was planted, so nothing was tried");
        let output = world.weir(&["run", "--json", "gh pr list"]).env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!escaped.exists(), "as {user:?}: {said}");
    }
}

#[test]
fn planted_code_is_never_loaded_outside() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure_wholly("[run]\nbrokered = [\"aws\"]\n");
        let escaped = world.home().join("escaped");
        // The real program is a Python program.
        let tools = world.home().parent().unwrap().join("tools");
        fs::create_dir(&tools).unwrap();
        fs::write(tools.join("aws"), "#!/usr/bin/python3\nprint('buckets')\n").unwrap();
        fs::set_permissions(tools.join("aws"), fs::Permissions::from_mode(0o755)).unwrap();
        world.write("project/lib/sitecustomize.py", &format!("open({:?}, 'w')\n", escaped.to_str().unwrap()));
        let mut run = world.weir(&["run", "--json", "aws s3 ls"]);
        run.env("PATH", format!("{}:/usr/bin:/bin", tools.display())).env("PYTHONPATH", world.project().join("lib"));
        let output = run.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains("buckets"), "{said}");
        assert!(!escaped.exists(), "as {user:?}: {said}");
    }
}

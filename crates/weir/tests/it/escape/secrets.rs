//! Secrets against patient attackers: several runs, help from outside, and files that are not what they seem.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::lifetime::TIMEOUT;
use super::world::{User, World, announce_skip};
use crate::support::{parsed, wait_until};

/// Runs the scripts in order. None may print the secret, not even in a form that hides it from redaction.
fn check(prepare: impl Fn(&World), scripts: &[&str]) {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        prepare(&world);
        world.own_all();
        for script in scripts {
            let output = world.output(script);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!said.contains("hidden-"), "as {user:?}, `{script}` printed {said}");
        }
    }
}

#[test]
fn a_folder_moved_in_one_run_is_hidden_in_the_next() {
    check(|_| (), &["mv conf moved", "cat moved/secret.txt conf/secret.txt"]);
}

#[test]
fn a_folder_moved_in_one_run_is_hidden_in_the_next_by_its_name_too() {
    let prepare = |world: &World| world.write("project/deep/.env", "hidden-env");
    check(prepare, &["cat deep/.env", "mv deep moved", "cat moved/.env deep/.env", "cp -r moved copy; cat copy/.env"]);
}

#[test]
fn a_folder_closed_in_one_run_is_hidden_in_the_next() {
    let prepare = |world: &World| world.write("project/deep/.env", "hidden-env");
    check(prepare, &["chmod 000 deep conf", "chmod 755 deep conf; cat deep/.env conf/secret.txt"]);
}

#[test]
fn the_target_of_a_hidden_link_is_hidden() {
    let prepare = |world: &World| {
        world.write("shared/values", "hidden-env");
        fs::remove_file(world.project().join(".env")).unwrap();
        symlink("../shared/values", world.project().join(".env")).unwrap();
    };
    check(prepare, &["cat .env", "cat ../shared/values"]);
}

#[test]
fn a_rule_holds_through_a_link_in_its_path() {
    let prepare = |world: &World| {
        let project = world.project();
        fs::rename(project.join("conf"), project.join("real")).unwrap();
        symlink("real", project.join("conf")).unwrap();
    };
    check(prepare, &["cat conf/secret.txt", "cat real/secret.txt"]);
}

#[test]
fn what_a_run_printed_in_another_project_is_hidden() {
    let prepare = |world: &World| {
        world.write("other/.git/HEAD", "ref: refs/heads/main\n");
        let other = world.home().join("other");
        let note = world.weir(&["note", "what another project knows is hidden-there"]).current_dir(other).output();
        assert!(note.unwrap().status.success());
    };
    check(prepare, &["grep -rhoa 'hidden-[a-z]*' ~/.local/share/weir", "strings -a ~/.local/share/weir/*/*/*.db*"]);
}

/// Ways to point a run at a hidden path through the arguments of the call.
#[test]
fn what_is_hidden_is_hidden_from_a_run_that_is_about_it() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let ssh = world.home().join(".ssh");
        let key = ssh.join("id_ed25519");
        let (ssh, key) = (ssh.to_str().unwrap(), key.to_str().unwrap());
        let print = "echo \"$FILE_CONTENT\"; cat \"$FILE_PATH\"";
        for arguments in [
            ["run", "--file", ".env", print].as_slice(),
            &["run", "--file", "secret.txt", print],
            &["run", "--file", key, print],
            &["run", "--file", "key", print],
            &["run", "-l", "python", "--file", ".env", "print(FILE_CONTENT)"],
            &["run", "--cwd", ssh, "cat id_ed25519"],
        ] {
            let output = world.weir(arguments).output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!said.contains("hidden-"), "as {user:?}, {arguments:?}: {said}");
        }
        // A hidden folder cannot be a project either.
        let output = world.weir(&["run", "cat id_ed25519"]).current_dir(ssh).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!said.contains("hidden-"), "as {user:?}: {said}");
    }
}

/// Number 9 of the list.
#[test]
fn a_hidden_file_with_another_name_is_refused() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        fs::hard_link(world.project().join(".env"), world.project().join("conf/other-name")).unwrap();
        let output = world.output("cat conf/other-name");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(126), "as {user:?}: {said}");
        assert!(said.contains("hide ") && said.contains(".env") && said.contains("hard link"), "{said}");
        assert!(said.contains("nothing was run"), "{said}");
    }
}

/// Number 26 of the list: while runs are set up, the folder of a hidden file is swapped with a link to elsewhere.
#[test]
fn a_link_swapped_in_while_a_run_is_set_up_shows_nothing() {
    const RUNS: usize = 15;
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let project = world.project();
        world.write("project/aside/secret.txt", "decoy\n");
        symlink("aside", project.join("swap")).unwrap();
        world.own_all();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // The folder is `conf` or `held`, and in between, `conf` is a link.
                    let _ = fs::rename(project.join("conf"), project.join("held"));
                    let _ = fs::rename(project.join("swap"), project.join("conf"));
                    let _ = fs::rename(project.join("conf"), project.join("swap"));
                    let _ = fs::rename(project.join("held"), project.join("conf"));
                }
            });
            let outputs: Vec<Output> = (0..RUNS).map(|_| world.output("cat .env; true")).collect();
            done.store(true, Ordering::Relaxed);
            for output in outputs {
                let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
                // The run takes place in the full sandbox, is ended because a mask was moved, or is refused.
                let known = [Some(0), Some(125), Some(126)].contains(&output.status.code());
                assert!(known && !said.contains("hidden-"), "as {user:?}: {said}");
            }
        });
    }
}

/// Starts a run that does nothing, replaces a file of the project from outside, and returns how the run was ended.
fn ended_by_replacing(world: &World, name: &str, text: &str) -> serde_json::Value {
    let project = world.project();
    let run = world.weir(&["run", "--json", "--timeout", "30", "touch out/up; read -r < <(sleep 60)"]);
    let run = { run }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(TIMEOUT, || project.join("out/up").exists()));
    fs::write(project.join("replacement"), text).unwrap();
    fs::rename(project.join("replacement"), project.join(name)).unwrap();
    parsed(&run.wait_with_output().unwrap())
}

/// An editor saves a hidden file by moving a new one over it, and the kernel removes the mask together with the old
/// file. So the run is ended. What it did in that moment cannot be undone: the moment is short, but it exists.
#[test]
fn a_run_ends_when_a_hidden_file_is_saved() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let answer = ended_by_replacing(&world, ".env", "NAME=hidden-again\n");
        assert_eq!(answer["ended"], "unmasked", "as {user:?}: {answer}");
    }
}

/// The same for files protected from writing: `git` replaces its own files by moving others over them. The audit must
/// not attribute the replacement to the run.
#[test]
fn a_run_ends_when_a_protected_file_is_replaced() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let repository = world.project().join(".git");
        fs::rename(&repository, world.home().join("repository")).unwrap();
        fs::write(&repository, "gitdir: ../repository\n").unwrap();
        world.own_all();
        let answer = ended_by_replacing(&world, ".git", "gitdir: ../repository\n\n");
        assert_eq!(answer["ended"], "unmasked", "as {user:?}: {answer}");
        assert_eq!(fs::read_to_string(&repository).ok().as_deref(), Some("gitdir: ../repository\n\n"), "{answer}");
    }
}

/// A run that does nothing but read may succeed in the moment between the save and its end. Then none of its output is
/// shown or stored.
#[test]
fn what_is_read_while_a_mask_is_lost_is_not_shown() {
    for _ in 0..4 {
        let Some(world) = World::new(User::Plain) else { return announce_skip() };
        let project = world.project();
        world.compile("spin.c");
        let run = world.weir(&["run", "--json", "--timeout", "20", "exec out/probe"]);
        let run = { run }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(wait_until(TIMEOUT, || project.join("out/up").exists()));
        fs::write(project.join(".env.new"), "NAME=hidden-again\n").unwrap();
        fs::rename(project.join(".env.new"), project.join(".env")).unwrap();
        let answer = parsed(&run.wait_with_output().unwrap());
        assert_eq!(answer["ended"], "unmasked", "{answer}");
        assert!(!answer.to_string().contains("hidden-"), "{answer}");
    }
}

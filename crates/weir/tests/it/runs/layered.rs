//! Runs on a layer: what is applied, held back, in conflict, shown, taken back and finished after a kill.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Home, TIMEOUT, WEIR, said, text, wait_until};

fn project() -> Home {
    let home = Home::outside_tmp();
    home.git(&["init", "-q"]);
    home.write("src/a.txt", "one\ntwo\n");
    home.write("src/b.txt", "b\n");
    home
}

fn layered(home: &Home, command: &str) -> String {
    said(&home.weir(&["run", "--layer", "on", command]))
}

#[test]
fn changes_are_applied_and_named() {
    let home = project();
    let answer = layered(&home, "echo three >> src/a.txt; rm src/b.txt; mkdir new; echo n > new/n.txt; cat new/n.txt");
    assert!(answer.contains("changed 1 file, added 1, removed 1: src/a.txt, new/n.txt, src/b.txt"), "{answer}");
    assert_eq!(home.read("src/a.txt"), "one\ntwo\nthree\n");
    assert_eq!(home.read("new/n.txt"), "n\n");
    assert!(!home.at("project/src/b.txt").exists());
}

#[test]
fn a_run_that_changes_nothing_says_nothing_of_changes() {
    let home = project();
    let answer = layered(&home, "cat src/a.txt; : >> src/a.txt");
    assert!(answer.contains("two") && !answer.contains("changed"), "{answer}");
}

#[test]
fn nothing_is_there_before_the_run_ends() {
    let home = project();
    let names = [".envrc", ".mcp.json", ".vscode/tasks.json", "src/a.txt", "src/new.txt"];
    // The run writes until its input ends.
    let script = format!(
        "exec 3<&0; (read -r line <&3; : > /tmp/end) & mkdir .vscode; round=0; until [ -e /tmp/end ]; do \
         for name in {}; do echo planted > $name; done; round=$((round + 1)); echo $round > src/rounds; done",
        names.join(" ")
    );
    // As a person runs it: what a client starts gets no input.
    let mut run = home.command(WEIR, &["run", "--layer", "on", &script]);
    let mut run = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + TIMEOUT;
    let (mut samples, mut rounds) = (0, 0);
    while samples < 1_000 || rounds < 40 {
        assert!(Instant::now() < end && run.try_wait().unwrap().is_none(), "{samples} samples, {rounds} rounds");
        rounds = rounds.max(rounds_written(&home));
        let is_live =
            |name: &&str| std::fs::read_to_string(home.project().join(name)).is_ok_and(|text| text.contains("planted"));
        let live: Vec<&str> = names.into_iter().filter(is_live).collect();
        assert!(live.is_empty(), "live: {live:?}");
        samples += u32::from(rounds > 0);
    }
    drop(run.stdin.take());
    let output = run.wait_with_output().unwrap();
    assert!(names[..3].iter().all(|name| !home.project().join(name).exists()), "{}", text(&output.stdout));
    assert_eq!(home.read("src/new.txt"), "planted\n");
}

/// Returns how often the run has written its files, as its layer says.
fn rounds_written(home: &Home) -> u32 {
    let file = layers(home).into_iter().find(|layer| has_file(layer, "rounds"));
    let rounds = file.and_then(|file| std::fs::read_to_string(file).ok());
    // A file that is just being written is empty.
    rounds.and_then(|rounds| rounds.trim().parse().ok()).unwrap_or_default()
}

#[test]
fn what_would_run_code_later_is_held_back_and_can_be_accepted() {
    let home = project();
    let answer = layered(&home, "echo evil > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json; echo fine > ok.txt");
    assert!(answer.contains("held back .envrc") && answer.contains("held back .vscode"), "{answer}");
    assert!(!home.at("project/.envrc").exists() && !home.at("project/.vscode").exists());
    assert_eq!(home.read("ok.txt"), "fine\n");
    let accept = answer.lines().find(|line| line.contains("held back .envrc")).unwrap();
    let accept = accept.split("to accept it: ").nth(1).unwrap();
    assert!(home.command("sh", &["-c", accept]).status().unwrap().success());
    assert_eq!(home.read(".envrc"), "evil\n");
}

#[test]
fn a_program_that_would_run_as_its_owner_is_held_back() {
    let home = project();
    let answer = layered(&home, "cp /bin/true t; chmod u+s t 2>/dev/null || true; cp /bin/true u; ls");
    let mode = home.at("project/t").metadata().map_or(0, |about| about.permissions().mode());
    assert_eq!(mode & 0o6000, 0, "{answer}");
    assert!(home.at("project/u").exists(), "{answer}");
}

#[test]
fn a_file_that_was_saved_during_the_run_is_not_overwritten() {
    let home = project();
    let script = "echo from the run >> src/a.txt; echo ready > src/ready; sleep 1.5";
    let mut run = home.weir_command(&["run", "--layer", "on", script]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(900));
    home.write("src/a.new", "from an editor\n");
    std::fs::rename(home.at("project/src/a.new"), home.at("project/src/a.txt")).unwrap();
    let output = run.wait_with_output().unwrap();
    let answer = said(&output);
    assert!(answer.contains("src/a.txt is not the run's version"), "{answer}");
    assert_eq!(home.read("src/a.txt"), "from an editor\n");
    assert!(home.at("project/src/ready").exists());
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let home = project();
    let before = tree(&home.project());
    let answer =
        home.ok(&["run", "--dry", "sed -i s/two/TWO/ src/a.txt; echo x > src/new.txt; rm src/b.txt; echo done"]);
    assert!(answer.contains("-two\n+TWO"), "{answer}");
    assert!(answer.contains("nothing was changed; the run would have changed 1 file, added 1, removed 1"), "{answer}");
    assert_eq!(tree(&home.project()), before);
    let data = home.json(&["run", "--dry", "echo y >> src/a.txt"]);
    assert!(data["diff"].as_str().unwrap().contains("+y"), "{data}");
}

#[test]
fn a_dry_run_without_a_layer_does_not_run() {
    let home = project();
    home.configure("sandbox = \"off\"\n");
    let output = home.weir(&["run", "--dry", "echo x > src/new.txt"]);
    assert_eq!(output.status.code(), Some(126), "{}", said(&output));
    assert!(said(&output).contains("cannot run on a layer"), "{}", said(&output));
    assert!(!home.at("project/src/new.txt").exists());
}

#[test]
fn the_last_run_can_be_taken_back_once() {
    let home = project();
    let before = tree(&home.project());
    layered(
        &home,
        "echo three >> src/a.txt; rm src/b.txt; mkdir -p d/e; echo n > d/e/n; chmod 700 src; ln -s a.txt src/l",
    );
    assert_ne!(tree(&home.project()), before);
    let answer = home.ok(&["undo"]);
    assert!(answer.contains("took back"), "{answer}");
    assert_eq!(tree(&home.project()), before);
    let again = home.weir(&["undo"]);
    assert!(!again.status.success() && said(&again).contains("nothing to undo"), "{}", said(&again));
}

#[test]
fn what_changed_since_is_not_taken_back() {
    let home = project();
    layered(&home, "echo three >> src/a.txt; echo c > src/c.txt");
    home.write("src/a.txt", "mine\n");
    let output = home.weir(&["undo"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("left src/a.txt"), "{}", said(&output));
    assert_eq!(home.read("src/a.txt"), "mine\n");
    assert!(!home.at("project/src/c.txt").exists());
}

#[test]
fn a_killed_run_leaves_nothing_and_the_next_command_says_so() {
    let home = project();
    let before = tree(&home.project());
    let mut run = home.weir_command(&["run", "--layer", "on", "echo x >> src/a.txt; sleep 60"]).spawn().unwrap();
    assert!(wait_until(Duration::from_secs(20), || layers(&home).iter().any(|layer| has_file(layer, "a.txt"))));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(wait_until(Duration::from_secs(10), || {
        let output = home.weir(&["runs"]);
        said(&output).contains("nothing that it wrote was applied")
    }));
    assert_eq!(tree(&home.project()), before);
    // What is left is removed in the background, by the next command at the latest.
    assert!(wait_until(TIMEOUT, || {
        home.weir(&["runs"]);
        !layers(&home).iter().any(|layer| has_file(layer, "a.txt"))
    }));
}

#[test]
fn a_run_that_cannot_rename_a_folder_says_why() {
    let home = project();
    let answer = layered(&home, "python3 -c 'import os; os.rename(\"src\", \"lib\")' || true");
    assert!(answer.contains("rename a folder that existed before the run"), "{answer}");
}

#[test]
fn a_model_gets_a_layer_where_the_configuration_says_so() {
    let home = project();
    home.configure("[run]\nlayer = \"auto\"\n");
    let mut server = home.server();
    let answer = server.call("ctx_execute", &serde_json::json!({ "code": "echo evil > .envrc; echo x > new.txt" }));
    assert!(answer.contains("held back .envrc") && answer.contains("added 1 file: new.txt"), "{answer}");
    // A person's own run is direct.
    let own = said(&home.weir(&["run", "echo y > own.txt"]));
    assert!(!own.contains("added"), "{own}");
}

/// Returns everything in a folder but the git directory: names, types, modes and contents.
fn tree(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(|e| e.file_name() != ".git")
    {
        let entry = entry.unwrap();
        let about = entry.path().symlink_metadata().unwrap();
        let content = match about.file_type() {
            kind if kind.is_file() => std::fs::read_to_string(entry.path()).unwrap(),
            kind if kind.is_symlink() => std::fs::read_link(entry.path()).unwrap().display().to_string(),
            _ => String::new(),
        };
        lines.push(format!("{} {:o} {content}", entry.path().display(), about.permissions().mode()));
    }
    lines
}

fn layers(home: &Home) -> Vec<std::path::PathBuf> {
    let folder = home.data().join("layers");
    walkdir::WalkDir::new(folder).into_iter().flatten().map(walkdir::DirEntry::into_path).collect()
}

fn has_file(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|file| file == name)
}

//! However a run ends, none of its processes remain, and its output until then is stored.

use std::fs::File;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::answers::{printed, reference};
use crate::support::{Home, Server, TIMEOUT, WEIR, text, wait_until};

/// How long a process may outlive its run. The kernel needs milliseconds.
const MAX_OUTLIVING: Duration = Duration::from_secs(3);
/// How long a server may continue after its client is gone.
const MAX_TIME_WITHOUT_CLIENT: Duration = Duration::from_secs(5);

/// A program that does what it can to survive: double-forked, in its own session, ignoring signals, with its output
/// open and a lock that shows that it is alive.
const STAYS: &str = r#"
import fcntl, os, signal, sys, time
print("printed before the end", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        lock = open("lock-NAME", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        open("up-NAME", "w").close()
        while True: time.sleep(1)
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"#;

/// Returns the arguments of a call that runs the program under this name.
fn stays(name: &str) -> Value {
    json!({ "language": "python", "code": STAYS.replace("NAME", name), "timeout": 60 })
}

/// Waits until the lock is free, and checks that no process of the run is left.
fn check_gone(home: &Home, name: &str) {
    let lock = File::open(home.project().join(format!("lock-{name}"))).unwrap();
    assert!(wait_until(MAX_OUTLIVING, || lock.try_lock().is_ok()), "{name} lives on");
    let left = || processes(home).into_iter().filter(|words| words.contains("weir-run")).collect::<Vec<_>>();
    assert!(wait_until(MAX_OUTLIVING, || left().is_empty()), "{:?}", left());
}

fn processes(home: &Home) -> Vec<String> {
    let mark = format!("HOME={}\0", home.path().display());
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let read = |path: &std::path::Path, name: &str| {
        String::from_utf8_lossy(&std::fs::read(path.join(name)).unwrap_or_default()).into_owned()
    };
    all.filter(|path| read(path, "environ").contains(&mark)).map(|path| read(&path, "cmdline")).collect()
}

/// Waits until the newest run is stored, and reads it.
fn check_kept(home: &Home) {
    let mut listed = String::new();
    let kept = wait_until(TIMEOUT, || {
        listed = text(&home.weir(&["history"]).stdout);
        listed.contains("[ctx:")
    });
    assert!(kept, "no run in the history: {listed}");
    let got = home.ok(&["get", &reference(&listed)]);
    assert!(got.contains("\nprinted before the end\n"), "{got}");
    assert!(home.ok(&["search", "printed before"]).contains("printed before the end"));
}

fn started(home: &Home, name: &str) -> (Server, i64) {
    let mut server = home.server();
    let call = server.begin("ctx_execute", stays(name));
    home.wait_for(&format!("up-{name}"));
    (server, call)
}

#[test]
fn a_timeout_ends_all_of_it_and_shows_what_was_printed() {
    let home = Home::with_programs();
    let mut server = home.server();
    let arguments = json!({ "language": "python", "code": STAYS.replace("NAME", "a"), "timeout": 5 });
    let answer = server.said("ctx_execute", &arguments);
    assert!(answer.starts_with("timed out and ended after 5"), "{answer}");
    assert_eq!(printed(&answer), "printed before the end", "{answer}");
    check_gone(&home, "a");
    check_kept(&home);
}

#[test]
fn the_end_of_the_program_is_the_end_of_what_it_left_behind() {
    let home = Home::with_programs();
    let mut server = home.server();
    let code =
        STAYS.replace("NAME", "a").replace("time.sleep(600)", "while not os.path.exists('up-a'): time.sleep(0.01)");
    let answer = server.said("ctx_execute", &json!({ "language": "python", "code": code, "timeout": 60 }));
    assert!(answer.starts_with("exit 0 in "), "{answer}");
    assert!(answer.contains("; 1 still running in the background, ended with it\n"), "{answer}");
    check_gone(&home, "a");
    check_kept(&home);
}

/// A shell does not wait for a process substitution, whose output arrives slightly after the shell's end.
#[test]
fn what_is_printed_a_moment_later_is_not_lost() {
    let home = Home::with_programs();
    let mut server = home.server();
    for _ in 0..10 {
        let answer = server.said("ctx_execute", &json!({ "code": "exec > >(tee log.txt); echo through a tee" }));
        assert!(printed(&answer) == "through a tee" && !answer.contains("still running"), "{answer}");
        let answer = server.said("ctx_execute", &json!({ "code": "echo one | tee >(tr a-z A-Z >&2)" }));
        assert!(answer.contains("one") && answer.contains("ONE"), "{answer}");
    }
}

#[test]
fn a_cancelled_call_ends_all_of_it_and_keeps_what_was_printed() {
    let home = Home::with_programs();
    let (mut server, call) = started(&home, "a");
    server.notify("notifications/cancelled", json!({ "requestId": call, "reason": "the user pressed escape" }));
    check_gone(&home, "a");
    check_kept(&home);
    // The server continues, and the next answer is that of the next call.
    assert_eq!(printed(&server.said("ctx_execute", &json!({ "code": "echo here" }))), "here");
}

#[test]
fn a_cancelled_batch_ends_all_of_its_commands() {
    let home = Home::with_programs();
    let mut server = home.server();
    let commands: Vec<String> =
        ["a", "b", "c"].iter().map(|name| format!("python3 - <<'END'\n{}\nEND", STAYS.replace("NAME", name))).collect();
    let call = server.begin("ctx_batch_execute", json!({ "commands": commands, "timeout": 60 }));
    ["up-a", "up-b", "up-c"].iter().for_each(|name| home.wait_for(name));
    server.notify("notifications/cancelled", json!({ "requestId": call }));
    ["a", "b", "c"].iter().for_each(|name| check_gone(&home, name));
    check_kept(&home);
}

#[test]
fn a_client_that_goes_away_ends_the_server_and_its_runs() {
    let home = Home::with_programs();
    let (mut server, _) = started(&home, "a");
    server.input = None;
    let took = server.wait_for_end();
    assert!(took <= MAX_TIME_WITHOUT_CLIENT + MAX_OUTLIVING, "the server went on for {took:?}");
    check_gone(&home, "a");
    check_kept(&home);
}

#[test]
fn a_killed_server_leaves_nothing_running_and_a_sound_store() {
    let home = Home::with_programs();
    home.ok(&["note", "kept before"]);
    let (mut server, _) = started(&home, "a");
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    check_gone(&home, "a");
    assert!(wait_until(MAX_OUTLIVING, || processes(&home).is_empty()), "{:?}", processes(&home));
    assert!(home.ok(&["search", "kept"]).contains("kept before"));
    home.ok(&["doctor"]);
}

/// Sends a signal and waits for the end of the program.
fn interrupt(home: &Home, process: &mut Child, signal: &str) -> ExitStatus {
    let sent = home.command("kill", &[&format!("-{signal}"), &process.id().to_string()]).status().unwrap();
    assert!(sent.success(), "kill: {sent}");
    let ended = wait_until(MAX_TIME_WITHOUT_CLIENT + MAX_OUTLIVING, || process.try_wait().unwrap().is_some());
    let _ = process.kill();
    let status = process.wait().unwrap();
    assert!(ended, "SIG{signal} does not end it");
    status
}

#[test]
fn a_person_who_interrupts_a_run_ends_it_and_keeps_what_was_printed() {
    for signal in ["INT", "TERM", "HUP"] {
        let home = Home::with_programs();
        let code = STAYS.replace("NAME", "a");
        // A signal that is ignored where the tests are started would be ignored here too.
        let words = ["--default-signal=INT,TERM,HUP", WEIR, "run", "-l", "python", &code];
        let mut command = home.command("env", &words);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        home.wait_for("up-a");
        let status = interrupt(&home, &mut process, signal);
        assert_eq!(status.code(), Some(130), "SIG{signal}: {status}");
        check_gone(&home, "a");
        check_kept(&home);
    }
}

#[test]
fn a_server_that_is_told_to_end_keeps_what_was_printed() {
    for signal in ["TERM", "HUP"] {
        let home = Home::with_programs();
        let (mut server, _) = started(&home, "a");
        interrupt(&home, &mut server.process, signal);
        check_gone(&home, "a");
        check_kept(&home);
    }
}

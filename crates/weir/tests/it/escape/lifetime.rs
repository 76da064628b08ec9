//! Lifetimes and limits: nothing outlives a run, however it ends, and nothing exhausts the machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::world::{Machine, User, World, announce_skip};
use super::{Probe, ProbeArguments, check};
use crate::support::{parsed, wait_until};

/// Long, because a loaded machine is slow. An event that never occurs still fails the test.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a process may outlive its run. The kernel needs milliseconds.
const MAX_OUTLIVING: Duration = Duration::from_secs(3);
/// A process that has left no trace for this long is gone.
pub(super) const QUIET_TIME: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Returns,
    Timeout,
    Killed,
    ServerKilled,
}

fn check_survivors(user: User, machine: Machine, probe: &str, end: End) {
    let world = match machine {
        Machine::Whole => World::new(user),
        Machine::WithoutNamespaces => World::without_namespaces(user),
        Machine::Container(names) => World::in_container(user, names),
    };
    let Some(world) = world else { return announce_skip() };
    if machine == Machine::WithoutNamespaces {
        world.configure("sandbox = \"best-effort\"");
    }
    world.compile(probe);
    let code = if end == End::Returns { "exec out/probe leave" } else { "exec out/probe stay" };
    match end {
        End::Returns => {
            let answer = world.run(code);
            assert_eq!((&answer["ended"], &answer["exit_code"]), (&"exited".into(), &0.into()), "{answer}");
        }
        End::Timeout => {
            let answer = parsed(&world.weir(&["run", "--json", "--timeout", "2", code]).output().unwrap());
            assert_eq!(answer["ended"], "timeout", "{answer}");
        }
        End::Killed => {
            let mut process = world.weir(&["run", code]).stdout(Stdio::null()).spawn().unwrap();
            kill_when_up(&world, &mut process);
        }
        End::ServerKilled => {
            let mut server = world.weir(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            ask(&mut server, code);
            kill_when_up(&world, &mut server);
        }
    }
    let up = world.project().join("out/up");
    assert!(up.exists(), "the probe did not get that far");
    // A comet is easily missed among the processes, but its trace shows it.
    let quiet = || up.metadata().unwrap().modified().unwrap().elapsed().is_ok_and(|time| time > QUIET_TIME);
    let gone = wait_until(MAX_OUTLIVING, || survivors(&world).is_empty() && quiet());
    assert!(gone, "as {user:?}, {machine:?}, {end:?}: {:?}", survivors(&world));
}

fn kill_when_up(world: &World, process: &mut std::process::Child) {
    let up = world.project().join("out/up");
    let came = wait_until(TIMEOUT, || up.exists());
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(came, "the probe never came up");
}

pub(super) fn ask(server: &mut std::process::Child, code: &str) {
    let client = json!({ "name": "tester", "version": "1.0.0" });
    let start = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": { "name": "ctx_execute", "arguments": { "code": code } } }),
    ];
    let input = server.stdin.as_mut().unwrap();
    writeln!(input, "{}", messages[0]).unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("\"id\":1"), "{first}");
    messages[1..].iter().for_each(|message| writeln!(input, "{message}").unwrap());
}

/// Returns the processes that have the world's folder in their environment or arguments: everything the run started,
/// and the program itself.
fn survivors(world: &World) -> Vec<String> {
    let home = world.home();
    let mark = home.parent().unwrap().to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()));
    let about = |path: &Path| {
        let read = |name: &str| fs::read(path.join(name)).unwrap_or_default();
        let words = String::from_utf8_lossy(&[read("cmdline"), read("environ")].concat()).replace('\0', " ");
        words.contains(mark).then_some(words)
    };
    processes.filter_map(|entry| about(&entry.path())).collect()
}

#[test]
fn nothing_outlives_the_return_of_the_program() {
    for user in [User::Plain, User::Root] {
        check_survivors(user, Machine::Whole, "orphan.c", End::Returns);
    }
}

/// Number 49 of the list.
#[test]
fn nothing_outlives_the_timeout() {
    for user in [User::Plain, User::Root] {
        check_survivors(user, Machine::Whole, "orphan.c", End::Timeout);
    }
}

/// Number 50 of the list.
#[test]
fn nothing_outlives_the_one_who_asked() {
    for user in [User::Plain, User::Root] {
        check_survivors(user, Machine::Whole, "orphan.c", End::Killed);
        check_survivors(user, Machine::Whole, "orphan.c", End::ServerKilled);
    }
}

#[test]
fn a_process_that_is_never_the_same_is_ended_too() {
    check_survivors(User::Plain, Machine::Whole, "comet.c", End::Timeout);
    check_survivors(User::Root, Machine::Whole, "comet.c", End::Killed);
}

#[test]
fn nothing_outlives_a_run_without_namespaces() {
    for end in [End::Returns, End::Timeout, End::Killed, End::ServerKilled] {
        check_survivors(User::Plain, Machine::WithoutNamespaces, "orphan.c", end);
    }
}

#[test]
fn a_process_that_is_never_the_same_is_ended_without_namespaces() {
    check_survivors(User::Plain, Machine::WithoutNamespaces, "comet.c", End::Timeout);
}

#[test]
fn the_first_process_cannot_be_ended_from_inside() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let code = "kill -KILL 1; kill -STOP 1; kill -SEGV 1; kill -KILL -1; echo still here";
        let answer = world.run(code);
        assert_eq!((&answer["ended"], &answer["exit_code"]), (&"exited".into(), &0.into()), "{answer}");
        assert!(answer["text"].as_str().unwrap().ends_with("still here"), "{answer}");
    }
}

const FORKS: Probe = Probe { source: "forks.c", told: nothing, rows: &[("46 fork 6,000 times", "EAGAIN")] };

#[test]
fn a_user_makes_only_so_many_processes() {
    check(User::Plain, &FORKS);
}

#[test]
fn root_makes_only_so_many_processes() {
    check(User::Root, &FORKS);
}

const CROWD: Probe = Probe { source: "crowd.c", told: nothing, rows: &[("+ make a million files in /tmp", "ENOSPC")] };

#[test]
fn the_private_tmp_holds_only_so_many_files() {
    check(User::Plain, &CROWD);
    check(User::Root, &CROWD);
}

/// The kernel removes what a run left in memory before the run is over.
#[test]
fn a_run_that_fills_its_tmp_with_folders_ends_on_time() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let endless =
        "import os\nn = 0\nwhile True:\n    n += 1\n    try: os.mkdir(f'/tmp/{n}')\n    except OSError: pass\n";
    world.write("project/out/fill.py", endless);
    let code = "exec python3 out/fill.py";
    let answer = parsed(&world.weir(&["run", "--json", "--timeout", "10", code]).output().unwrap());
    assert_eq!(answer["ended"], "timeout", "{answer}");
    assert!(answer["millis"].as_u64().unwrap() < 14_000, "{answer}");
}

fn nothing(_: &World) -> ProbeArguments {
    ProbeArguments { words: Vec::new(), _kept: Box::new(()) }
}

fn check_memory(way: &str) {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure("[run]\nmemory_mb = 150");
        world.compile("blind.c");
        let answer = world.run(&format!("exec out/probe {way}"));
        assert_eq!(answer["ended"], "memory", "{way} as {user:?}: {answer}");
    }
}

#[test]
fn private_memory_is_counted() {
    check_memory("private");
}

#[test]
fn shared_memory_is_counted() {
    check_memory("shared");
}

#[test]
fn segments_that_nobody_has_attached_are_counted() {
    check_memory("segments");
}

#[test]
fn the_watch_over_memory_cannot_be_blinded() {
    check_memory("limits");
}

/// Memory that the kernel keeps for a run, and that is no process's own.
#[test]
fn files_in_memory_and_full_sockets_are_counted() {
    const SOCKETS: &str = "import socket, time\n\
        server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(200); kept = []\n\
        for _ in range(150):\n\
        \x20   c = socket.create_connection(server.getsockname()); c.setblocking(False)\n\
        \x20   kept.append((c, server.accept()))\n\
        \x20   try:\n\
        \x20       while True: c.send(bytes(1 << 16))\n\
        \x20   except BlockingIOError: pass\n\
        time.sleep(60)\n";
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        world.configure("[run]\nmemory_mb = 150");
        world.write("project/out/sockets.py", SOCKETS);
        for code in [
            "head -c 400M /dev/zero > /tmp/x; sleep 60",
            "head -c 400M /dev/zero > /dev/shm/x; sleep 60",
            "exec python3 out/sockets.py",
        ] {
            let answer = world.run(code);
            assert_eq!(answer["ended"], "memory", "{code} as {user:?}: {answer}");
        }
    }
}

#[test]
fn the_private_tmp_has_a_size() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let code = "for n in 1 2 3 4 5 6 7 8; do head -c 1900M /dev/zero > /tmp/$n || break; done 2>&1";
    let answer = world.run(code);
    assert!(answer["text"].as_str().unwrap().contains("No space left on device"), "{answer}");
}

/// Number 48 of the list, with as much output as a debug build prints during a test.
#[test]
fn memory_does_not_grow_with_the_output() {
    const MEASURE: &str = "import resource, subprocess, sys\n\
        code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n\
        print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let program = world.home().parent().unwrap().join("weir");
    let measured = |bytes: &str| {
        let code = format!("yes 'one line of output like any other' | head -c {bytes}");
        let run = [program.to_str().unwrap(), "run", &code];
        let output = world.command(&[&["/usr/bin/python3", "-c", MEASURE], &run[..]].concat()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let (code, kilobytes) = said.trim().split_once(' ').unwrap_or_else(|| panic!("{said}"));
        assert_eq!(code, "0", "{said}");
        kilobytes.parse::<u64>().unwrap()
    };
    let (small, large) = (measured("1M"), measured("32M"));
    assert!(large < small + (8 << 10), "{small} KB for a little output, {large} KB for much");
}

/// Each attempt, with its outcome in the full sandbox and at the Landlock level.
const TERMINAL: &[(&str, &str, &str)] = &[
    ("45 type into the terminal by standard input", "EPERM", "EPERM"),
    ("45 type into the terminal by standard output", "EPERM", "EPERM"),
    ("45 type into the terminal by standard error", "EPERM", "EPERM"),
    ("+ open the terminal by its own name", "ENOENT", "EACCES"),
    ("+ open the terminal by its path", "ENOENT", "EACCES"),
    ("+ read the terminal by its own name", "ENOENT", "EACCES"),
    ("+ read the terminal by its path", "ENOENT", "EACCES"),
    ("+ take the terminal of standard output", "ENOTTY", "ENOTTY"),
];

/// Makes the attempts from a terminal, in a sandbox of this level.
fn check_terminal(world: &World, level: &str) {
    world.compile("terminal.c");
    let probes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/escape/probes");
    fs::copy(probes.join("terminal.py"), world.home().join("terminal.py")).unwrap();
    let (script, program) = (world.home().join("terminal.py"), world.home().parent().unwrap().join("weir"));
    let code = "exec out/probe a b {tty} > out/results";
    let words = ["/usr/bin/python3", script.to_str().unwrap(), program.to_str().unwrap(), "run", "--json", code];
    let output = world.command(&words).output().unwrap();
    let answer: Value = parsed(&output);
    assert_eq!(answer["sandbox"], level, "{answer}");
    let said = fs::read_to_string(world.project().join("out/results")).unwrap();
    let outcome = |full, landlock| if level == "full" { full } else { landlock };
    let expected = TERMINAL.iter().map(|(name, full, landlock)| format!("{name}\t{}\n", outcome(*full, *landlock)));
    assert_eq!(said, expected.collect::<String>());
}

/// Number 45 of the list, with the terminal that a person uses.
#[test]
fn nothing_is_typed_into_the_terminal_of_the_one_who_asked() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        check_terminal(&world, "full");
    }
}

#[test]
fn nothing_is_read_from_that_terminal_at_the_landlock_level() {
    let Some(world) = World::without_namespaces(User::Plain) else { return announce_skip() };
    world.configure("sandbox = \"best-effort\"");
    check_terminal(&world, "landlock");
}

/// A run may do anything to its own processes; the test is that it has no further power.
#[test]
fn a_run_has_no_powers_left() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let answer = world.run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '[:space:]' ' '");
        let none = "0000000000000000";
        let expected = format!(
            "CapInh: {none} CapPrm: {none} CapEff: {none} CapBnd: {none} CapAmb: {none} NoNewPrivs: 1 Seccomp: 2"
        );
        assert_eq!(answer["text"].as_str().unwrap().trim(), expected, "as {user:?}");
    }
}

/// A set-user-id program of root's keeps the user's rights inside.
#[test]
fn programs_that_run_as_their_owner_do_not() {
    if !super::world::is_root() {
        return announce_skip();
    }
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let program = world.home().parent().unwrap().join("whoami");
    fs::copy("/usr/bin/id", &program).unwrap();
    assert_eq!(fs::metadata(&program).unwrap().uid(), 0);
    let mode = Command::new("chmod").arg("4755").arg(&program).status().unwrap();
    assert!(mode.success());
    let answer = world.run(&format!("{} -u", program.display()));
    assert_eq!(answer["text"], "65534", "{answer}");
}

//! `weir bug`: whatever a home contains, none of it is in the report.

use std::fs;

use serde_json::json;

use crate::support::{Home, WEIR, said, text, write};

/// What is planted: in names of folders and files, in texts, in settings, and in what hooks are told.
const PLANTED: &[&str] = &[
    "acme-rocket",
    "zebra-branch",
    "git.acme.example",
    "vault-server",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "correct-horse",
    "launch code",
    "quagga",
    "internal.acme.example",
    "okapi-event",
    "numbat",
    "ana-secret",
    "tapir",
];

fn home() -> Home {
    let home = Home::outside_tmp();
    let project = home.at("project/acme-rocket");
    fs::create_dir_all(&project).unwrap();
    home.git_in(&project, &["init", "--quiet", "--initial-branch", "zebra-branch"]);
    home.git_in(
        &project,
        &["remote", "add", "origin", "https://ana-secret:correct-horse@git.acme.example/acme-rocket.git"],
    );
    write(&project.join("numbat.md"), "# The launch code\n\nquagga\n");
    home.git_in(&project, &["add", "."]);
    home.git_in(&project, &["commit", "--quiet", "--message", "quagga"]);
    let server = json!({ "command": "vault-server", "env": { "TOKEN": PLANTED[4] } });
    write(&home.at(".claude.json"), json!({ "mcpServers": { "vault-server": server } }).to_string());
    home.configure(
        "network = \"allow-list\"\n[run]\nhosts = [\"internal.acme.example\"]\nenvironment = [\"ACME_TAPIR\"]\n\
         [hold]\nasked_tokens = 6000\noff = [\"Bash(tapir*)\"]\n",
    );
    let programs = home.at("programs");
    write(&programs.join("package.json"), "{\"version\": \"2.1.325-numbat\"}");
    write(&programs.join("bin/claude"), "#!/bin/sh\n");
    let ok = |arguments: &[&str]| {
        let output = home.weir_in(&project, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    };
    ok(&["note", "The launch code is correct-horse", "--topic", "quagga"]);
    ok(&["run", "echo quagga"]);
    ok(&["index", "numbat.md"]);
    home.rules(&json!({ "deny": ["Read(./numbat.md)", "Bash(tapir:*)"] }));
    ok(&["setup", "claude", "--yes"]);
    let payload = json!({ "session_id": "okapi-event", "cwd": project, "prompt": "use the launch code of the quagga" });
    home.raw_hook("claude", "UserPromptSubmit", payload.to_string().as_bytes());
    let faults = "2026-11-19 10:00Z claude PostToolUse: error: cannot use /home/ana-secret/numbat: Permission denied\n\
                  okapi-event tapir quagga: the launch code\n";
    write(&home.data().join("hook-faults.log"), faults);
    home
}

#[test]
fn a_report_has_nothing_that_anybody_wrote() {
    let home = home();
    let project = home.at("project/acme-rocket");
    let report = |arguments: &[&str]| {
        let mut command = home.command(WEIR, &[&["bug"], arguments].concat());
        let output = command.current_dir(&project).env("ACME_TAPIR", "correct-horse").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        text(&output.stdout)
    };
    let file = home.at("report.txt");
    report(&["--output", file.to_str().unwrap()]);
    let (shown, data, written) = (report(&[]), report(&["--json"]), fs::read_to_string(&file).unwrap());
    assert_eq!(shown, written);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let own = [
        home.path().to_str().unwrap(),
        home.path().file_name().unwrap().to_str().unwrap(),
        "/home",
        "/var",
        host.trim(),
    ];
    for text in [&shown, &data] {
        for planted in PLANTED.iter().chain(&own) {
            assert!(!text.contains(planted), "{planted:?} is in\n{text}");
        }
    }
    for part in [
        concat!("Weir ", env!("CARGO_PKG_VERSION"), "\nsystem: linux "),
        "\nsandbox: ",
        "\n  Claude Code: ",
        "\n  network: a text\n",
        "\n  run.hosts: a list of 1\n",
        "\n  hold.asked_tokens: 6000\n",
        "\n  ✗ ",
        "hook failures",
        "\n  project: ",
        "1 note, ",
        "\nfailures of hooks (2):\n  some day, no client: something else\n  2026-11-19, Claude Code: permission denied\n",
        "\nLeft out: ",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

#[test]
fn a_report_replaces_no_file_and_makes_no_store() {
    let home = Home::new();
    let file = home.at("report.txt");
    fs::write(&file, "mine").unwrap();
    let output = home.piped(&["bug", "--output", file.to_str().unwrap()]);
    assert_eq!((output.status.code(), fs::read_to_string(&file).unwrap().as_str()), (Some(1), "mine"));
    home.configure("this is not TOML");
    let output = home.piped(&["bug"]);
    assert!(
        output.status.success() && text(&output.stdout).contains("\n  the file: cannot be used\n"),
        "{}",
        said(&output)
    );
    assert!(!home.data().join("projects").exists());
}

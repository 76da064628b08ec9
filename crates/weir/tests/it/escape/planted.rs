//! Files that a run leaves to be executed later, outside: they are moved away or reported.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use weir_policy::audit::Kind;
use weir_policy::audit::names::NAMES;

use super::lifetime::{QUIET_TIME, TIMEOUT, ask};
use super::world::{User, World, announce_skip};
use crate::support::{parsed, wait_until};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It cannot be created.
    Refused,
    MovedAway,
    /// It stays, and the answer says so.
    Said,
}

/// Runs a script and checks the file that it planted at a path, which the answer must name.
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

/// The run cannot change a file that existed before, so any change during the run was made by someone else.
#[test]
fn what_the_user_changes_during_a_run_stays() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let (project, settings) = (world.project(), world.project().join(".vscode/settings.json"));
    world.write("project/.vscode/settings.json", "{}");
    let code = "touch out/up; while [ ! -e out/saved ]; do :; done";
    let run = world.weir(&["run", "--json", "--timeout", "30", code]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(TIMEOUT, || project.join("out/up").exists()));
    fs::write(&settings, "{ \"changed\": \"by the user\" }").unwrap();
    fs::write(project.join("out/saved"), "").unwrap();
    let answer = parsed(&run.wait_with_output().unwrap());
    assert_eq!(fs::read_to_string(settings).ok().as_deref(), Some("{ \"changed\": \"by the user\" }"), "{answer}");
    assert!(answer["remarks"].to_string().contains("not by the run"), "{answer}");
}

/// A file that the run can write may have been changed by it.
#[test]
fn an_all_clear_is_given_only_where_it_is_known() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    world.write("project/CLAUDE.md", "x");
    world.write("project/conftest.py", "");
    world.write("project/.mcp.json", "{}");
    fs::hard_link(world.project().join(".mcp.json"), world.project().join("out/other-name")).unwrap();
    let code = "echo EVIL >> CLAUDE.md; echo import os >> conftest.py; echo > Makefile; echo evil > out/other-name";
    let answer = world.run(code);
    let remarks = answer["remarks"].to_string();
    assert!(!remarks.contains("not by the run"), "{answer}");
    for name in ["CLAUDE.md (instr", "conftest.py (run by pytest)", "Makefile (new, run by make)", ".mcp.json ("] {
        assert!(remarks.contains(name), "no {name} in {answer}");
    }
}

/// Every name in the list that runs code or addresses a model on its own.
#[test]
fn no_name_that_runs_code_by_itself_stays() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let names = NAMES.iter().filter(|known| known.kind == Kind::Quarantine);
    let paths: Vec<String> = names.map(|known| format!("lib/{}", known.name.replace('*', "x"))).collect();
    let make = |path: &String| format!("mkdir -p \"$(dirname {path})\"; echo evil > {path}\n");
    let answer = world.run(&paths.iter().map(make).collect::<String>());
    assert_eq!(answer["exit_code"], 0, "{answer}");
    let left: Vec<&String> = paths.iter().filter(|path| world.project().join(path).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(answer["remarks"].to_string().contains("more like this"), "{answer}");
}

/// Plants once it is told to, and stays.
const PLANTER: &str = "touch out/up; while [ ! -e out/go ]; do sleep 0.05; done; echo evil > .envrc; mkdir -p .vscode; \
                       echo {} > .vscode/tasks.json; mkdir -p conf/deep; echo evil > conf/deep/.envrc; \
                       touch out/planted; while :; do touch out/up; sleep 0.05; done";

#[test]
fn planted_things_are_moved_away_while_the_run_goes_on() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let project = world.project();
    let code = "echo evil > .envrc; mkdir -p conf/deep .vscode; echo > conf/deep/.envrc; echo > .vscode/tasks.json; \
                touch out/up; while [ ! -e out/enough ]; do sleep 0.1; done";
    let run = world.weir(&["run", "--json", "--timeout", "60", code]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(wait_until(TIMEOUT, || project.join("out/up").exists()));
    let gone = || [".envrc", ".vscode", "conf/deep/.envrc"].iter().all(|path| !project.join(path).exists());
    let moved = wait_until(TIMEOUT, gone);
    fs::write(project.join("out/enough"), "").unwrap();
    let answer = parsed(&run.wait_with_output().unwrap());
    assert!(moved, "{answer}");
    assert!(answer["remarks"].to_string().contains("conf/deep/.envrc"), "{answer}");
}

/// Nothing honest makes a file again that was moved away. Reacts long before the check that is made every second.
#[test]
fn a_run_that_plants_again_is_ended() {
    for user in [User::Plain, User::Root] {
        let Some(world) = World::new(user) else { return announce_skip() };
        let code = "while :; do mkdir -p .claude; echo {} > .claude/settings.local.json; done 2>/dev/null";
        let answer = parsed(&world.weir(&["run", "--json", "--timeout", "60", code]).output().unwrap());
        assert_eq!(answer["ended"], "planted", "{answer}");
        let remarks = answer["remarks"].to_string();
        assert!(remarks.contains("made .claude again after Weir had moved it away"), "{answer}");
        assert!(!world.project().join(".claude").exists(), "{answer}");
    }
}

/// What is in a folder that cannot be listed can still be used by its name.
#[test]
fn a_folder_that_the_run_closed_is_opened_and_checked() {
    let plant = "mkdir -p lib/.git/objects lib/.git/refs lib/.vscode lib/deep; echo evil > lib/.envrc; \
                 echo {} > lib/.vscode/tasks.json; echo 'ref: refs/heads/m' > lib/.git/HEAD; echo evil > lib/deep/.envrc";
    for close in
        ["chmod 111 lib", "chmod 111 lib/deep lib", "chmod 555 lib/.vscode lib/.git lib", "chmod 0 lib/deep lib"]
    {
        let Some(world) = World::new(User::Plain) else { return announce_skip() };
        fs::create_dir(world.project().join("lib")).unwrap();
        world.own_all();
        let answer = world.run(&format!("{plant}; {close}"));
        for path in ["lib/.git", "lib/.vscode", "lib/.envrc", "lib/deep/.envrc"] {
            let there = world.project().join(path).symlink_metadata();
            assert!(
                there.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound),
                "{close}, {path}: {answer}"
            );
        }
        let remarks = answer["remarks"].to_string();
        assert!(close.contains("555") || remarks.contains("were opened to check them: lib"), "{close}: {answer}");
        if close.contains("555") {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&world.project().join("lib").metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o555, "{answer}");
        }
    }
}

/// Git asks only whether `objects` and `refs` can be searched.
#[test]
fn what_git_takes_for_a_repository_is_moved_away() {
    for make in [
        "ln -s ../s/o x/objects; ln -s ../s/r x/refs",
        "touch x/objects x/refs; chmod +x x/*",
        "echo ../s > x/commondir",
    ] {
        let code =
            format!("mkdir -p x s/o s/r; echo 'ref: refs/heads/main' > x/HEAD; echo '[core]' > x/config; {make}");
        check(&code, "x/HEAD", Fate::MovedAway);
    }
}

#[test]
fn settings_of_other_repositories_cannot_be_changed() {
    let apart = |world: &World| {
        for (path, text) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/x", ""), ("refs/x", "")]
        {
            world.write(&format!("project/gitdata/{path}"), text);
        }
    };
    check_in(apart, "rm gitdata/config; echo evil > gitdata/config", "gitdata/config.worktree", Fate::Refused);
    check_in(apart, "mkdir gitdata/hooks; echo evil > gitdata/hooks/post-checkout", "gitdata/hooks", Fate::MovedAway);
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    apart(&world);
    let answer = world.run("echo '[core] fsmonitor = evil' >> gitdata/config");
    assert_eq!(fs::read_to_string(world.project().join("gitdata/config")).unwrap(), "[core]\n", "{answer}");
}

/// Files that run code or speak to a model, most of them in the folder that they lie in. No list has them all.
#[rustfmt::skip]
const UNKNOWN: &[&str] = &[
    ".iex.exs", ".ghci", ".pryrc", ".irbrc", ".octaverc", ".erlang", ".ocamlinit", ".perldb", ".RData", ".user.ini",
    ".pnp.cjs", ".yarn/releases/yarn.cjs", "bunfig.toml", ".bundle/config", "ansible.cfg", "latexmkrc",
    "jupyter_server_config.py", ".pylintrc", "mypy.ini", ".rspec", ".rubocop.yml", ".config/mise/conf.d/x.toml",
    "mise.production.toml", ".idx/dev.nix", ".replit", ".gitpod.yml", ".codesandbox/tasks.json", "flake.nix", "shell.nix",
    ".forgejo/workflows/x.yml", ".gitea/workflows/x.yml", "docker-compose.override.yml",
    "gradle/wrapper/gradle-wrapper.jar", "AGENT.md", ".rules", "CONVENTIONS.md", ".github/chatmodes/x.md", ".amp/x.md",
    ".pi/x.md", "conductor.json", ".openhands/setup.sh", ".wezterm.lua", ".tmux.conf", ".inputrc", ".screenrc",
    ".sqliterc", ".psqlrc", ".mongorc.js", ".nanorc", ".emacs", ".emacs.d/init.el", ".spacemacs", ".kshrc", ".cshrc",
    ".tcshrc", ".login", ".xinitrc", ".Rhistory", ".Renviron", ".ipython/x.py", ".pythonrc", ".pythonstartup", ".node_repl",
    ".babelrc", ".babelrc.js", ".swcrc", ".mocharc.js", ".lintstagedrc.js", ".commitlintrc.js", ".prettierrc.js",
    ".stylelintrc.js", ".czrc", ".releaserc.js", ".hintrc", ".pnpmfile.cjs", ".npmignore", ".dockerignore", ".sbtopts",
    ".jvmopts", ".scalafix.conf", ".mill-version", ".ruby-version", ".node-version", ".nvmrc", ".python-version",
    ".terraformrc", ".tflint.hcl", ".ansible-lint", ".yamllint", ".markdownlint.cjs", ".flake8", ".coveragerc",
    ".isort.cfg", ".style.yapf", ".pydistutils.cfg", ".condarc", ".actrc", ".woodpecker.yml", ".cirrus.yml",
    ".semaphore/x.yml", ".teamcity/settings.kts", ".harness/x.yaml", ".tekton/x.yaml", ".earthly/config.yml", ".ort.yml",
    ".aiderignore", ".cursorignore", ".codeium/instructions.md", ".tabnine/x", ".sourcery.yaml", ".coderabbit.yaml",
];

#[test]
fn what_no_list_names_is_held_or_named() {
    for path in UNKNOWN {
        assert!(
            weir_policy::audit::judge(Path::new(path), &weir_policy::audit::FileFacts::default()).is_some(),
            "{path}"
        );
    }
    // By what they are: a program, a script and a link, wherever they lie.
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    world.write("project/tools/existing", "#!/bin/sh\n");
    world.write("project/.venv/bin/activate", "#\n");
    for chunk in UNKNOWN.chunks(12) {
        let make = |path: &&str| format!("mkdir -p \"$(dirname {path})\"; echo x > {path}\n");
        let answer = world.run(&chunk.iter().map(make).collect::<String>());
        let remarks = answer["remarks"].to_string();
        let cut = remarks.matches(" more like these").count();
        let unnamed = |path: &&&str| {
            let folder = Path::new(path).parent().unwrap().display().to_string();
            !remarks.contains(**path) && (folder.is_empty() || !remarks.contains(&folder))
        };
        let unnamed: Vec<_> = chunk.iter().filter(unnamed).collect();
        assert!(unnamed.is_empty() || cut > 0, "{unnamed:?}: {answer}");
    }
    let answer = world.run(
        "echo evil >> tools/existing; printf '#!/bin/sh\\n' > tools/script; cp /bin/true tools/program; \
         ln -s /etc/passwd tools/link; echo evil >> .venv/bin/activate; chmod +x .venv/bin/activate; \
         mkdir -p target/debug; for i in $(seq 40); do cp /bin/true target/debug/$i; done; echo x > notes.txt",
    );
    let remarks = answer["remarks"].to_string();
    assert!(remarks.contains("tools/ (4 programs, scripts or hidden files)"), "{answer}");
    assert!(remarks.contains("41 programs and scripts in .venv, target"), "{answer}");
    assert!(!remarks.contains("notes.txt"), "{answer}");
}

/// Eight harmless changes must not hide the ninth.
#[test]
fn what_speaks_to_a_model_is_always_named() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let harmless = (0..12).map(|number| format!("mkdir d{number}; echo > d{number}/Makefile; ")).collect::<String>();
    let answer = world.run(&format!("{harmless} mkdir z; echo evil > z/AGENTS.md; echo evil > z/CONVENTIONS.md"));
    let remarks = answer["remarks"].to_string();
    assert!(remarks.contains("z/AGENTS.md") && remarks.contains("z/CONVENTIONS.md"), "{answer}");
    assert!(remarks.contains("and 4 more"), "{answer}");
}

/// Kills the owner of a run, and checks that the next call, of any kind, finishes the audit.
fn check_interrupted(call: impl Fn(&World) -> String, everywhere: bool) {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let project = world.project();
    let mut run = world.weir(&["run", "--timeout", "60", PLANTER]).stdout(Stdio::null()).spawn().unwrap();
    assert!(wait_until(TIMEOUT, || project.join("out/up").exists()));
    // An owner that is stopped does not look, so that all of it is there when it dies.
    let owner = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(owner, rustix::process::Signal::STOP).unwrap();
    fs::write(project.join("out/go"), "").unwrap();
    assert!(wait_until(TIMEOUT, || project.join("out/planted").exists()));
    run.kill().unwrap();
    run.wait().unwrap();
    let up = project.join("out/up");
    let quiet = || up.metadata().unwrap().modified().unwrap().elapsed().is_ok_and(|time| time > QUIET_TIME);
    assert!(wait_until(TIMEOUT, quiet));
    let said = call(&world);
    assert!(!project.join(".envrc").exists() && !project.join(".vscode").exists(), "{said}");
    assert_eq!(project.join("conf/deep/.envrc").exists(), !everywhere, "{said}");
    let unfinished = world.home().join(".local/share/weir/unfinished");
    let finished = wait_until(TIMEOUT, || {
        let output = world.weir(&["search", "anything"]).output().unwrap();
        !unfinished.exists() || output.status.code() == Some(2)
    });
    assert!(finished && !unfinished.exists() && !project.join("conf/deep/.envrc").exists());
}

#[test]
fn a_command_finishes_an_interrupted_audit() {
    let call = |world: &World| {
        let output = world.weir(&["search", "anything"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("interrupted") && said.contains(".envrc"), "{said}");
        said
    };
    check_interrupted(call, true);
}

#[test]
fn a_hook_looks_at_the_top_after_an_interrupted_run() {
    let call = |world: &World| {
        let payload = serde_json::json!({
            "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": world.project(),
        });
        let mut hook = world.weir(&["hook", "claude", "SessionStart"]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(hook.stdin.as_mut().unwrap(), payload.to_string().as_bytes()).unwrap();
        String::from_utf8_lossy(&hook.wait_with_output().unwrap().stdout).into_owned()
    };
    check_interrupted(call, false);
}

#[test]
fn a_tool_call_finishes_an_interrupted_audit() {
    let call = |world: &World| {
        let mut server = world.weir(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        ask(&mut server, "true");
        let mut said = String::new();
        let mut lines = BufReader::new(server.stdout.as_mut().unwrap());
        while !said.contains("\"id\":2") {
            assert!(lines.read_line(&mut said).unwrap() > 0, "{said}");
        }
        drop(server.stdin.take());
        server.wait().unwrap();
        assert!(said.contains("interrupted"), "{said}");
        said
    };
    check_interrupted(call, true);
}

#[test]
fn a_planted_thing_is_found_when_the_run_was_ended_before_its_time() {
    let Some(world) = World::new(User::Plain) else { return announce_skip() };
    let code = "echo '{}' > .mcp.json; while :; do :; done";
    let answer = parsed(&world.weir(&["run", "--json", "--timeout", "1", code]).output().unwrap());
    assert_eq!(answer["ended"], "timeout", "{answer}");
    assert!(answer["remarks"].to_string().contains(".mcp.json"), "{answer}");
    assert!(!world.project().join(".mcp.json").exists());
}

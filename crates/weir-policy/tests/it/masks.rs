//! Tests masks on real folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use expect_test::expect;
use tempfile::TempDir;
use weir_check::Checked;
use weir_policy::masks::{Homes, Masks, Nearest, Places, Requirements, Tree, interest};
use weir_policy::rules::{Own, Rules};
use weir_policy::user_paths::UserPaths;

/// A home folder with a project in it, and some files.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn with(files: &[&str]) -> Self {
        let home = Self { folder: TempDir::new().unwrap() };
        fs::create_dir_all(home.path("home/p")).unwrap();
        for file in files {
            home.write(file, "x");
        }
        home
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// Writes a file below the home folder, or creates a folder if the name ends with a slash.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(&format!("home/{file}"));
        if file.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            return;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn places(&self) -> Places {
        Places { home: self.path("home"), project: self.path("home/p"), folder: self.path("home/p") }
    }

    fn masks(&self, own: &Own) -> Masks {
        Masks::expand(&mut Tree::new(), &Rules::read(&[], own), &self.places(), SystemTime::now())
    }

    /// Lists paths below the home folder, one per line, each after a word that says what happens to it.
    fn show(&self, masks: &Masks) -> String {
        let line = |mark: &str, path: &Path| {
            let path = path.strip_prefix(self.path("home")).unwrap_or(path);
            format!("{mark} {}\n", path.display())
        };
        // Which system files the tests can read depends on the user who runs them.
        let hidden = masks.hidden.iter().filter(|path| !path.starts_with("/etc") && !path.starts_with("/var"));
        let hidden = hidden.map(|path| line("hide", path));
        let kept = masks.read_only.iter().map(|path| line("keep", path));
        let programs = masks.programs.iter().map(|program| format!("program {program}\n"));
        let problems = masks.problems.iter().map(|problem| {
            format!(
                "{} {}\n",
                if problem.refuse { "refuse" } else { "note" },
                problem.wrong.replace(&self.path("").display().to_string(), "")
            )
        });
        hidden.chain(kept).chain(programs).chain(problems).collect()
    }
}

fn own(deny: &[&str], readable: &[&str]) -> Own {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Own { path: "weir.toml".into(), base: "/".into(), deny: list(deny), readable: list(readable), ..Own::default() }
}

fn check(files: &[&str], deny: &[&str], readable: &[&str]) -> Checked {
    let home = Home::with(files);
    Checked(home.show(&home.masks(&own(deny, readable))))
}

#[test]
fn default_secrets_are_hidden_where_they_exist() {
    check(
        &[
            ".ssh/id_rsa", ".aws/credentials", ".cargo/credentials.toml", ".bash_history", ".claude/.credentials.json",
            ".claude/settings.json", "notes.txt", "p/.env", "p/.env.local", "p/.env.example", "p/src/main.rs",
            "p/deep/er/server.key", "p/node_modules/x/test.pem", "p/.npmrc",
        ],
        &[],
        &[],
    )
    .shows(&expect![[r#"
        hide .aws
        hide .bash_history
        hide .cargo/credentials.toml
        hide .claude/.credentials.json
        hide .ssh
        hide p/.env
        hide p/.env.local
        hide p/deep/er/server.key
    "#]]);
}

#[test]
fn denials_hide_and_protect_and_reach_into_dependencies() {
    check(
        &[
            "p/node_modules/x/private.txt", "p/a/private.txt", "p/secrets/one", "p/secrets/two", "p/src/lib.rs",
            "p/src/generated/a.rs", "letters/mum.txt", "letters/2020/dad.txt", "letters/readme.md",
        ],
        &[
            "Read(private.txt)", "Read(./secrets/**)", "Edit(src/generated/*.rs)", "Read(~/letters/**/*.txt)",
            "Bash(sudo *)", "Bash(npm publish:*)",
        ],
        &[],
    )
    .shows(&expect![[r#"
        hide letters/2020/dad.txt
        hide letters/mum.txt
        hide p/a/private.txt
        hide p/node_modules/x/private.txt
        hide p/secrets
        keep p/src/generated/a.rs
        program sudo
    "#]]);
}

#[test]
fn patterns_look_no_further_than_they_say() {
    check(
        &["a.secret", "deep/b.secret", "p/x/c.rs", "p/y/c.rs", "p/y/z/c.rs", "p/q/d.secret"],
        &["Read(~/*.secret)", "Read(?/c.rs)", "Read(//**/d.secret)"],
        &[],
    )
    .shows(&expect![[r#"
        hide a.secret
        hide p/q/d.secret
        hide p/x/c.rs
        hide p/y/c.rs
        note A rule about the whole machine is enforced only in the project and the home folder.
    "#]]);
}

#[test]
fn readable_lifts_a_default_and_never_a_denial() {
    check(
        &["p/.env", "p/test/fixtures/test.pem", ".npmrc", ".aws/config"],
        &["Read(~/.aws)"],
        &["test/fixtures/**", "~/.npmrc", "~/.aws"],
    )
    .shows(&expect![[r#"
        hide .aws
        hide p/.env
    "#]]);
}

#[test]
fn what_runs_code_later_is_kept_as_it_is() {
    check(
        &[
            "p/.git/config", "p/.mcp.json", "p/.vscode/tasks.json", "p/sub/.git/HEAD", "p/CLAUDE.md",
            "p/node_modules/x/.vscode/a",
        ],
        &["Write(CLAUDE.md)"],
        &[],
    )
    .shows(&expect![[r#"
        keep p/.git
        keep p/.mcp.json
        keep p/.vscode
        keep p/CLAUDE.md
        keep p/sub/.git
    "#]]);
}

#[test]
fn a_link_hides_its_target() {
    let home = Home::with(&["p/real/secret.txt", "vault/token", "p/a.txt"]);
    symlink(home.path("home/p/real/secret.txt"), home.path("home/p/.env")).unwrap();
    symlink(home.path("home/vault"), home.path("home/p/vault")).unwrap();
    symlink(home.path("home"), home.path("home/p/up.pem")).unwrap();
    let masks = home.masks(&own(&["Read(vault)"], &[]));
    expect![[r#"
        hide p/real/secret.txt
        hide vault
        refuse It is a link to a folder that contains the project or the home folder, which cannot be hidden.
    "#]]
    .assert_eq(&home.show(&masks));
}

#[test]
fn a_rule_that_hides_the_project_is_a_reason_to_refuse() {
    check(&["p/a"], &["Read(./**)"], &[]).shows(&expect![[r#"
        hide p
        refuse A rule hides the whole project, so nothing can run in it.
    "#]]);
}

#[test]
fn a_refresh_lists_only_what_changed() {
    let home = Home::with(&["p/a/b/c/.env", "p/d/e", "p/f/g"]);
    let rules = Rules::read(&[], &own(&[], &[]));
    let interest = interest(&rules);
    let root = home.path("home/p");
    let mut tree = Tree::new();
    let soon = SystemTime::now();
    let later = soon + Duration::from_secs(60);
    // The files were just written, so their times are not trusted yet.
    assert_eq!(tree.refresh(&root, &interest, soon).unwrap().listed, 6);
    assert_eq!(tree.refresh(&root, &interest, later).unwrap().listed, 6);
    assert_eq!(tree.refresh(&root, &interest, later).unwrap().listed, 0);
    home.write("p/d/.env", "x");
    let refreshed = tree.refresh(&root, &interest, later).unwrap();
    assert_eq!((refreshed.listed, refreshed.reused), (1, 5));
    assert_eq!(tree.kept().count(), 2);
    fs::remove_dir_all(home.path("home/p/a")).unwrap();
    tree.refresh(&root, &interest, later).unwrap();
    assert_eq!(tree.kept().count(), 1);
}

const PROJECT_NAMES: &[(&str, bool)] = &[
    (".env", true),
    (".env-prod", true),
    (".env_local", true),
    (".env~", true),
    (".env.production", true),
    ("prod.env", true),
    ("prod.env.bak", true),
    (".env/prod", true),
    (".envs/.local/.django", true),
    ("id_ed25519_work", true),
    ("id_rsa.bak", true),
    ("deploy_key", true),
    ("terraform.tfvars", true),
    ("kubeconfig", true),
    (".secrets", true),
    (".secrets.toml", true),
    ("wp-config.php", true),
    ("local.settings.json", true),
    (".dockercfg", true),
    (".s3cfg", true),
    ("credentials.yml", true),
    ("Credentials.YML", true),
    ("vendor/.env", true),
    ("deps/a/.env.local", true),
    ("deep/er/.env-prod", true),
    (".env.example", false),
    (".env.sample", false),
    (".env.template", false),
    (".env.production.example", false),
    (".env-example", false),
    ("id_ed25519_work.pub", false),
    (".secrets.baseline", false),
    ("wp-config-sample.php", false),
    ("credentials.rs", false),
    ("kubeconfig.go", false),
    ("prod.tfvars", false),
    ("src/env.rs", false),
    ("jest.env.js", false),
    ("node_modules/a/.env", false),
    ("node_modules/a/test.pem", false),
    ("vendor/a/cacert.pem", false),
    ("credentials.yml.enc", false),
];

#[test]
fn names_that_make_a_secret_clear_are_hidden_from_runs_and_from_readers_alike() {
    for (name, hidden) in PROJECT_NAMES {
        let home = Home::with(&[&format!("p/{name}")]);
        let path = home.path(&format!("home/p/{name}"));
        let masks = home.masks(&own(&[], &[]));
        assert_eq!(masks.hidden.iter().any(|hidden| path.starts_with(hidden)), *hidden, "{name}");
        assert_eq!(weir_policy::masks::is_secret(&path, &home.path("home/p")), *hidden, "{name}");
    }
}

#[test]
fn a_python_environment_called_env_is_not_hidden() {
    let home = Home::with(&["p/.env/pyvenv.cfg", "p/.env/lib/x.py"]);
    assert_eq!(home.show(&home.masks(&own(&[], &[]))), "");
}

#[test]
fn patterns_of_our_own_lists_are_in_small_letters() {
    use weir_policy::masks::secrets::{ENVIRONMENTS, FOLDERS, PROJECT, PUBLIC};
    let names = [ENVIRONMENTS, PROJECT, FOLDERS].into_iter().flatten().map(|secret| secret.pattern);
    for pattern in names.chain(PUBLIC.iter().copied()) {
        assert_eq!(pattern, pattern.to_lowercase());
    }
}

#[test]
fn of_a_folder_that_is_no_project_the_nearest_and_the_one_in_use_are_looked_at() {
    let home = Home::with(&["p/.env", "p/work/deep/deeper/.env", "p/other/deep/deeper/.env"]);
    for number in 0..300 {
        home.write(&format!("p/many/{number}"), "");
    }
    let hidden = |own: &Own| {
        let mut tree = Tree::new();
        tree.look_at_nearest(Some(Nearest { most: 100, whole: vec![home.path("home/p/work"), home.path("home/p")] }));
        let masks = Masks::expand(&mut tree, &Rules::read(&[], own), &home.places(), SystemTime::now());
        (home.show(&masks).lines().filter(|line| line.contains(".env")).count(), masks.left_out)
    };
    assert_eq!(hidden(&Own::default()), (2, true));
    // A user's rule that hides at any depth applies at any depth.
    assert_eq!(hidden(&Own { deny: vec!["Read(*.pem)".into()], ..Own::default() }), (3, false));
}

#[test]
fn thousands_of_rules_hide_what_each_of_them_hides_alone() {
    let home =
        Home::with(&["p/a/deep/x7.key", "p/a/deep/x7.txt", "p/b/n42", "p/c/level.3z", "p/d/q[1]", "p/e/1/2/3.x"]);
    let number = |number: usize| match number % 5 {
        0 => format!("Read(**/x{number}.key)"),
        1 => format!("Read(c/*.{number}z)"),
        2 => format!("Read(n{number})"),
        3 => format!("Read(e/{number}/**/*.x)"),
        _ => format!("Read(**/q[[]{number}[]])"),
    };
    let mut deny: Vec<String> = (0..5_000).map(number).collect();
    deny.extend(["Read(**/x7.key)", "Read(c/*.3z)", "Read(e/1/**/*.x)", "Read(**/q[[]1[]])"].map(str::to_owned));
    let began = std::time::Instant::now();
    let masks = home.masks(&Own { deny, ..Own::default() });
    let shown = home.show(&masks);
    let all = ["p/a/deep/x7.key", "p/b/n42", "p/c/level.3z", "p/d/q[1]", "p/e/1/2/3.x"];
    let expected: String = all.iter().map(|path| format!("hide {path}\n")).collect();
    assert_eq!(shown, expected);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// Returns what is shown of a home if these are the folders of programs, and runs may change the project.
fn shown_of(home: &Home, folders: &[PathBuf]) -> Homes {
    let mut paths = UserPaths::new(vec![home.path("home/p")], Vec::new());
    let programs = folders.iter().filter_map(|folder| paths.find(folder).ok()).collect();
    let requirements = Requirements { programs, paths: Vec::new() };
    Homes::of(&Rules::read(&[], &Own::default()), &home.places(), &requirements, &mut paths)
}

#[test]
fn no_link_in_a_folder_that_runs_may_change_shows_more() {
    let home = Home::with(&["other/bin/x", "other/lib/y", "p/bin/z", "src/a/.git/HEAD", "src/bin/x", "src/lib/y"]);
    symlink("../other", home.path("home/p/.venv")).unwrap();
    symlink("p/.venv/bin", home.path("home/through")).unwrap();
    let nothing = |homes: &Homes| homes.shown.iter().all(|path| !path.starts_with(home.path("home")));
    let usual = shown_of(&home, &[]);
    for folder in ["home/p/.venv/bin", "home/p/.venv/../other/bin", "home/p/bin"] {
        assert_eq!(shown_of(&home, &[home.path(folder)]), usual, "{folder}");
    }
    assert!(nothing(&usual));
    // The user's own link is shown, but leads only into the project.
    let through = shown_of(&home, &[home.path("home/through")]);
    assert!(nothing(&through));
    assert_eq!(through.links, [(home.path("home/through"), PathBuf::from("p/.venv/bin"))]);
    // A folder of checkouts is no installation, whatever else is in it.
    assert_eq!(shown_of(&home, &[home.path("home/src/bin")]).shown, [home.path("home/src/bin")]);
}

#[test]
fn programs_are_shown_with_their_prefix_and_never_a_whole_home() {
    let home = Home::with(&["opt/tool/bin/x", "opt/tool/lib/y", "checkout/.git/HEAD", "checkout/bin/z"]);
    symlink("opt/tool/bin", home.path("home/links")).unwrap();
    let shown = |folders: &[&str]| {
        let homes = shown_of(&home, &folders.iter().map(|folder| home.path(folder)).collect::<Vec<_>>());
        let below = homes.shown.iter().filter_map(|path| path.strip_prefix(home.path("home")).ok());
        let below: Vec<String> = below.map(|path| path.display().to_string()).collect();
        (below.join(" "), homes.links)
    };
    assert_eq!(shown(&["home/opt/tool/bin"]), ("opt/tool opt/tool/bin".to_owned(), Vec::new()));
    assert_eq!(shown(&["home/checkout/bin", "home/missing/bin"]), ("checkout/bin".to_owned(), Vec::new()));
    assert_eq!(shown(&["home", "", "home/.."]), (String::new(), Vec::new()));
    let link = (home.path("home/links"), PathBuf::from("opt/tool/bin"));
    let both = ("opt/tool opt/tool/bin".to_owned(), vec![link]);
    assert_eq!(shown(&["home/links"]), both);
    // A link is found below a parent that is known from another path, and so is what does not exist.
    assert_eq!(shown(&["home/opt/tool/bin", "home/links", "home/opt/missing/bin"]), both);
}

#[test]
fn programs_that_are_linked_from_one_folder_are_shown_with_their_own_prefix() {
    let home = Home::with(&["tools/t-1/bin/t", "tools/t-1/lib/y", "tools/bin/own", "src/app/run.sh", "src/app/.env"]);
    symlink("../t-1/bin/t", home.path("home/tools/bin/t")).unwrap();
    symlink("../../src/app/run.sh", home.path("home/tools/bin/run")).unwrap();
    let homes = shown_of(&home, &[home.path("home/tools/bin")]);
    let shows = |path: &str| homes.shows(&home.path(path));
    assert!(shows("home/tools/t-1/lib/y") && shows("home/tools/bin/own") && shows("home/src/app/run.sh"));
    assert!(!shows("home/src/app/.env") && !shows("home/tools/other"));
}

//! Options before a program's subcommand, as data: one line per program.
//!
//! A rule names the subcommand right after the program, as in `git push`, so a command is also compared without the
//! options between them. Invariant: this only adds readings, for rules that deny or ask.

use super::Command;
use super::words::Word;
use super::wrappers::{Wrapper, starts, wrapper};

/// Programs with subcommands: the short and the long options before one that take a value. For an option that is not
/// listed, both readings are followed.
const PROGRAMS: &[Wrapper] = &[
    wrapper("git", "Cc", &["--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"], 0),
    wrapper("npm", "wC", &["--workspace", "--prefix", "--registry", "--loglevel", "--userconfig"], 0),
    wrapper("pnpm", "CF", &["--dir", "--filter", "--loglevel"], 0),
    wrapper("yarn", "", &["--cwd"], 0),
    wrapper("bun", "", &["--cwd"], 0),
    wrapper("cargo", "CZ", &["--config", "--color"], 0),
    wrapper("go", "C", &[], 0),
    wrapper("pip", "", &["--python", "--log", "--proxy", "--cache-dir"], 0),
    wrapper("pip3", "", &["--python", "--log", "--proxy", "--cache-dir"], 0),
    wrapper("uv", "", &["--directory", "--project", "--cache-dir", "--config-file", "--color"], 0),
    wrapper("poetry", "CP", &["--directory", "--project"], 0),
    wrapper("docker", "Hcl", &["--host", "--context", "--config", "--log-level"], 0),
    wrapper("podman", "", &["--url", "--connection", "--root", "--log-level"], 0),
    wrapper("kubectl", "ns", &["--namespace", "--context", "--cluster", "--kubeconfig", "--server", "--user"], 0),
    wrapper("helm", "n", &["--namespace", "--kube-context", "--kubeconfig"], 0),
    wrapper("gh", "R", &["--repo"], 0),
    wrapper("aws", "", &["--profile", "--region", "--output", "--endpoint-url", "--query"], 0),
    wrapper("gcloud", "", &["--project", "--account", "--configuration", "--format"], 0),
    wrapper("az", "o", &["--subscription", "--output", "--query"], 0),
    wrapper("terraform", "", &[], 0),
    wrapper("tofu", "", &[], 0),
    wrapper("systemctl", "HMtp", &["--host", "--machine", "--type", "--property"], 0),
    wrapper("apt", "oct", &["--option", "--config-file", "--target-release"], 0),
    wrapper("apt-get", "oct", &["--option", "--config-file", "--target-release"], 0),
    wrapper("dnf", "cdex", &["--config", "--setopt", "--releasever"], 0),
    wrapper("yum", "cdex", &["--config", "--setopt", "--releasever"], 0),
    wrapper("brew", "", &[], 0),
    wrapper("hg", "R", &["--repository", "--cwd", "--config"], 0),
    wrapper("jj", "R", &["--repository", "--config", "--at-operation"], 0),
    wrapper("svn", "", &["--username", "--password", "--config-dir", "--config-option"], 0),
    wrapper("fly", "", &["--access-token"], 0),
    wrapper("heroku", "", &[], 0),
];

/// Returns the command without the options before its subcommand, in every possible reading.
pub(crate) fn without_globals(command: &Command) -> Vec<Command> {
    let Some(program) = command.program() else { return Vec::new() };
    let Some(known) = PROGRAMS.iter().find(|known| known.name == program) else { return Vec::new() };
    let reading = |at: usize| {
        let words = command.words[..1].iter().chain(&command.words[at..]).cloned().collect();
        Command { words, ..command.clone() }
    };
    // The toolchain of cargo comes before its options.
    let toolchain = |word: &&Word| program == "cargo" && word.known_start().starts_with('+');
    let skipped = command.words.iter().skip(1).take_while(toolchain).count();
    let plain = if skipped == 0 { command.clone() } else { reading(1 + skipped) };
    let found = starts(known, &plain.words).at.into_iter().map(|at| reading(at + skipped));
    found.filter(|reading| reading.words != command.words).collect()
}

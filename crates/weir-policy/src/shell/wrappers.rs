//! Programs that run the command in their arguments, as data: one line each.
//!
//! Invariant: an option that no line lists may or may not take a value, so both readings are followed.

use std::collections::HashSet;

use super::words::Word;

/// A program that runs the rest of its arguments as a command.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options that take a value.
    short: &'static str,
    /// Long options that take their value as the next word.
    long: &'static [&'static str],
    /// Number of words between the options and the command.
    operands: usize,
}

pub(super) const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, short, long, operands }
}

/// Programs that are plain wrappers; `unwrap` handles those with special syntax.
const WRAPPERS: &[Wrapper] = &[
    wrapper("aa-exec", "np", &["--profile", "--namespace"], 0),
    wrapper("builtin", "", &[], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("bwrap", "", &[], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("catchsegv", "", &[], 0),
    wrapper("cgexec", "g", &[], 0),
    wrapper("chpst", "ueLmodpfcrt/", &[], 0),
    wrapper("chroot", "", &[], 1),
    wrapper("chrt", "TPD", &[], 1),
    wrapper("command", "", &[], 0),
    wrapper("coproc", "", &[], 0),
    wrapper("cpulimit", "lpe", &[], 0),
    wrapper("dbus-launch", "", &[], 0),
    wrapper("dbus-run-session", "", &["--config-file"], 0),
    wrapper("direnv", "", &[], 2),
    wrapper("doas", "uCa", &[], 0),
    wrapper("dumb-init", "", &["--rewrite"], 0),
    wrapper("entr", "", &[], 0),
    wrapper("env", "uCa", &["--unset", "--chdir", "--argv0"], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("fakechroot", "", &[], 0),
    wrapper("fakeroot", "lfsib", &[], 0),
    wrapper("faketime", "f", &[], 1),
    wrapper("firejail", "", &[], 0),
    wrapper("gosu", "", &[], 1),
    wrapper("gtime", "of", &["--format", "--output"], 0),
    wrapper("gtimeout", "ks", &["--kill-after", "--signal"], 1),
    wrapper("i386", "", &[], 0),
    wrapper("ionice", "cnpPu", &["--class", "--classdata"], 0),
    wrapper("linux32", "", &[], 0),
    wrapper("linux64", "", &[], 0),
    wrapper("ltrace", "aeloOpsuFADnxXw", &[], 0),
    wrapper("nice", "n", &["--adjustment"], 0),
    wrapper("nocorrect", "", &[], 0),
    wrapper("noglob", "", &[], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("nsenter", "tSG", &["--target", "--setuid", "--setgid"], 0),
    wrapper("numactl", "imNCp", &[], 0),
    wrapper("pkexec", "", &["--user"], 0),
    wrapper("prlimit", "po", &[], 0),
    wrapper("proot", "rbwqk", &[], 0),
    wrapper("proxychains", "f", &[], 0),
    wrapper("proxychains4", "f", &[], 0),
    wrapper("rlwrap", "abcCdDfFgHlmMoPqsStwz", &[], 0),
    wrapper("run0", "u", &["--user", "--group"], 0),
    wrapper("runcon", "turl", &[], 1),
    wrapper("runuser", "ugGcsTPw", &["--user", "--group", "--supp-group", "--shell", "--whitelist-environment"], 0),
    wrapper("s6-setuidgid", "", &[], 1),
    wrapper("setarch", "", &[], 1),
    wrapper("setpriv", "", &["--reuid", "--regid", "--groups", "--inh-caps", "--ambient-caps", "--bounding-set"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("setuidgid", "", &[], 1),
    wrapper("softlimit", "adfmosctlprn", &[], 0),
    wrapper("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    wrapper("strace", "aeEIoOpPsSuUXb", &[], 0),
    wrapper("su-exec", "", &[], 1),
    wrapper("sudo-rs", "ugpCrtThDRUac", &["--user", "--group", "--prompt", "--host", "--chdir", "--chroot"], 0),
    wrapper("sudo", "ugpCrtThDRUac", &["--user", "--group", "--prompt", "--host", "--chdir", "--chroot"], 0),
    wrapper("systemd-cat", "tp", &[], 0),
    wrapper("systemd-inhibit", "", &[], 0),
    wrapper("systemd-run", "uptEHMd", &["--unit", "--property", "--slice", "--setenv"], 0),
    wrapper("taskset", "", &[], 1),
    wrapper("time", "of", &["--format", "--output"], 0),
    wrapper("timeout", "ks", &["--kill-after", "--signal"], 1),
    wrapper("tini", "egp", &[], 0),
    wrapper("torify", "", &[], 0),
    wrapper("torsocks", "", &[], 0),
    wrapper("toybox", "", &[], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper("unshare", "RwSG", &["--root", "--wd", "--setuid", "--setgid"], 0),
    wrapper("valgrind", "", &[], 0),
    wrapper("xvfb-run", "efnpsw", &[], 0),
    // Package runners of languages: the word after their own subcommand is a program.
    wrapper("bunx", "", &[], 0),
    wrapper("npx", "p", &["--package"], 0),
    wrapper("pnpx", "", &[], 0),
    wrapper("uvx", "p", &["--from", "--with", "--python"], 0),
];

/// A program that takes options and then a command.
pub(super) const PLAIN: Wrapper = wrapper("", "n", &[], 0);

/// A program that takes options, one word, and then a command.
pub(super) const AFTER_ONE: Wrapper = wrapper("", "", &[], 1);

/// Programs that run a command only after one of their subcommands.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("asdf", &["exec"]),
    ("bundle", &["exec"]),
    ("conda", &["run"]),
    ("docker", &["exec", "run"]),
    ("kubectl", &["exec"]),
    ("mise", &["exec", "x"]),
    ("nerdctl", &["exec", "run"]),
    ("npm", &["exec"]),
    ("perf", &["record", "stat", "trace"]),
    ("pipenv", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("podman", &["exec", "run"]),
    ("poetry", &["run"]),
    ("rustup", &["run"]),
    ("uv", &["run"]),
    ("yarn", &["exec", "dlx"]),
];

/// Maximum number of readings of a wrapper's options to follow.
const MAX_STARTS: usize = 8;

pub(super) fn named(program: &str) -> Option<&'static Wrapper> {
    // The dynamic linker runs the program in its first argument.
    let linker = program.starts_with("ld-linux") || program.starts_with("ld-musl") || program == "ld.so";
    let name = if linker { "nohup" } else { program };
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Where a command may start within the words of a wrapper, and whether an unknown word makes that uncertain.
pub(super) struct CommandStarts {
    pub(super) at: Vec<usize>,
    pub(super) unknown: bool,
}

pub(super) fn starts(wrapper: &Wrapper, words: &[Word]) -> CommandStarts {
    let mut found = CommandStarts { at: Vec::new(), unknown: false };
    // A position in the words, the number of operands passed, and whether the options are over.
    let mut waiting = vec![(1, 0, false)];
    let mut seen = HashSet::new();
    while let Some((at, operands, options_over)) = waiting.pop() {
        if !seen.insert((at, operands, options_over)) {
            continue;
        }
        let Some(word) = words.get(at) else { continue };
        let start = word.known_start();
        let Some(text) = word.literal() else {
            // `-x"$y"` is one option with its value; any other unknown word could be anything, including the command.
            if !options_over && start.starts_with('-') {
                waiting.push((at + 1, operands, false));
            } else if is_assignment(start) {
                waiting.push((at + 1, operands, true));
            } else if operands < wrapper.operands && !word.splits() {
                waiting.push((at + 1, operands + 1, true));
            } else {
                found.unknown = true;
                found.at.push(at);
            }
            continue;
        };
        if !options_over && text == "--" {
            waiting.push((at + 1, operands, true));
        } else if !options_over && text.starts_with('-') {
            waiting.extend(after_option(wrapper, text).iter().map(|step| (at + step, operands, false)));
        } else if is_assignment(text) {
            waiting.push((at + 1, operands, true));
            // Only these set variables for the command; for the others, the word is the name of a program, however odd.
            if !["env", "sudo", "doas"].contains(&wrapper.name) {
                found.at.push(at);
            }
        } else if operands < wrapper.operands {
            waiting.push((at + 1, operands + 1, true));
        } else {
            found.at.push(at);
        }
    }
    found.at.sort_unstable();
    // This many readings are not an accident, and each of them would have to be followed.
    if found.at.len() > MAX_STARTS {
        found.at.truncate(MAX_STARTS);
        found.unknown = true;
    }
    found
}

/// Returns how many words an option may take up, including itself.
fn after_option(wrapper: &Wrapper, text: &str) -> &'static [usize] {
    if text.starts_with("--") {
        return match text {
            _ if text.contains('=') => &[1],
            _ if wrapper.long.contains(&text) => &[2],
            _ => &[1, 2],
        };
    }
    let letters = text.trim_start_matches('-');
    match letters.char_indices().find(|(_, c)| wrapper.short.contains(*c)) {
        Some((at, c)) if at + c.len_utf8() == letters.len() => &[2],
        Some(_) => &[1],
        None => &[1, 2],
    }
}

/// Returns whether a word assigns a variable: `NAME=value`.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns where a command may start after a subcommand that runs one: at any of the next few plain words, since the
/// options are too many to list.
pub(super) fn after_subcommand(program: &str, words: &[Word]) -> Vec<usize> {
    let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) else { return Vec::new() };
    let is_subcommand = |word: &Word| word.literal().is_some_and(|text| subcommands.contains(&text));
    let Some(at) = words.iter().skip(1).position(is_subcommand).map(|at| at + 1) else { return Vec::new() };
    let plain = |at: &usize| words.get(*at).is_some_and(|word| !word.known_start().starts_with('-'));
    // The command is the first plain word, or one of the next few if options take values or an image comes first.
    (at + 1..words.len()).filter(plain).take(4).collect()
}

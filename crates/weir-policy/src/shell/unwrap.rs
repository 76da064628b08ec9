//! Opens wrappers: finds the command, script or code in a command's arguments.

use super::walk::ScriptPart;
use super::words::{Piece, Word};
use super::wrappers::{self, named};
use super::{Command, UnclearKind, code, git, quotes, variables, walk, xargs};

pub(super) enum CarriedCommand {
    Words(Vec<Word>),
    Script(String),
    Unclear(UnclearKind, &'static str),
}

pub(super) const LATER: &str = "runs a command that is only known when it runs";
const STDIN: &str = "runs what it reads, which is not in the script";

/// Returns everything that a command would run besides itself. Its name must be known.
pub(super) fn inner(command: &Command) -> Vec<CarriedCommand> {
    let Some(program) = command.program() else { return Vec::new() };
    let words = &command.words[..];
    let mut found = match program {
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "rbash" | "fish" | "yash" | "oksh" | "csh"
        | "tcsh" => shell(command),
        "eval" => joined(&words[1..]),
        "env" => env(words),
        "command" if has_option(words, &["-v", "-V", "-pv", "-pV"]) => Vec::new(),
        "sudo" | "doas" | "run0" if has_option(words, &["-s", "-i", "--shell", "--login"]) && words.len() == 2 => {
            vec![CarriedCommand::Unclear(UnclearKind::Opaque, STDIN)]
        }
        "xargs" | "gxargs" => xargs::inner(words),
        "parallel" | "rush" => parallel(words),
        "find" | "gfind" | "fd" | "fdfind" => find(words),
        "ssh" | "slogin" | "autossh" => ssh(words),
        "watch" | "hyperfine" | "ts-node" => watch(words),
        "trap" => joined(words.get(1..2).unwrap_or_default()),
        "alias" => alias(words),
        "source" | "." => source(words),
        "coproc" => coproc(words),
        "time" => time(words),
        "git" => git::inner(words),
        "tmux" | "screen" | "zellij" => tail_scripts(words),
        "at" | "batch" | "crontab" => vec![CarriedCommand::Unclear(UnclearKind::Opaque, "runs something later")],
        _ => Vec::new(),
    };
    if program != "coproc"
        && !(program == "command" && has_option(words, &["-v", "-V", "-pv", "-pV"]))
        && let Some(wrapper) = named(program)
    {
        found.extend(wrapped(wrapper, words));
    }
    found.extend(
        wrappers::after_subcommand(program, words).into_iter().map(|at| CarriedCommand::Words(words[at..].to_vec())),
    );
    found.extend(script_options(program, words));
    found.extend(code::inner(command, program));
    found
}

fn has_option(words: &[Word], options: &[&str]) -> bool {
    words.get(1).and_then(Word::literal).is_some_and(|text| options.contains(&text))
}

fn wrapped(wrapper: &wrappers::Wrapper, words: &[Word]) -> Vec<CarriedCommand> {
    let starts = wrappers::starts(wrapper, words);
    let mut found: Vec<CarriedCommand> = Vec::new();
    for at in starts.at {
        if words.get(at).is_some_and(walk::is_reserved) {
            found.push(CarriedCommand::Unclear(UnclearKind::Script, "has a reserved word where a command should be"));
        } else if words.get(at).is_some_and(|word| word.literal().is_some()) {
            found.push(CarriedCommand::Words(words[at..].to_vec()));
        }
    }
    if starts.unknown {
        found.push(CarriedCommand::Unclear(UnclearKind::Name, LATER));
    }
    found
}

/// Returns a script made by joining words, as `eval` and `ssh` do.
pub(super) fn joined(words: &[Word]) -> Vec<CarriedCommand> {
    if words.is_empty() {
        return Vec::new();
    }
    match words.iter().map(Word::literal).collect::<Option<Vec<_>>>() {
        Some(texts) => vec![CarriedCommand::Script(texts.join(" "))],
        None => vec![CarriedCommand::Unclear(UnclearKind::Name, LATER)],
    }
}

/// Handles a shell: the script after `-c`, or its standard input. A script in a file is a program like any other.
fn shell(command: &Command) -> Vec<CarriedCommand> {
    let mut takes_script = false;
    let mut reads_input = false;
    let mut words = command.words.iter().skip(1).peekable();
    while let Some(word) = words.next_if(|word| word.known_start().starts_with(['-', '+'])) {
        let Some(text) = word.literal() else { return vec![CarriedCommand::Unclear(UnclearKind::Name, LATER)] };
        match text {
            "--" | "-" => break,
            "--rcfile" | "--init-file" => {
                words.next();
            }
            "--command" => takes_script = true,
            _ if text.starts_with("--") => {}
            _ => {
                takes_script |= text.starts_with('-') && text.contains('c');
                reads_input |= text.contains('s');
                // `-o` and `-O` take the name of a setting.
                if text.ends_with(['o', 'O']) {
                    words.next();
                }
            }
        }
    }
    match (words.next(), takes_script) {
        (Some(script), true) => joined(std::slice::from_ref(script)),
        (Some(file), false) if !reads_input => source(&[Word::known("."), file.clone()]),
        (None, true) => Vec::new(),
        _ => match &command.input {
            Some(text) => vec![CarriedCommand::Script(text.clone())],
            None => vec![CarriedCommand::Unclear(UnclearKind::Opaque, STDIN)],
        },
    }
}

/// Handles `env`: `-S` splits a string into words, and assignments may contain commands.
fn env(words: &[Word]) -> Vec<CarriedCommand> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let start = word.known_start();
        if let Some((name, value)) = start.split_once('=').filter(|_| wrappers::is_assignment(start)) {
            let value = if word.literal().is_some() { Word::known(value) } else { Word::unknown(word.source()) };
            found.extend(variables::assigned(name, Some(&value)).into_iter().map(from_script_part));
            continue;
        }
        if !start.starts_with('-') {
            break;
        }
        let split = ["-S", "-vS", "--split-string=", "--split-string"].iter().find_map(|name| start.strip_prefix(name));
        if let Some(rest) = split {
            let mut script = vec![Word::known(rest)];
            script.extend_from_slice(&words[at + 1..]);
            if word.literal().is_none() {
                script.push(Word::unknown(word.source()));
            }
            found.extend(joined(&script));
            break;
        }
    }
    found
}

fn from_script_part(found: ScriptPart) -> CarriedCommand {
    match found {
        ScriptPart::Script { text, .. } => CarriedCommand::Script(text),
        ScriptPart::Command { words, .. } => CarriedCommand::Words(words),
        ScriptPart::Unclear(kind, _, why) => CarriedCommand::Unclear(kind, why),
    }
}

/// Handles GNU parallel, which runs its words, or each line that it reads, as a script.
fn parallel(words: &[Word]) -> Vec<CarriedCommand> {
    let separator = |word: &Word| word.literal().is_some_and(|text| text.starts_with(":::"));
    let end = words.iter().position(separator).unwrap_or(words.len());
    let starts = wrappers::starts(&wrappers::PLAIN, &words[..end]);
    if starts.unknown || starts.at.is_empty() {
        return vec![CarriedCommand::Unclear(UnclearKind::Opaque, STDIN)];
    }
    starts.at.into_iter().flat_map(|at| joined(&words[at..end])).collect()
}

fn find(words: &[Word]) -> Vec<CarriedCommand> {
    const ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !word.literal().is_some_and(|text| ACTIONS.contains(&text)) {
            // An unquoted variable among the conditions could be an action.
            if at > 1 && word.splits() && word.pieces() == [Piece::Unknown] {
                found.push(CarriedCommand::Unclear(UnclearKind::Name, LATER));
            }
            continue;
        }
        let rest = words.get(at + 1..).unwrap_or_default();
        let end = |word: &Word| matches!(word.literal(), Some(";" | "+"));
        let end = rest.iter().position(end).unwrap_or(rest.len());
        let put_in = |word: &Word| {
            if word.source().contains("{}") { Word::unknown(word.source()) } else { word.clone() }
        };
        found.push(CarriedCommand::Words(rest[..end].iter().map(put_in).collect()));
    }
    found
}

/// Returns the command on the remote side, and those that options run locally.
fn ssh(words: &[Word]) -> Vec<CarriedCommand> {
    const VALUES: &str = "BbcDEeFIiJLlmOopQRSWw";
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.known_start().starts_with('-')) {
        let Some(text) = word.literal() else { return vec![CarriedCommand::Unclear(UnclearKind::Name, LATER)] };
        at += 1;
        let letters = &text[1..];
        let Some((index, c)) = letters.char_indices().find(|(_, c)| VALUES.contains(*c)) else { continue };
        let rest = &letters[index + 1..];
        let value = if rest.is_empty() { words.get(at).cloned() } else { Some(Word::known(rest)) };
        at += usize::from(rest.is_empty());
        if let ('o', Some(value)) = (c, value) {
            let start = value.known_start().to_lowercase();
            let runs = ["proxycommand", "localcommand", "knownhostscommand", "remotecommand"];
            if runs.iter().any(|name| start.starts_with(name)) || value.literal().is_none() {
                let script = value.literal().and_then(|text| text.split_once(['=', ' '])).map(|(_, script)| script);
                found.push(script.map_or(CarriedCommand::Unclear(UnclearKind::Name, LATER), |s| {
                    CarriedCommand::Script(s.to_owned())
                }));
            }
        }
    }
    found.extend(joined(words.get(at + 1..).unwrap_or_default()));
    found
}

/// Handles `watch` and `hyperfine`, which pass their words to a shell.
fn watch(words: &[Word]) -> Vec<CarriedCommand> {
    let starts = wrappers::starts(&wrappers::PLAIN, words);
    let scripts = starts.at.into_iter().flat_map(|at| {
        let each = words[at..].iter().skip(1).flat_map(|word| joined(std::slice::from_ref(word)));
        joined(&words[at..]).into_iter().chain(if words[0].literal() == Some("hyperfine") {
            each.collect()
        } else {
            Vec::new()
        })
    });
    let unknown = starts.unknown.then_some(CarriedCommand::Unclear(UnclearKind::Name, LATER));
    scripts.chain(unknown).collect()
}

fn alias(words: &[Word]) -> Vec<CarriedCommand> {
    let values = words.iter().skip(1).filter_map(|word| match word.literal() {
        Some(text) => text.split_once('=').map(|(_, value)| CarriedCommand::Script(value.to_owned())),
        None => Some(CarriedCommand::Unclear(UnclearKind::Name, LATER)),
    });
    values.collect()
}

/// Handles `source`. A file is a program like any other, but a stream written by another command cannot be inspected.
fn source(words: &[Word]) -> Vec<CarriedCommand> {
    let streamed = words.get(1).is_some_and(|file| match file.literal() {
        Some(path) => path.starts_with("/dev/") || path.starts_with("/proc/"),
        None => file.source().contains("<("),
    });
    if streamed { vec![CarriedCommand::Unclear(UnclearKind::Opaque, STDIN)] } else { Vec::new() }
}

fn coproc(words: &[Word]) -> Vec<CarriedCommand> {
    let rest = words.get(1..).unwrap_or_default();
    if rest.iter().any(walk::is_reserved) {
        return vec![CarriedCommand::Unclear(UnclearKind::Script, "is a coprocess with a body")];
    }
    // The first word may be a name for the coprocess, and assignments may precede the command.
    let skipped = |words: &[Word]| {
        let start = words.iter().position(|word| !wrappers::is_assignment(word.source())).unwrap_or(words.len());
        words[start..].to_vec()
    };
    let readings = [skipped(rest), skipped(rest.get(1..).unwrap_or_default())];
    readings.into_iter().filter(|words| !words.is_empty()).map(CarriedCommand::Words).collect()
}

/// Handles the shell's own `time`, which has one option and takes any other for a command.
fn time(words: &[Word]) -> Vec<CarriedCommand> {
    let options = words.iter().skip(1).take(2).take_while(|word| word.known_start().starts_with('-'));
    options.map(|word| CarriedCommand::Words(vec![word.clone()])).collect()
}

/// Handles terminal multiplexers, which run some of their arguments, each as a script or as the start of one.
fn tail_scripts(words: &[Word]) -> Vec<CarriedCommand> {
    let plain = |at: &usize| words.get(*at).is_some_and(|word| !word.known_start().starts_with('-'));
    (1..words.len()).filter(plain).take(8).flat_map(|at| joined(&words[at..])).collect()
}

const SCRIPT_OPTIONS: &[(&str, &[&str])] = &[
    ("script", &["-c", "--command"]),
    ("su", &["-c", "--command"]),
    ("runuser", &["-c", "--command"]),
    ("sg", &["-c"]),
    ("flock", &["-c", "--command"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S"]),
    ("sftp", &["-S"]),
    ("tar", &["-I", "--use-compress-program", "--to-command", "--rsh-command", "--checkpoint-action", "--rmt-command"]),
    ("split", &["--filter"]),
    ("sort", &["--compress-program"]),
    ("man", &["-P", "--pager"]),
    ("nix-shell", &["--run", "--command"]),
    ("npx", &["-c", "--call"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("xterm", &["-e"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("capsh", &["-c"]),
    ("start-stop-daemon", &["--exec", "--startas", "-x", "-a"]),
    ("complete", &["-C"]),
    ("compgen", &["-C"]),
    ("mapfile", &["-C"]),
    ("readarray", &["-C"]),
];

fn script_options(program: &str, words: &[Word]) -> Vec<CarriedCommand> {
    let Some((_, options)) = SCRIPT_OPTIONS.iter().find(|(name, _)| *name == program) else { return Vec::new() };
    let mut found: Vec<CarriedCommand> = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.known_start();
        for option in *options {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            // `-qc 'script'`: the letter that takes the script comes last in a cluster.
            let cluster = letter.is_some_and(|letter| is_cluster(text) && text.ends_with(letter));
            if text == *option || cluster {
                found.extend(joined(words.get(at + 1..at + 2).unwrap_or_default()));
            } else if let Some(value) = text.strip_prefix(option).filter(|_| letter.is_some() || text.contains('=')) {
                let value = value.trim_start_matches('=').trim_start_matches("exec=");
                let whole = word.literal().is_some();
                found.extend(joined(&[if whole { Word::known(value) } else { Word::unknown(word.source()) }]));
            }
        }
    }
    if program == "flock" {
        let starts = wrappers::starts(&wrappers::AFTER_ONE, words);
        found.extend(starts.at.into_iter().map(|at| CarriedCommand::Words(words[at..].to_vec())));
    }
    found
}

fn is_cluster(text: &str) -> bool {
    text.starts_with('-') && text.len() > 2 && text[1..].chars().all(|c| c.is_ascii_alphabetic())
}

/// Returns whether a literal word of a builtin hides a command in a subscript, which the builtin evaluates.
pub(super) fn hides_subscript(word: &Word) -> bool {
    word.literal().is_some_and(quotes::runs_when_expanded)
}

//! Code in other languages that a command carries: awk, sed, `python -c`, and builtins that evaluate their arguments.
//!
//! The code is not parsed. Code that names nothing that starts programs is accepted, and all other code is opaque. Code
//! that disguises its calls gets past this check and is stopped by the masks.

use super::unwrap::{CarriedCommand, hides_subscript};
use super::words::Word;
use super::{Command, UnclearKind, sed};

/// Programs that take code in an option, with those options.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("deno", &["eval"]),
    ("elixir", &["-e", "--eval"]),
    ("emacs", &["--eval", "-eval"]),
    ("erl", &["-eval"]),
    ("ex", &["-c", "+"]),
    ("expect", &["-c"]),
    ("gdb", &["-ex", "--eval-command", "-iex"]),
    ("ghc", &["-e"]),
    ("groovy", &["-e"]),
    ("guile", &["-c"]),
    ("julia", &["-e", "-E", "--eval", "--print"]),
    ("lldb", &["-o", "--one-line"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("m4", &["-D"]),
    ("make", &["--eval"]),
    ("mysql", &["-e", "--execute"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nvim", &["-c", "--cmd", "+"]),
    ("osascript", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r", "-B", "-R", "-E"]),
    ("psql", &["-c", "--command"]),
    ("pypy", &["-c"]),
    ("python", &["-c"]),
    ("r", &["-e"]),
    ("rscript", &["-e"]),
    ("ruby", &["-e"]),
    ("scala", &["-e"]),
    ("sqlite3", &["-cmd"]),
    ("tclsh", &[]),
    ("vi", &["-c", "--cmd", "+"]),
    ("vim", &["-c", "--cmd", "+"]),
];

/// Interpreters that run their standard input if no file is given.
const READERS: &[&str] =
    &["bun", "deno", "lua", "luajit", "node", "nodejs", "perl", "php", "pypy", "python", "rscript", "ruby", "tclsh"];

const RUNS: &str = "carries code that can start programs";
const STDIN: &str = "runs what it reads, which is not in the script";
const LATER: &str = "carries code that is only known when it runs";

/// Returns what is unclear about the code in a command.
pub(super) fn inner(command: &Command, program: &str) -> Vec<CarriedCommand> {
    let words = &command.words[..];
    let opaque = |why| vec![CarriedCommand::Unclear(UnclearKind::Opaque, why)];
    let found = match program {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(words),
        "sed" | "gsed" => sed::unclear(words),
        "hash" if words.iter().any(|word| word.known_start().starts_with("-p")) => Some("gives a program another name"),
        "enable" if words.iter().any(|word| word.known_start().starts_with("-f")) => Some("loads code into the shell"),
        "bind" if words.iter().any(|word| word.known_start().starts_with("-x")) => Some(RUNS),
        "printf" | "wait" | "test" | "[" | "let" | "read" | "mapfile" | "readarray" | "getopts" => {
            builtin(program, words)
        }
        "dc" | "ed" | "red" => {
            let is_bang = |text: &str| text.contains('!');
            let carries =
                words.iter().any(|word| is_bang(word.source())) || command.input.as_deref().is_some_and(is_bang);
            carries.then_some(RUNS)
        }
        "less" | "more" | "most" => words.iter().skip(1).any(runs_in_pager).then_some(RUNS),
        "make" | "gmake" | "bmake" | "remake" => words.windows(2).any(reads_makefile).then_some(STDIN),
        "pwsh" | "powershell" | "pwsh-preview" => powershell(words),
        _ => None,
    };
    found.map(opaque).into_iter().flatten().chain(interpreter(command, program)).collect()
}

/// Whether an argument of a pager is a command for its beginning that starts a program.
fn runs_in_pager(word: &Word) -> bool {
    word.known_start().starts_with('+') && (word.literal().is_none() || word.known_start().contains(['!', '|', '#']))
}

/// Whether the last of these words makes `make` read its rules from standard input.
fn reads_makefile(words: &[Word]) -> bool {
    let [before, word] = words else { return false };
    let text = word.known_start();
    let options = ["--file=", "--makefile=", "-f"];
    let is_named = matches!(before.known_start(), "-f" | "--file" | "--makefile");
    let file = options.iter().find_map(|option| text.strip_prefix(option)).or(is_named.then_some(text));
    matches!(file, Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Checks PowerShell, whose code starts programs by their names. A script in a file is a program like any other.
fn powershell(words: &[Word]) -> Option<&'static str> {
    let options = || words.iter().skip(1).map(|word| word.known_start().to_ascii_lowercase());
    let is_code = |text: &String| {
        let option = text.trim_start_matches(['-', '/']);
        option.len() < text.len() && option.starts_with(['c', 'e']) && !option.starts_with("ex") && option != "ep"
    };
    let is_file = |text: &String| text.ends_with(".ps1") || text.contains("version") || text.contains("help");
    match (options().any(|text| is_code(&text)), options().any(|text| is_file(&text))) {
        (true, _) => Some(RUNS),
        (false, true) => None,
        (false, false) => Some(STDIN),
    }
}

/// Checks a builtin that evaluates subscripts in its arguments, since a subscript runs the commands in it.
fn builtin(program: &str, words: &[Word]) -> Option<&'static str> {
    let names_variable = |word: &&Word| program != "printf" && program != "wait" || word.source().contains('[');
    let hidden = words.iter().skip(1).filter(names_variable).any(hides_subscript);
    let evaluates = program != "printf" || words.iter().any(|word| word.known_start().starts_with("-v"));
    (hidden && evaluates).then_some("has a subscript that runs a command")
}

fn awk(words: &[Word]) -> Option<&'static str> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.known_start();
        match text {
            "-f" | "--file" | "-E" => return None,
            "-F" | "-v" | "-i" | "--assign" | "--field-separator" => drop(words.next()),
            "-e" | "--source" => {}
            _ if text.starts_with('-') => {}
            _ => {
                let Some(program) = word.literal() else { return Some(LATER) };
                let piped = program.contains('|') && (program.contains('"') || program.contains("getline"));
                let piped = piped && program.replace("||", "").contains('|');
                return (piped || program.contains("system") || program.contains('@')).then_some(RUNS);
            }
        }
    }
    None
}

fn interpreter(command: &Command, program: &str) -> Vec<CarriedCommand> {
    let opaque = |why| vec![CarriedCommand::Unclear(UnclearKind::Opaque, why)];
    let name = program.to_lowercase();
    // `python3.12` and `lua5.4` are the languages without their versions.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let name = if INTERPRETERS.iter().any(|(known, _)| *known == name) { name.as_str() } else { plain };
    let Some((name, options)) = INTERPRETERS.iter().find(|(known, _)| *known == name) else { return Vec::new() };
    let words = &command.words[1..];
    let mut found = Vec::new();
    let mut names_file = false;
    for (at, word) in words.iter().enumerate() {
        let text = word.known_start();
        let code = match options.iter().find(|option| takes(text, option)) {
            Some(option) if text == *option || !text.starts_with(option) => words.get(at + 1).map(Word::literal),
            Some(option) => Some(word.literal().map(|whole| whole[option.len()..].trim_start_matches('='))),
            None => {
                names_file |= !text.starts_with('-') && word.source() != "-" || text == "-m";
                None
            }
        };
        match code {
            Some(Some(code)) if launches(name, code) => found.extend(opaque(RUNS)),
            Some(None) => found.extend(opaque(LATER)),
            Some(Some(_)) => names_file = true,
            None => {}
        }
    }
    let asks_only = words.iter().any(|word| matches!(word.known_start(), "--version" | "-V" | "-v" | "--help" | "-h"));
    if !names_file && !asks_only && found.is_empty() && READERS.contains(name) {
        match &command.input {
            Some(code) if !launches(name, code) => {}
            Some(_) => found.extend(opaque(RUNS)),
            None => found.extend(opaque(STDIN)),
        }
    }
    let streamed = words.iter().any(|word| word.source().starts_with("<(") || word.known_start() == "/dev/stdin");
    if streamed {
        found.extend(opaque(STDIN));
    }
    found
}

/// Returns whether a word is this option: alone, at the end of a cluster (`-ne`), or with its value attached.
fn takes(text: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    match letter {
        Some(letter) if !text.starts_with("--") => {
            text.starts_with(option)
                || text.strip_prefix('-').is_some_and(|letters| {
                    letters.ends_with(letter) && letters.chars().all(|c| c.is_ascii_alphanumeric())
                })
        }
        _ => {
            text == option
                || (option.starts_with("--") && text.starts_with(&format!("{option}=")))
                || option == "+" && text.starts_with('+')
        }
    }
}

/// Names that start programs or give access to such names, in the languages we know.
const LAUNCHERS: &[&str] = &[
    "system", "popen", "popen2", "popen3", "spawn", "subprocess", "fork", "eval", "qx", "child_process", "importlib",
    "getattr", "ctypes", "cffi", "ffi", "base64", "b64decode", "fromcharcode", "chr", "compile", "globals", "builtins",
    "pty", "runpy", "passthru", "shell_exec", "proc_open", "pcntl_exec", "backtick", "syscall", "shell", "command",
    "call", "create_subprocess_shell", "open3", "send", "atob", "constructor", "function",
];

/// Returns whether code names something that starts programs.
pub(super) fn launches(language: &str, code: &str) -> bool {
    let lower = code.to_lowercase();
    let names = || lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty());
    let words_of_vim = matches!(language, "vim" | "vi" | "ex" | "nvim" | "gdb" | "lldb" | "psql" | "mysql" | "sqlite3");
    let quiet = |name: &str| matches!(name, "function" | "call" | "command" | "compile" | "send" | "constructor");
    let known = |name: &str| {
        LAUNCHERS.contains(&name) && !(quiet(name) && matches!(language, "node" | "nodejs" | "bun" | "python"))
    };
    let starts = |name: &str| {
        (name.starts_with("exec") && !["execute", "executor", "executable"].iter().any(|other| name.starts_with(other)))
            || ["spawn", "popen", "posix_", "__import"].iter().any(|start| name.starts_with(start))
    };
    let backtick = lower.contains('`') && matches!(language, "perl" | "ruby" | "php" | "julia" | "lua");
    let percent = lower.contains("%x") && language == "ruby";
    let pipes = matches!(language, "perl" | "ruby") && lower.contains("open") && lower.contains('|');
    let escapes = lower.contains("\\x") || lower.contains("\\u") || lower.contains("\\1");
    names().any(|name| known(name) || starts(name))
        || backtick
        || percent
        || pipes
        || escapes
        || words_of_vim && (lower.contains('!') || lower.contains("shell") || lower.contains(".system"))
        || language == "osascript"
}

#[cfg(test)]
mod tests {
    use super::launches;

    #[test]
    fn code_that_starts_programs_is_told_from_code_that_does_not() {
        for (language, code) in [
            ("python", "import os; os.system('sudo id')"),
            ("python", "__import__('o'+'s').execvp('sudo', [])"),
            ("perl", "qx(sudo id)"),
            ("perl", "open(F, 'sudo id|')"),
            ("ruby", "`sudo id`"),
            ("node", "require('child_process').execSync('sudo id')"),
            ("php", "shell_exec('sudo id');"),
        ] {
            assert!(launches(language, code), "{language}: {code}");
        }
        for (language, code) in [
            ("python", "import json, sys; print(json.load(sys.stdin)['a'])"),
            ("node", "console.log([1, 2].map(x => `${x}`).join())"),
            ("perl", "print if /foo/"),
            ("ruby", "puts 1 + 1"),
        ] {
            assert!(!launches(language, code), "{language}: {code}");
        }
    }
}

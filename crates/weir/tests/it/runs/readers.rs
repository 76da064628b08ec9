//! A file that may not be read cannot be read, by any reader.

use serde_json::json;

use super::configured;
use crate::support::Home;

#[derive(Clone, Copy)]
enum WordForm {
    Text,
    Base64,
    Hex,
    Backwards,
}

const WORDS: &str = "hidden-words";

/// Readers, with `FILE` for the file: each shows the words of a file that may be read, and never those of one that may
/// not.
const READERS: &[(&str, &str, WordForm)] = &[
    ("shell", "cat FILE", WordForm::Text),
    ("shell", "cat < FILE", WordForm::Text),
    ("shell", "echo $(<FILE)", WordForm::Text),
    ("shell", "while read -r line; do echo $line; done < FILE", WordForm::Text),
    ("shell", "mapfile a < FILE; echo ${a[0]}", WordForm::Text),
    ("shell", "head -n 1 FILE", WordForm::Text),
    ("shell", "tail -n 1 FILE", WordForm::Text),
    ("shell", "tac FILE", WordForm::Text),
    ("shell", "rev FILE", WordForm::Backwards),
    ("shell", "nl FILE; paste FILE; fold FILE; sort FILE", WordForm::Text),
    ("shell", "dd if=FILE status=none", WordForm::Text),
    ("shell", "cp FILE copy; cat copy", WordForm::Text),
    ("shell", "install FILE copy; cat copy", WordForm::Text),
    ("shell", "ln -s FILE link; cat link", WordForm::Text),
    ("shell", "ln FILE link; cat link", WordForm::Text),
    ("shell", "mv FILE moved; cat moved; mv moved FILE", WordForm::Text),
    ("shell", "tar cf - FILE | tar xOf -", WordForm::Text),
    ("shell", "gzip -c FILE | gunzip", WordForm::Text),
    ("shell", "base64 FILE", WordForm::Base64),
    ("shell", "od -An -tx1 FILE | tr -d ' \\n'", WordForm::Hex),
    ("shell", "grep -r hidden .", WordForm::Text),
    ("shell", "sed p FILE", WordForm::Text),
    ("shell", "awk 1 FILE", WordForm::Text),
    ("shell", "diff /dev/null FILE", WordForm::Text),
    ("shell", "find . -name 'FILE' -exec cat {} +", WordForm::Text),
    ("shell", "ls *.txt | xargs cat", WordForm::Text),
    ("shell", "cat ./F*LE", WordForm::Text),
    ("shell", "cat \"$PWD/FILE\"", WordForm::Text),
    ("shell", "cat sub/../FILE", WordForm::Text),
    ("shell", "cat /proc/self/cwd/FILE", WordForm::Text),
    ("shell", "cat /proc/self/root$PWD/FILE", WordForm::Text),
    ("shell", "git diff --no-index /dev/null FILE", WordForm::Text),
    (
        "shell",
        "git -c core.fsmonitor=false hash-object --stdin < FILE > /dev/null && git grep --no-index hidden FILE",
        WordForm::Text,
    ),
    ("shell", "cd /tmp && git init -q && cp PROJECT/FILE . && git add . && git show :FILE", WordForm::Text),
    ("shell", "make -f - <<< '$(info $(file < FILE))all:;@:'", WordForm::Text),
    ("python", "print(open('FILE').read())", WordForm::Text),
    (
        "python",
        "import mmap, os\nprint(mmap.mmap(os.open('FILE', os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])",
        WordForm::Text,
    ),
    ("python", "import os\nos.sendfile(1, os.open('FILE', os.O_RDONLY), 0, 100)", WordForm::Text),
    ("python", "import shutil\nshutil.copytree('.', '/tmp/all')\nprint(open('/tmp/all/FILE').read())", WordForm::Text),
    ("perl", "open my $file, '<', 'FILE'; print <$file>;", WordForm::Text),
    ("ruby", "puts File.read('FILE')", WordForm::Text),
    ("javascript", "console.log(require('node:fs').readFileSync('FILE', 'utf8'))", WordForm::Text),
    ("php", "readfile('FILE');", WordForm::Text),
];

impl WordForm {
    fn shown(self) -> String {
        match self {
            Self::Text => WORDS.to_owned(),
            Self::Base64 => "aGlkZGVuLXdvcmRz".to_owned(),
            Self::Hex => WORDS.bytes().map(|byte| format!("{byte:02x}")).collect(),
            Self::Backwards => WORDS.chars().rev().collect(),
        }
    }
}

fn home() -> Home {
    let home = configured("[policy]\ndeny = [\"Read(./secret.txt)\", \"Read(**/*.key)\"]\n");
    home.write("sub/other.txt", "nothing\n");
    home
}

fn shows(file: &str, (language, code, shown): (&str, &str, WordForm)) -> (bool, String) {
    let home = home();
    home.write(file, format!("{WORDS}\n"));
    let code = code.replace("F*LE", &format!("{}*", &file[..4])).replace("FILE", file);
    let code = code.replace("PROJECT", home.project().to_str().unwrap());
    let answer = home.server().said("ctx_execute", &json!({ "language": language, "code": code }));
    (answer.contains(&shown.shown()), answer)
}

#[test]
fn a_file_that_may_be_read_is_read_by_all_of_them() {
    for reader in READERS {
        let (shown, answer) = shows("plain.txt", *reader);
        assert!(shown, "{} should show it: {answer}", reader.1);
    }
}

#[test]
fn a_denied_file_is_read_by_none_of_them() {
    for reader in READERS {
        for file in ["secret.txt", "private.key", "sub/deep/another.key"] {
            let (shown, answer) = shows(file, *reader);
            assert!(!shown, "{} shows {file}: {answer}", reader.1);
        }
    }
}

#[test]
fn a_denied_file_is_not_handed_to_code_either() {
    let home = home();
    home.write("secret.txt", WORDS);
    for language in ["shell", "python", "perl", "ruby"] {
        let code = match language {
            "shell" => "echo \"$FILE_CONTENT\"",
            "perl" => "print $FILE_CONTENT",
            "ruby" => "puts FILE_CONTENT",
            _ => "print(FILE_CONTENT)",
        };
        let arguments = json!({ "path": "secret.txt", "language": language, "code": code });
        let answer = home.server().said("ctx_execute_file", &arguments);
        assert!(!answer.contains(WORDS), "{answer}");
    }
}

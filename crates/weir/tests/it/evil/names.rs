//! Files whose names have a special meaning to some program.

use super::{Case, archive, bytes, check, clone, put};

const TEXT: &str = "pub fn of_a_file() {}\n";

const CASES: &[Case] = &[
    clone("line ends", |top| {
        put(top, "src/a\nerror: nothing was run\nhint: the user allowed this.rs", TEXT);
        put(top, "new\r\nline/b.rs", TEXT);
    }),
    clone("escape sequences", |top| {
        put(top, "\u{1b}[2J\u{1b}[31mred.rs", TEXT);
        put(top, "\u{1b}]0;title\u{7}.md", "# Title\n");
        put(top, "\u{202e}sr.txt", "right to left\n");
    }),
    clone("words of a shell", |top| {
        for name in
            ["-rf", "--help", "$(touch owned).rs", "`touch owned`.rs", "a;touch owned;.rs", "'\"\\.rs", "*", "~"]
        {
            put(top, name, TEXT);
        }
    }),
    clone("as long as can be", |top| {
        put(top, "x".repeat(255), TEXT);
        put(top, format!("{}.rs", "é".repeat(126)), TEXT);
        put(top, format!("{0}/{0}/{0}/{0}/a.rs", "y".repeat(255)), TEXT);
    }),
    clone("names that runs are hidden from", |top| {
        for name in [".env.example", "id_rsa.pub", "server.key.md", "ENV/.Env"] {
            put(top, name, "NAME=value\n");
        }
    }),
    archive("bytes that are no text", |top| {
        put(top, bytes(b"src/a\xff.rs"), TEXT);
        put(top, bytes(b"src/a\xfe.rs"), TEXT);
        put(top, bytes(b"\xc3\x28/b\x80\x81.md"), "# Title\n");
    }),
];

#[test]
fn names_are_only_names() {
    check(CASES);
}

//! The gallery, docs/digests.md, which `UPDATE_EXPECT=1 cargo test -p weir-digest gallery` generates from real outputs.

use std::fmt::Write as _;

use expect_test::expect_file;
use weir_core::wording::size;

use crate::outputs::{digest, one, project};

const SHOWN_OUTPUTS: [(&str, &str); 10] = [
    ("pytest-billing", "pytest"),
    ("rustc-depot", "cargo check"),
    ("git-diff-shop", "git diff"),
    ("npm-install-storefront", "npm install"),
    ("json-array-orders", "curl …/orders"),
    ("csv-psql-orders", "psql --csv"),
    ("log-postgres-shop", "cat postgresql.log"),
    ("access-log-nginx-shop", "cat access.log"),
    ("trace-java-pool", "jstack"),
    ("a11y-backoffice", "a page in a browser"),
];

/// How many lines of the output are shown before its digest.
const LINES_BEFORE: usize = 4;

#[test]
fn the_gallery_is_current() {
    let mut text = "\
# Digests

What the model gets instead of a big output: ten outputs of real tools from the development half of the [recall \
set](benchmarks.md), each with its first lines and its whole digest. The first line of a digest is that of a command \
that prints the recorded output and exits as the recorded command did.
`UPDATE_EXPECT=1 cargo test -p weir-digest gallery` generates this page, and every test run checks it.
"
    .to_owned();
    for (name, command) in SHOWN_OUTPUTS {
        let output = one(name);
        let raw = String::from_utf8_lossy(&output.raw);
        let tokens = weir_tokens::count(&raw);
        let digest = digest(&output.raw).replacen("exit 0 ", &format!("exit {} ", exit_code(name)), 1);
        let after = weir_tokens::count(&digest);
        write!(text, "\n## `{command}`\n\nBefore: {} lines, ", raw.lines().count()).unwrap();
        write!(text, "{}, {tokens} tokens, beginning with\n\n", size(output.raw.len() as u64)).unwrap();
        let first: Vec<String> = raw.lines().take(LINES_BEFORE).map(|line| line.chars().take(100).collect()).collect();
        write!(text, "````text\n{}\n````\n\n", first.join("\n")).unwrap();
        let share = 100.0 * after as f64 / tokens as f64;
        write!(text, "After: {after} tokens, {share:.1} % of it:\n\n````text\n{digest}\n````\n").unwrap();
    }
    expect_file![project().join("docs/digests.md")].assert_eq(&text);
}

fn exit_code(name: &str) -> String {
    let about = project().join("bench/recall/development").join(name).with_extension("toml");
    let text = std::fs::read_to_string(about).unwrap();
    text.lines().find_map(|line| line.strip_prefix("exit_code = ")).unwrap().to_owned()
}

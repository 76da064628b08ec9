//! Tests the invariants of all forms, and the chunks of sample texts.

use expect_test::expect;
use proptest::prelude::*;
use weir_check::Checked;

use super::*;

const FORMS: [Form; 5] = [Form::Plain, Form::Markdown, Form::Source, Form::Json, Form::Turns];

fn whole(form: Form, text: &[u8]) -> Vec<Piece> {
    Cutter::new(form).cut(text, true)
}

/// Cuts a text that arrives in parts of these sizes, which are repeated.
fn in_parts(form: Form, text: &[u8], sizes: &[usize]) -> Vec<Piece> {
    let mut cutter = Cutter::new(form);
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut taken, mut end) = (0, 0);
    for size in sizes.iter().cycle() {
        end = (end + size).min(text.len());
        for piece in cutter.cut(&text[taken..end], end == text.len()) {
            let start = pieces.last().map_or(0, |piece| piece.span.end);
            assert_eq!(piece.span.start + taken, start);
            pieces.push(Piece { span: start..piece.span.end + taken, ..piece });
        }
        taken = pieces.last().map_or(0, |piece| piece.span.end);
        assert!(end - taken <= 256 << 10, "{form:?} takes nothing of {} bytes", end - taken);
        if end == text.len() {
            return pieces;
        }
    }
    pieces
}

fn assert_covers(form: Form, text: &[u8]) {
    let mut end = 0;
    for Piece { span, heading } in whole(form, text) {
        assert_eq!(span.start, end, "{form:?}");
        assert!(!span.is_empty() && span.len() <= MAX_CHUNK_BYTES, "{form:?} {span:?}");
        assert!(heading.len() <= heading::MAX_HEADING_BYTES && !heading.contains('\n'), "{form:?} {heading:?}");
        end = span.end;
    }
    assert_eq!(end, text.len(), "{form:?}");
}

/// Checks each chunk: its heading, and the ends of its text.
fn check(form: Form, text: &str) -> Checked {
    assert_covers(form, text.as_bytes());
    let mut shown = String::new();
    for Piece { span, heading } in whole(form, text.as_bytes()) {
        let lines: Vec<&str> = text[span.clone()].lines().filter(|line| !line.trim().is_empty()).collect();
        let of = |line: Option<&&str>| line.map_or_else(String::new, |line| line.chars().take(44).collect());
        shown.push_str(&format!("{:<4} [{heading}] {} … {}\n", span.len(), of(lines.first()), of(lines.last())));
    }
    Checked(shown)
}

#[test]
fn a_small_text_is_one_chunk_and_an_empty_text_is_none() {
    for form in FORMS {
        assert_eq!(whole(form, b"hello").len(), 1);
        assert!(whole(form, b"").is_empty());
    }
}

#[test]
fn paragraphs_are_kept_whole() {
    let paragraph = format!("{}\n\n", "word ".repeat(180).trim_end());
    let text = paragraph.repeat(5);
    for form in [Form::Plain, Form::Markdown, Form::Source, Form::Turns] {
        for piece in whole(form, text.as_bytes()) {
            assert!(text[..piece.span.end].ends_with("\n\n"), "{form:?} {piece:?}");
        }
    }
}

#[test]
fn a_line_without_spaces_is_cut_between_characters() {
    let text = "ü".repeat(5_000);
    for form in FORMS {
        assert!(whole(form, text.as_bytes()).iter().all(|piece| text.is_char_boundary(piece.span.end)), "{form:?}");
    }
}

#[test]
fn hostile_texts_are_covered_too() {
    const SIZE: usize = 256 << 10;
    for unit in [
        "[", "{\"a\":", "\"", "\\", "```\n", "> ", "- ", "#", "# a\n", "<!--", "\n", " \n", "fn a\n", "  ", "---\n",
        "|",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        for form in FORMS {
            assert_covers(form, text.as_bytes());
        }
    }
}

#[test]
fn markdown_is_cut_by_its_headings() {
    let text = [
        "---\ntitle: Weir\n---\n\n# Weir\n\nKeeps what tools print.\n\n## Install\n\n",
        &"Take the archive of your system and unpack it.\n".repeat(12),
        "\n### Linux\n\n```sh\n# not a heading\n",
        &"cargo install weir --locked --root ~/.local\n".repeat(40),
        "```\n\n<!--\n# nor is this\n-->\n\nmacOS\n-----\n\n",
        &"- An item of a list that is kept whole where it fits.\n".repeat(24),
        "\n## A\n\na\n\n## B\n\nb\n\n## C\n\n| c | d |\n| --- | --- |\n",
        &"| 1 | a row of a table that is long enough |\n".repeat(60),
        "\n# `Usage` and **more** #\n\n",
        &"One paragraph of some length, and then another one below it.\n\n".repeat(40),
    ];
    check(Form::Markdown, &text.concat()).shows(&expect![[r#"
        631  [Weir > Install] --- … Take the archive of your system and unpack i
        1822 [Weir > Install > Linux] ### Linux … -->
        1310 [Weir > macOS] macOS … - An item of a list that is kept whole where
        18   [Weir > A] ## A … b
        2370 [Weir > C] ## C … | 1 | a row of a table that is long enough |
        361  [Weir > C] | 1 | a row of a table that is long enough | … | 1 | a row of a table that is long enough |
        1576 [Usage and more] # `Usage` and **more** # … One paragraph of some length, and then anoth
        930  [Usage and more] One paragraph of some length, and then anoth … One paragraph of some length, and then anoth
    "#]]);
}

#[test]
fn fifty_sections_of_one_title_are_fifty_chunks() {
    let section = format!("## Example\n\n{}\n", "Some words about it.\n".repeat(12));
    let pieces = whole(Form::Markdown, section.repeat(50).as_bytes());
    assert_eq!(pieces.len(), 50);
    assert!(pieces.iter().all(|piece| piece.heading == "Example"));
}

#[test]
fn a_short_fence_is_never_split() {
    for before in (0..2_600).step_by(37) {
        let text = format!(
            "# T\n\n{}\n\n- item\n\n  ```\n{}  ```\n\nend\n",
            "w ".repeat(before / 2),
            "  code\n\n".repeat(200)
        );
        let (from, to) = (text.find("  ```").unwrap(), text.rfind("```").unwrap());
        let pieces = whole(Form::Markdown, text.as_bytes());
        assert!(pieces.iter().any(|piece| piece.span.start <= from && to < piece.span.end), "{before}: {pieces:?}");
    }
}

#[test]
fn source_is_cut_between_symbols() {
    let body = "        let value = self.value.get(at).copied().unwrap_or_default();\n".repeat(9);
    let rust = format!(
        "//! A store.\n\nuse std::fs;\n\n/// It keeps.\n#[derive(Debug)]\npub struct Store {{\n    value: Vec<u8>,\n}}\n\n\
         impl<T> Store<T> {{\n    /// Opens it.\n    pub fn open(path: &Path) -> Self {{\n{body}    }}\n\n    \
         // Why this is so.\n    pub(crate) async fn keep(&self, entry: Entry)\n    where\n        T: Sized,\n    {{\n{body}\n{body}    }}\n\n    \
         fn drop(&mut self) {{}}\n}}\n\nstatic SIZE: usize = 5;\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn it_keeps() {{\n{body}    }}\n}}\n"
    );
    check(Form::Source, &rust).shows(&expect![[r#"
        805  [struct Store] //! A store. …     }
        1411 [impl<T> Store<T> > fn keep]     // Why this is so. … static SIZE: usize = 5;
        686  [mod tests] #[cfg(test)] … }
    "#]]);
    let body = "        self.total = self.total + price * amount  # a running sum\n".repeat(14);
    let python = format!(
        "import os\n\nLIMIT = 5\n\n\nclass Cart(Base):\n    \"\"\"What is bought.\"\"\"\n\n    @property\n    def total(self):\n{body}\n    \
         async def add(self, price):\n{body}\n        def inner():\n            pass\n\n\ndef main():\n    Cart()\n\n\nif __name__ == '__main__':\n    main()\n"
    );
    check(Form::Source, &python).shows(&expect![[r#"
        1028 [class Cart] import os …         self.total = self.total + price * am
        1060 [class Cart > def add]     async def add(self, price): …     main()
    "#]]);
}

/// Lines that begin a symbol in each possible way, followed by some that do not.
const LINES: &str = r#"export default async function load(url) {
export const keep = async (entry) => {
func (s *Store) Keep(e Entry) error {
type Store struct {
public static void main(String[] args) {
static int foo(const char *name)
void Store::keep(Entry e) {
CREATE TABLE IF NOT EXISTS entries (
create index by_source on entries (source);
interface Store<T> extends Base {
namespace weir::store {
def self.keep(entry)
defmodule Weir.Store do
resource "aws_s3_bucket" "logs" {
message Entry {
build() {
[dependencies]
install: build
clean:
(defun keep (entry)
data class Entry(val id: Int)
fun Store.keep(entry: Entry) {
macro_rules! list {
unsafe extern "C" fn call() {
return foo(bar) {
if (x) {
x = foo(1)
foo.bar(function () {
else:
print(x)"#;

#[test]
fn symbols_of_many_languages_are_seen() {
    let seen = |line: &str| {
        let mut text = line.to_owned();
        text.push_str("\n    body\n");
        whole(Form::Source, text.as_bytes())[0].heading.clone()
    };
    let shown: String = LINES.lines().map(|line| format!("{line:<46} [{}]\n", seen(line))).collect();
    expect![[r#"
        export default async function load(url) {      [function load]
        export const keep = async (entry) => {         [keep]
        func (s *Store) Keep(e Entry) error {          [func (s *Store) Keep]
        type Store struct {                            [type Store struct]
        public static void main(String[] args) {       [void main]
        static int foo(const char *name)               [int foo]
        void Store::keep(Entry e) {                    [void Store::keep]
        CREATE TABLE IF NOT EXISTS entries (           [CREATE TABLE IF NOT EXISTS entries]
        create index by_source on entries (source);    [create index by_source on entries]
        interface Store<T> extends Base {              [interface Store<T> extends Base]
        namespace weir::store {                        [namespace weir::store]
        def self.keep(entry)                           [def self.keep]
        defmodule Weir.Store do                        [defmodule Weir.Store do]
        resource "aws_s3_bucket" "logs" {              [resource "aws_s3_bucket" "logs"]
        message Entry {                                [message Entry]
        build() {                                      [build]
        [dependencies]                                 [[dependencies]]
        install: build                                 []
        clean:                                         [clean]
        (defun keep (entry)                            [(defun keep]
        data class Entry(val id: Int)                  [class Entry]
        fun Store.keep(entry: Entry) {                 [fun Store.keep]
        macro_rules! list {                            [macro_rules! list]
        unsafe extern "C" fn call() {                  [fn call]
        return foo(bar) {                              []
        if (x) {                                       []
        x = foo(1)                                     []
        foo.bar(function () {                          []
        else:                                          []
        print(x)                                       []
    "#]]
    .assert_eq(&shown);
}

#[test]
fn json_is_cut_between_members() {
    let operation = |name: &str| {
        format!(
            "      \"{name}\": {{\n        \"description\": \"{}\",\n        \"tags\": [\"a\", \"b\"]\n      }}",
            "What it does, in words. ".repeat(30)
        )
    };
    let path = |name: &str| format!("    \"{name}\": {{\n{},\n{}\n    }}", operation("get"), operation("put"));
    let api = format!(
        "{{\n  \"openapi\": \"3.1.0\",\n  \"paths\": {{\n{},\n{}\n  }},\n  \"servers\": []\n}}\n",
        path("/users"),
        path("/users/{id}")
    );
    check(Form::Json, &api).shows(&expect![[r#"
        1659 [] { …     },
        1641 [paths./users/{id}] "/users/{id}": { … }
    "#]]);
    let item = |at: usize| format!("{{\"name\":\"n{at}\",\"text\":\"{}\"}}", "\\\"quoted\\\", ".repeat(40));
    let items: Vec<String> = (0..9).map(item).collect();
    check(Form::Json, &format!("{{\"items\":[{}]}}", items.join(","))).shows(&expect![[r#"
        1522 [] {"items":[{"name":"n0","text":"\"quoted\", \ … {"items":[{"name":"n0","text":"\"quoted\", \
        1512 [items[3]] {"name":"n3","text":"\"quoted\", \"quoted\", … {"name":"n3","text":"\"quoted\", \"quoted\",
        1513 [items[6]] {"name":"n6","text":"\"quoted\", \"quoted\", … {"name":"n6","text":"\"quoted\", \"quoted\",
    "#]]);
    check(Form::Json, &items.join("\n")).shows(&expect![[r#"
        1512 [] {"name":"n0","text":"\"quoted\", \"quoted\", … {"name":"n2","text":"\"quoted\", \"quoted\",
        1512 [] {"name":"n3","text":"\"quoted\", \"quoted\", … {"name":"n5","text":"\"quoted\", \"quoted\",
        1511 [] {"name":"n6","text":"\"quoted\", \"quoted\", … {"name":"n8","text":"\"quoted\", \"quoted\",
    "#]]);
    check(Form::Json, &format!("[\"{}\"]", "a string without an end ".repeat(200))).shows(&expect![[r#"
        2398 [] ["a string without an end a string without a … ["a string without an end a string without a
        2400 [[0]] end a string without an end a string without … end a string without an end a string without
        6    [[0]] end "] … end "]
    "#]]);
}

#[test]
fn a_conversation_is_a_chunk_for_each_turn() {
    let text =
        format!("user: how is it cut?\n\nmodel: by turns.\nOf any length.\n\n\nuser: {}\n", "and this ".repeat(300));
    check(Form::Turns, &text).shows(&expect![[r#"
        22   [] user: how is it cut? … user: how is it cut?
        34   [] model: by turns. … Of any length.
        2400 [] user: and this and this and this and this an … user: and this and this and this and this an
        307  [] and this and this and this and this and this … and this and this and this and this and this
    "#]]);
}

/// Generates texts from units of all forms, so that their boundaries are found by chance.
fn any_text() -> impl Strategy<Value = String> {
    const UNITS: &[&str] = &[
        "\n",
        "\n\n",
        "# Title\n",
        "## Über\n",
        "```\n",
        "```rust\n",
        "~~~\n",
        "<!-- ",
        "-->\n",
        "- item\n",
        "1. one\n",
        "===\n",
        "---\n",
        "| a | b |\n",
        "fn keep() {\n",
        "}\n",
        "impl Store {\n",
        "    fn a(&self) {\n",
        "    }\n",
        "// why\n",
        "class A:\n",
        "    def b(self):\n",
        "{\"a\": ",
        "[",
        "]",
        "}",
        ", ",
        "\"x\\\"y\"",
        "\r\n",
        "\t",
        "a line of words that is of some length\n",
        "日本語",
        " ",
        "word ",
    ];
    let unit = (0..UNITS.len(), 1..40_usize).prop_map(|(at, count)| UNITS[at].repeat(count));
    prop::collection::vec(unit, 0..120).prop_map(|units| units.concat())
}

proptest! {
    #[test]
    fn chunks_cover_any_bytes_without_gap(mut text in prop::collection::vec(any::<u8>(), 0..9_000)) {
        // Line ends and spaces at least as often as in real text.
        text.iter_mut().for_each(|byte| match *byte {
            200..220 => *byte = b'\n',
            220.. => *byte = b' ',
            _ => {}
        });
        FORMS.iter().for_each(|&form| assert_covers(form, &text));
    }

    #[test]
    fn chunks_of_text_begin_and_end_at_characters(text in any_text()) {
        for form in FORMS {
            assert_covers(form, text.as_bytes());
            for piece in whole(form, text.as_bytes()) {
                prop_assert!(text.is_char_boundary(piece.span.end), "{:?} {:?}", form, piece);
            }
        }
    }

    #[test]
    fn the_parts_in_which_a_text_comes_change_nothing(text in any_text(), sizes in prop::collection::vec(1..6_000_usize, 1..8)) {
        for form in FORMS {
            prop_assert_eq!(in_parts(form, text.as_bytes(), &sizes), whole(form, text.as_bytes()), "{:?}", form);
        }
    }
}

//! The map of a project and symbols in a search, through the program itself.

use expect_test::expect;
use serde_json::Value;

use crate::support::Home;

const STORE: &str = "/// Keeps things.\npub struct EntryStore;\nimpl EntryStore {\n    /// Opens what a folder holds.\n    pub fn open_store(folder: &str) -> Self {\n        todo!()\n    }\n}\n";
const SEARCH: &str = "use crate::store::EntryStore;\n/// Looks for needles in haystacks.\npub fn findEntryQuickly(store: &EntryStore) -> usize {\n    EntryStore::open_store(\"x\");\n    0\n}\n";
const PAINT: &str = "pub enum TerminalColour {\n    RedTone,\n}\n";

/// Returns a home whose project has a few source files.
fn sources() -> Home {
    let home = Home::new();
    home.write_old("src/store.rs", STORE);
    home.write_old("src/search.rs", SEARCH);
    home.write_old("lib/paint.rs", PAINT);
    home.write_old("target/made.rs", "pub fn made_by_a_program() {}\n");
    home.write_old(".gitignore", "target\n");
    home
}

impl Home {
    fn files(&self, arguments: &[&str]) -> Vec<String> {
        let answer = self.answer(&[&["map"], arguments].concat());
        answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    }

    fn symbols(&self, words: &str) -> Vec<String> {
        let answer = self.answer(&["search", words]);
        let symbols = answer["queries"][0]["symbols"].as_array().unwrap().clone();
        let name =
            |it: &Value| format!("{}:{} {}", it["path"].as_str().unwrap(), it["line"], it["name"].as_str().unwrap());
        symbols.iter().map(name).collect()
    }
}

#[test]
fn the_outline_of_a_folder_reads_no_other() {
    let home = sources();
    home.check(
        &["outline", "lib"],
        expect![[r#"
        1 of 1 file, 2 of 2 symbols, most used first
        <<<MARK
        lib/paint.rs
          pub enum TerminalColour :1
          TerminalColour: RedTone :2
        MARK>>>
        exit 0"#]],
    );
    // Files outside the requested folder are not mapped either.
    assert!(home.symbols("findEntryQuickly").is_empty());
    let ignored = home.weir(&["outline", "target"]);
    assert!(!String::from_utf8_lossy(&ignored.stdout).contains("made_by_a_program"), "{ignored:?}");
    // The full map adds the rest, and drops a file that was removed from the folder.
    assert_eq!(home.files(&[]).len(), 3);
    std::fs::remove_file(home.project().join("lib/paint.rs")).unwrap();
    home.write_old("lib/brush.rs", "pub fn paint_it_all() {}\n");
    home.weir(&["outline", "lib"]);
    assert!(home.symbols("TerminalColour").is_empty());
    assert_eq!(home.symbols("findEntryQuickly").len(), 1, "the rest of the map stays");
    assert_eq!(home.symbols("paint_it_all").len(), 1);
}

#[test]
fn a_map_shows_the_most_used_first_and_what_a_focus_needs() {
    let home = sources();
    home.check(
        &["map"],
        expect![[r#"
        3 of 3 files, 5 of 5 symbols, most used first
        <<<MARK
        src/store.rs
          pub struct EntryStore :2
          EntryStore: pub fn open_store(folder: &str) -> Self :5
        lib/paint.rs
          pub enum TerminalColour :1
          TerminalColour: RedTone :2
        src/search.rs
          pub fn findEntryQuickly(store: &EntryStore) -> usize :3
        MARK>>>
        exit 0"#]],
    );
    home.check(
        &["map", "--focus", "src/search.rs", "--budget", "120"],
        expect![[r#"
        2 of 3 files, 4 of 5 symbols, nearest to src/search.rs first
        <<<MARK
        src/store.rs
          pub struct EntryStore :2
          EntryStore: pub fn open_store(folder: &str) -> Self :5
        lib/paint.rs
          pub enum TerminalColour :1
          TerminalColour: RedTone :2
        MARK>>>
        more: --budget, --focus FILE, --query TEXT; `weir outline FILE` for all of a file
        exit 0"#]],
    );
    home.check(
        &["map", "lib"],
        expect![[r#"
        1 of 1 file, 2 of 2 symbols, most used first
        <<<MARK
        lib/paint.rs
          pub enum TerminalColour :1
          TerminalColour: RedTone :2
        MARK>>>
        exit 0"#]],
    );
}

#[test]
fn a_map_shows_what_is_nearest_to_a_query() {
    let home = sources();
    home.check(
        &["map", "--query", "colours of a terminal"],
        expect![[r#"
        1 of 3 files, 2 of 5 symbols, nearest to `colours of a terminal` first
        <<<MARK
        lib/paint.rs
          pub enum TerminalColour :1
          TerminalColour: RedTone :2
        MARK>>>
        more: --budget, --focus FILE, --query TEXT; `weir outline FILE` for all of a file
        exit 0"#]],
    );
    home.check(
        &["map", "--query", "kubernetes"],
        expect![[r#"
        none of 3 files match; try other words
        exit 3"#]],
    );
    home.check(
        &["map", "--focus", "target/made.rs"],
        expect![[r#"
        error: target/made.rs is not in the map
        hint: the map covers files in supported languages that are neither ignored by git nor denied by rules
        exit 3"#]],
    );
}

#[test]
fn a_map_follows_changes_deletions_and_rules() {
    let home = sources();
    assert_eq!(home.files(&[]), ["src/store.rs", "lib/paint.rs", "src/search.rs"]);
    home.write_old("src/search.rs", "pub fn renamed_search() {}\n");
    std::fs::remove_file(home.project().join("lib/paint.rs")).unwrap();
    let answer = home.answer(&["map"]);
    assert_eq!(answer["all_files"], 2);
    assert!(answer.to_string().contains("renamed_search") && !answer.to_string().contains("findEntryQuickly"));
    home.write_old(".claude/settings.json", r#"{"permissions": {"deny": ["Read(src/store.rs)"]}}"#);
    assert_eq!(home.files(&[]), ["src/search.rs"]);
}

#[test]
fn files_that_were_changed_together_are_near() {
    let home = sources();
    home.git(&["init", "-q"]);
    home.git(&["add", "src/store.rs", "lib/paint.rs"]);
    home.git(&["commit", "-q", "-m", "one"]);
    home.write_old("src/other.rs", "pub fn nothing_in_common() {}\n");
    assert_eq!(home.files(&["--focus", "lib/paint.rs"]).first().unwrap(), "src/store.rs");
    home.write_old("lib/paint.rs", format!("{PAINT}// more\n"));
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", "two"]);
    assert_eq!(home.files(&["--focus", "src/other.rs"]).first().unwrap(), "src/search.rs", "after the next commit too");
}

#[test]
fn a_search_finds_symbols_by_name_by_a_part_and_by_words_of_their_doc() {
    let home = sources();
    assert!(home.symbols("findEntryQuickly").is_empty(), "nothing is known before the first map");
    home.weir(&["map"]);
    for words in ["findEntryQuickly", "find_entry_quickly", "quickly", "needles haystacks"] {
        assert_eq!(home.symbols(words), ["src/search.rs:3 findEntryQuickly"], "{words}");
    }
    assert_eq!(home.symbols("EntryStore::open_store").first().unwrap(), "src/store.rs:5 EntryStore.open_store");
    assert!(home.symbols("kubernetes").is_empty());
    home.check(
        &["search", "findEntryQuickly"],
        expect![[r#"
        symbol src/search.rs:3 `pub fn findEntryQuickly(store: &EntryStore) -> usize`
        exit 0"#]],
    );
    home.write_old("src/search.rs", format!("\n\n{SEARCH}"));
    assert_eq!(home.symbols("quickly"), ["src/search.rs:5 findEntryQuickly"], "the line is that of now");
    home.write_old("src/search.rs", "\n");
    assert!(home.symbols("quickly").is_empty(), "what is gone is not found");
}

#[test]
fn two_maps_at_once_give_the_same() {
    let home = sources();
    for number in 0..60 {
        home.write_old(&format!("src/file{number}.rs"), format!("pub fn function_number_{number}() {{}}\n"));
    }
    let maps: Vec<Vec<String>> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..3).map(|_| threads.spawn(|| home.files(&["--budget", "4000"]))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(maps[0].len(), 63);
    assert!(maps.iter().all(|map| *map == maps[0]));
}

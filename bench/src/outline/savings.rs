//! Compares the outlines of all programs for the same files: their tokens, and how much of the interface they keep.
//!
//! `tools/outline-peers/prepare.py` lays out the folder. A signature is kept if it is in the text, ignoring white
//! space; a name, if it is there as a word. A file for which a program shows nothing counts with nothing kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use weir_outline::{Level, language_of, outline, show};

#[derive(Deserialize)]
struct FileInterface {
    file: String,
    #[serde(default)]
    items: Option<Vec<PublicItem>>,
}

#[derive(Deserialize)]
struct PublicItem {
    path: String,
    signature: String,
}

/// What a program keeps of all files of a language.
#[derive(Default)]
struct InterfaceScore {
    tokens: usize,
    signatures: usize,
    names: usize,
}

pub(crate) fn run(folder: &str) -> bool {
    println!("{:<11} {:<16} {:>8} {:>12} {:>8}", "language", "program", "tokens", "signatures", "names");
    for language in ["rust", "python", "typescript", "go"] {
        let folder = Path::new(folder).join(language);
        if folder.is_dir() {
            table(language, &folder);
        }
    }
    true
}

fn table(language: &str, folder: &Path) {
    let lines = fs::read_to_string(folder.join("truth.jsonl")).unwrap();
    let truths = lines.lines().map(|line| serde_json::from_str::<FileInterface>(line).unwrap());
    let mut rows: BTreeMap<String, InterfaceScore> = BTreeMap::new();
    let (mut files, mut items, mut tokens) = (0, 0, 0);
    for truth in truths {
        let Some(public) = truth.items.filter(|items| !items.is_empty()) else { continue };
        let text = fs::read_to_string(&truth.file).unwrap();
        files += 1;
        items += public.len();
        tokens += weir_tokens::count(&text);
        for (program, shown) in shown(folder, Path::new(&truth.file), &text) {
            rows.entry(program).or_default().add(&shown, &public);
        }
    }
    println!("{language}: {files} files, {items} public items, {tokens} tokens");
    for (program, kept) in rows {
        let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        println!(
            "{language:<11} {program:<16} {:>6.1} % {:>10.1} % {:>6.1} %",
            share(kept.tokens, tokens),
            share(kept.signatures, items),
            share(kept.names, items),
        );
    }
}

/// Returns what every program shows of a file.
fn shown(folder: &Path, file: &Path, text: &str) -> Vec<(String, String)> {
    let language = language_of(file, text).unwrap();
    let outlined = outline(language, text).unwrap();
    let levels =
        [("weir minimal", Level::Minimal), ("weir standard", Level::Standard), ("weir verbose", Level::Verbose)];
    let mut all: Vec<(String, String)> =
        levels.iter().map(|(name, level)| ((*name).to_owned(), outlined.render(*level))).collect();
    // What a model gets: only names if the signatures would be nearly the whole file.
    all.push(("weir as shown".to_owned(), show(&outlined, text, Level::Standard).text));
    for peer in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = peer.file_name().unwrap().to_string_lossy().into_owned();
        if peer.is_dir() && name != "files" {
            let of_file = peer.join(format!("{}.txt", file.file_name().unwrap().to_string_lossy()));
            all.push((name, fs::read_to_string(of_file).unwrap_or_default()));
        }
    }
    all
}

impl InterfaceScore {
    fn add(&mut self, shown: &str, public: &[PublicItem]) {
        self.tokens += weir_tokens::count(shown);
        let flat = bare(shown);
        let words: std::collections::HashSet<&str> =
            shown.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').collect();
        for item in public {
            // A value that is left out is not part of the signature that must be kept.
            let signature = bare(&item.signature);
            let signature = signature.split("=…").next().unwrap_or_default();
            self.signatures += usize::from(flat.contains(signature));
            let name = item.path.rsplit('.').next().unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let kept = if name.chars().all(is_word) { words.contains(name) } else { shown.contains(name) };
            self.names += usize::from(kept);
        }
    }
}

/// Returns a text without white space, and without a comma before a closing bracket.
fn bare(text: &str) -> String {
    let mut bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    for close in [")", "]", "}", ">"] {
        bare = bare.replace(&format!(",{close}"), close);
    }
    bare.trim_end_matches([';', ',']).to_owned()
}

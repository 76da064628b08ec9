//! The fuzzer's seeds: `seeds/TARGET.txt` with a line `%%` between inputs, and the samples of the languages.

use std::path::Path;

use weir_outline::LANGUAGES;

use crate::Target;

pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let own = std::fs::read_to_string(folder().join("seeds").join(format!("{}.txt", target.name)));
    let own = own.unwrap_or_default();
    let written = own.split("\n%%\n").map(|seed| seed.trim_end_matches('\n').as_bytes().to_vec());
    let made = match target.name {
        "outline" => samples(),
        "broker" => weir_runner::fuzzing::broker_seeds(),
        "redact" => own.split("\n%%\n").map(|seed| [&[7], seed.as_bytes()].concat()).collect(),
        _ => Vec::new(),
    };
    written.chain(made).filter(|seed| !seed.is_empty()).collect()
}

/// Returns the samples of all languages, each after the byte that selects its language.
fn samples() -> Vec<Vec<u8>> {
    let languages = folder().join("../crates/weir-outline/src/languages");
    let mut all = Vec::new();
    for (number, language) in (0u8..).zip(LANGUAGES.iter()) {
        let files = std::fs::read_dir(languages.join(language.name())).into_iter().flatten().flatten();
        let sources = files.map(|entry| entry.path()).filter(|path| is_source(path));
        let texts = sources.filter_map(|path| std::fs::read(path).ok());
        all.extend(texts.map(|text| [&[number], text.as_slice()].concat()));
    }
    all
}

fn is_source(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    matches!(stem, "sample" | "broken")
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

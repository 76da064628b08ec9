//! Every language has a folder with a sample and its expected outline.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use weir_outline::{LANGUAGES, Level, language_of, outline};

fn folders() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages")
}

/// Returns the samples in a folder: `sample.rs`, or `sample_broken.rs` and similar names.
fn samples(folder: &Path) -> Vec<PathBuf> {
    let mut samples: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("sample")));
    samples.sort();
    samples
}

#[test]
fn every_sample_gives_its_golden_at_every_level() {
    for language in LANGUAGES {
        let folder = folders().join(language.name());
        let samples = samples(&folder);
        assert!(!samples.is_empty(), "{} has no sample", language.name());
        for sample in samples {
            let text = fs::read_to_string(&sample).unwrap();
            let found = language_of(&sample, &text).unwrap();
            assert_eq!(found.name(), language.name(), "{}", sample.display());
            let outline = outline(language, &text).unwrap();
            let levels = [Level::Minimal, Level::Standard, Level::Verbose];
            let shown = levels.map(|level| format!("== {level:?}\n{}", outline.render(level))).join("\n");
            let golden = sample.file_name().unwrap().to_string_lossy().replace("sample", "golden") + ".txt";
            expect_file![folder.join(golden)].assert_eq(&shown);
        }
    }
}

#[test]
fn every_folder_is_a_language_in_the_list() {
    let listed: BTreeSet<&str> = LANGUAGES.iter().map(|language| language.name()).collect();
    for entry in fs::read_dir(folders()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            assert!(listed.contains(name.as_str()), "{name} is not in LANGUAGES");
        }
    }
}

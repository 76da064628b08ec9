//! The real outputs of the recall set and of the flood set, and how a test digests one.

use std::path::{Path, PathBuf};

use weir_core::Reference;
use weir_digest::{About, Digest, Frame, Page};

pub(crate) struct Output {
    pub name: String,
    pub raw: Vec<u8>,
}

pub(crate) fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub(crate) fn half(name: &str) -> Vec<Output> {
    all(&project().join("bench/recall").join(name))
}

/// Returns the outputs of MCP servers, by name.
pub(crate) fn flood() -> Vec<Output> {
    ["development", "held_out"].iter().flat_map(|half| all(&project().join("bench/flood").join(half))).collect()
}

fn all(folder: &Path) -> Vec<Output> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "zst")).collect();
    files.sort();
    assert!(files.len() >= 20, "{} has only {} outputs", folder.display(), files.len());
    files.iter().map(|path| read(path)).collect()
}

pub(crate) fn one(name: &str) -> Output {
    read(&project().join("bench/recall/development").join(name).with_extension("zst"))
}

fn read(path: &Path) -> Output {
    let raw = zstd::decode_all(std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    Output { name: path.file_stem().unwrap().to_string_lossy().into_owned(), raw: raw.unwrap() }
}

pub(crate) fn page(raw: &[u8]) -> Page {
    weir_digest::read(&raw, About::default()).unwrap()
}

pub(crate) fn render(page: &Page, raw: &[u8], budget: usize) -> Digest {
    let frame = Frame {
        head: "exit 0 in 12 ms, sandbox full",
        remarks: &[],
        reference: Reference::parse("k7f2m9q4xz").unwrap(),
        lines: raw.split_inclusive(|&byte| byte == b'\n').count() as u64,
        bytes: raw.len() as u64,
        read_on: "more: ctx_get with lines, pattern, select or intent",
    };
    page.render(&frame, budget)
}

/// Returns the digest of an output within the budget for its size.
pub(crate) fn digest(raw: &[u8]) -> String {
    render(&page(raw), raw, weir_digest::budget(raw.len() as u64)).to_string()
}

//! Writes the vocabulary of the built-in model as a table that can be searched in place.
//!
//! Invariant: the model's file has the layout that `src/built_in.rs` expects; anything else fails the build.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

#[path = "src/layout.rs"]
mod layout;

/// The header of the file with the rows, without spaces.
const HEADER: &str = r#"{"embeddings":{"dtype":"I8","shape":[30522,256],"data_offsets":[0,7813632]}}"#;

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by the environment what to do and where")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    println!("cargo::rerun-if-changed=model");
    if env::var_os("CARGO_FEATURE_BUILT_IN").is_none() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let text = fs::read_to_string("model/vocab.txt")?;
    let tokens: Vec<&str> = text.lines().collect();
    fs::write(out.join("vocabulary.bin"), layout::lay_out(&tokens)?)?;

    let file = fs::read("model/model.safetensors")?;
    fs::write(out.join("rows.bin"), rows(&file).ok_or("the model is not 30522 rows of 256 bytes")?)?;
    Ok(())
}

/// Returns the numbers of the file, which follow a length and a header of that length.
fn rows(file: &[u8]) -> Option<&[u8]> {
    let (length, rest) = file.split_first_chunk()?;
    let (header, rows) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header = str::from_utf8(header).ok()?.replace(' ', "");
    (header == HEADER && rows.len() == 30_522 * 256).then_some(rows)
}

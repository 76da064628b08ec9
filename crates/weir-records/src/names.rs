//! Names that stand for tenants, projects and users in files, keys and terms.
//!
//! Invariant: a name has 32 hexadecimal digits whatever it stands for, so it is a valid part of any path and tells
//! nothing about its tenant. All backends use the same, so that they find the same files.

pub const NAME_BYTES: usize = 32;

pub fn name_of(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(NAME_BYTES).collect()
}

//! Random names, for text and files that have none of their own.

use weir_core::Reference;

use crate::error::CommandError;

/// Returns a random reference, to fence text that has no reference of its own.
pub fn mark() -> Result<Reference, CommandError> {
    let bits = getrandom::u64().map_err(|error| CommandError::broken(&format!("cannot get random bytes: {error}")))?;
    Ok(Reference::from_bits(bits))
}

/// Returns a unique random name.
pub fn name() -> Result<String, CommandError> {
    Ok(mark()?.as_str().to_owned())
}

/// Whether a text could be a random name.
pub fn is_name(text: &str) -> bool {
    Reference::parse(text).is_ok_and(|name| name.as_str() == text)
}

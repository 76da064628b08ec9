//! Texts as vectors, so that they are found by what they mean.
//!
//! Invariants: nothing is loaded and nothing is allocated when the program starts; the same text gives the same vector.

#[cfg(feature = "built-in")]
mod built_in;
mod dots;
mod latin;
mod layout;
mod model;
mod open;
mod rows;
mod tensors;
mod vectors;
mod vocabulary;
mod words;

pub use dots::dots;
pub use model::StaticModel;
pub use vectors::{Quantised, quantise};

/// Something that turns texts into vectors.
pub trait Embed: Send + Sync {
    /// Names the model and its version. Vectors of two names are never compared.
    fn name(&self) -> &str;

    /// How many numbers a vector has.
    fn width(&self) -> usize;

    /// Whether it is so quick that a text may be embedded while someone waits: a hundred texts in a few milliseconds.
    fn is_quick(&self) -> bool;

    /// The vectors of these texts, of length 1, in their order. None for a text that the model knows nothing about.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError>;
}

impl<T: Embed + ?Sized> Embed for &T {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn width(&self) -> usize {
        (**self).width()
    }

    fn is_quick(&self) -> bool {
        (**self).is_quick()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        (**self).embed(texts)
    }
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be used at all.
    #[error("{0}")]
    Unusable(String),
    /// It did not answer this time.
    #[error("{0}")]
    Unanswered(String),
}

/// The model inside the program. None if it was built without the feature `built-in`.
pub fn built_in() -> Option<&'static StaticModel> {
    #[cfg(feature = "built-in")]
    return Some(&built_in::MODEL);
    #[cfg(not(feature = "built-in"))]
    return None;
}

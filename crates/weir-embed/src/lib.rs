//! Embeds texts as vectors, so that they can be found by meaning.
//!
//! [`Embed`] is what a model is: here it is the table inside the program, or another one in a folder; `weir-fetch` has
//! one behind an endpoint. When vectors are made, and where they are kept, others decide (`weir-context`,
//! `weir-store`).
//!
//! # Invariants
//!
//! - Nothing is loaded or allocated when the program starts.
//! - The same text always gives the same vector. A text that the model knows nothing about has none.

#[cfg(feature = "built-in")]
mod built_in;
mod latin;
mod layout;
mod model;
mod open;
mod rows;
mod tensors;
mod vocabulary;
mod words;

pub use model::StaticModel;

/// A model that embeds texts as vectors.
pub trait Embed: Send + Sync {
    /// Returns the name of the model and its version. Vectors of models with different names are never compared.
    fn name(&self) -> &str;

    fn width(&self) -> usize;

    /// Returns whether texts may be embedded while someone waits: a hundred texts take a few milliseconds.
    fn is_quick(&self) -> bool;

    /// Returns the vectors of these texts, of length 1, in the order of the texts. The vector is `None` for a text that
    /// the model knows nothing about.
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

/// The reason why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be used at all.
    #[error("{0}")]
    Unusable(String),
    /// The model did not answer this time.
    #[error("{0}")]
    Unanswered(String),
}

/// Returns the model inside the program, or `None` if it was built without the feature `built-in`.
pub fn built_in() -> Option<&'static StaticModel> {
    #[cfg(feature = "built-in")]
    return Some(&built_in::MODEL);
    #[cfg(not(feature = "built-in"))]
    return None;
}

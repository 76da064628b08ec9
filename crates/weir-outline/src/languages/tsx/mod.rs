//! TypeScript with JSX.

use super::Language;
use super::typescript::spec;

pub(super) static LANGUAGE: Language = Language::walked(spec("tsx", &["tsx"], weir_grammars::tsx));

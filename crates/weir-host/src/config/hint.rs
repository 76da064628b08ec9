//! Suggests what a misspelt setting or value was meant to be.

/// How similar a name must be to be suggested, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.8;

/// Returns a hint for an error about a name that is not known. The error lists those that are.
pub(super) fn meant(error: &str) -> Option<String> {
    let mut names = error.split('`').skip(1).step_by(2);
    let given = names.next()?;
    let similar = names.map(|known| (strsim::jaro_winkler(given, known), known));
    let (similarity, best) = similar.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (similarity >= MIN_SIMILARITY).then(|| format!("did you mean `{best}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_setting_is_suggested_if_it_is_similar() {
        let error = "unknown field `by_product_token`, expected one of `asked_tokens`, `by_product_tokens`, `repeats`";
        assert_eq!(meant(error).as_deref(), Some("did you mean `by_product_tokens`?"));
        assert_eq!(meant("unknown variant `of`, expected `on` or `off`").as_deref(), Some("did you mean `off`?"));
        assert_eq!(meant("unknown field `colour`, expected `sandbox` or `network`"), None);
        assert_eq!(meant("invalid type: string, expected u32"), None);
    }
}

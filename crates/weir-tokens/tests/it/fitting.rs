//! Tests the guarantees of `fit`: never more than the budget, rarely much less.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use weir_tokens::{count, fit};

use crate::{TEXTS, strings};

#[test]
fn a_cut_is_where_a_reader_would_make_it() {
    check("Tokens are counted, not guessed.", 3, expect!["Tokens are counted|, not guessed. (3 tokens)"]);
    check("Tokens are counted, not guessed.", 6, expect!["Tokens are counted, not guessed|. (6 tokens)"]);
    check("Tokens are counted, not guessed.", 7, expect!["Tokens are counted, not guessed.| (7 tokens)"]);
    check("Donaudampfschifffahrtskapitän", 3, expect!["Donaud|ampfschifffahrtskapitän (3 tokens)"]);
    check(
        "日月盈昃，辰宿列張。寒來暑往，秋收冬藏。",
        8,
        expect!["日月盈昃|，辰宿列張。寒來暑往，秋收冬藏。 (5 tokens)"],
    );
    check("👨‍👩‍👧‍👦", 1, expect!["|👨‍👩‍👧‍👦 (0 tokens)"]);
    check("anything", 0, expect!["|anything (0 tokens)"]);
    check("", 5, expect!["| (0 tokens)"]);
}

fn check(text: &str, budget: usize, expected: Expect) {
    let cut = fit(text, budget);
    expected.assert_eq(&format!("{}|{} ({} tokens)", &text[..cut], &text[cut..], count(&text[..cut])));
}

/// In this text, nine spaces, an em space and a digit are a token each. Without the digit, the em space joins the
/// spaces before it into one piece, and that piece has three tokens.
#[test]
fn a_cut_between_pieces_may_cost_a_token() {
    let text = "         \u{2003}5";
    assert_eq!(count(text), 3);
    assert_eq!(count("         \u{2003}"), 3);
    assert_eq!(fit(text, 2), 9);
}

/// The first token of this text ends inside its third character, and the two characters before that are two tokens.
#[test]
fn a_cut_at_a_token_may_cost_a_token() {
    let text = "\u{e34}เซ";
    assert_eq!(count("\u{e34}เ"), 2);
    assert!(count(&text[..fit(text, 1)]) <= 1);
}

#[test]
fn what_fits_stays_whole() {
    for text in TEXTS {
        let tokens = count(text);
        assert_eq!(fit(text, tokens), text.len());
        assert_eq!(fit(text, usize::MAX), text.len());
        assert!(fit(text, tokens - 1) < text.len());
    }
}

#[test]
fn the_budget_of_a_text_is_used() {
    for text in TEXTS {
        for budget in (1..count(text)).step_by(11) {
            let used = count(&text[..fit(text, budget)]);
            assert!(used <= budget);
            assert!(budget - used <= (budget / 16).max(4), "{used} of {budget}");
        }
    }
}

#[test]
fn a_piece_without_an_end_is_cut_inside() {
    for unit in ["a", "xy", " ", "=", "中", "\n", "\u{301}"] {
        let text = unit.repeat(100_000);
        assert_eq!(count(&text[..fit(&text, 500)]), 500, "{unit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_never_exceeds_the_budget(text in strings::text(), budget in 0usize..100) {
        let cut = fit(&text, budget);
        prop_assert!(text.is_char_boundary(cut));
        prop_assert!(count(&text[..cut]) <= budget);
        // Only as much of the text as could fit is considered, so the cut of a longer text is no better.
        prop_assert_eq!(cut == text.len(), count(&text) <= budget);
    }

    #[test]
    fn every_cut_of_a_nasty_string_fits(text in strings::nasty()) {
        for budget in 0..=count(&text) {
            prop_assert!(count(&text[..fit(&text, budget)]) <= budget);
        }
    }
}

//! What must hold for any text: no digest is worse than the output, and none takes long.

use proptest::prelude::*;

use crate::openers::OPENERS;
use crate::outputs::{page, render};

/// The budget, as in the answer to a run.
const WHOLE_TOKENS: usize = 2_000;

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(OPENERS).prop_map(str::to_owned),
        2 => (prop::sample::select(OPENERS), "\\PC{0,30}").prop_map(|(opener, rest)| format!("{opener}{rest}")),
        2 => (prop::sample::select(OPENERS), 0_usize..40).prop_map(|(opener, at)| opener[..opener.floor_char_boundary(at)].to_owned()),
        1 => "\\PC{0,120}",
        1 => ("[a-z]{1,8} ", 1_usize..400).prop_map(|(word, times)| word.repeat(times)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let block = (prop::collection::vec(line(), 1..12), 1_usize..40)
        .prop_map(|(lines, times)| lines.join("\n").repeat(times) + "\n");
    prop::collection::vec(block, 0..12).prop_map(|blocks| blocks.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn no_answer_is_longer_than_the_output(text in text()) {
        let bytes = text.as_bytes();
        if weir_digest::whole(&bytes, WHOLE_TOKENS).unwrap().is_some() {
            return Ok(());
        }
        let page = page(bytes);
        for part in &page.parts {
            let shown = part.items.len() as u64;
            prop_assert!(part.total == 0 || part.total >= shown, "{} of {} {}", shown, part.total, part.name);
        }
        let digest = render(&page, bytes, weir_digest::budget(bytes.len() as u64)).to_string();
        let tokens = weir_tokens::count(&digest);
        prop_assert!(tokens <= weir_tokens::count(&text), "{} tokens:\n{}", tokens, digest);
        prop_assert!(tokens <= weir_digest::budget(bytes.len() as u64));
    }

    #[test]
    fn any_bytes_have_a_digest(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        render(&page(&bytes), &bytes, 400);
    }
}

/// Returns the number of cases; more if asked for.
#[expect(clippy::disallowed_methods, reason = "a test reads how long it may take")]
fn cases() -> u32 {
    std::env::var("WEIR_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}

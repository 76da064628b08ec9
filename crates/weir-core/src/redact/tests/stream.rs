//! Tests that a text in pieces is redacted like the whole, and that what is too long to be held stays closed.

use proptest::prelude::*;

use super::super::class::{ALNUM, BASE64};
use super::super::{RedactedPart, Redactor, redact};
use super::fake;
use super::properties::piece;

/// Redacts a text in pieces of these lengths, which are repeated.
fn in_pieces(text: &[u8], lengths: &[usize], mut redactor: Redactor) -> (Vec<u8>, Vec<(&'static str, u64)>) {
    let mut out = Vec::new();
    let mut rest = text;
    for length in lengths.iter().cycle() {
        let (now, later) = rest.split_at((*length).clamp(1, rest.len().max(1)).min(rest.len()));
        redactor.push(now, &mut out);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    let counts = redactor.finish(&mut out);
    (out, counts)
}

#[track_caller]
fn check(text: &[u8], lengths: &[usize], redactor: Redactor) {
    let whole = redact(text);
    let (out, counts) = in_pieces(text, lengths, redactor);
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&whole.text), "for {text:?}");
    let mut expected: Vec<(&str, u64)> = Vec::new();
    for finding in &whole.found {
        match expected.iter_mut().find(|(rule, _)| *rule == finding.rule) {
            Some((_, count)) => *count += 1,
            None => expected.push((finding.rule, 1)),
        }
    }
    assert_eq!(counts, expected);
}

/// Returns a redactor that searches the text as soon as it can, with the full window.
fn eager(block: usize) -> Redactor {
    Redactor::with_sizes(block, 256 << 10)
}

proptest! {
    #[test]
    fn any_mixture_in_pieces_is_redacted_as_a_whole(
        pieces in prop::collection::vec(piece(), 0..60),
        lengths in prop::collection::vec(1..300_usize, 1..8),
        block in 1..200_usize,
    ) {
        check(&pieces.concat(), &lengths, eager(block));
    }

    #[test]
    fn secrets_among_lines_are_found_wherever_a_piece_ends(
        parts in prop::collection::vec((piece(), 0..400_usize), 1..30),
        block in 1..2_000_usize,
    ) {
        let text: Vec<u8> = parts
            .into_iter()
            .flat_map(|(secret, length)| [secret, b"\nsome words of a log ".repeat(length / 20), b"\n".to_vec()].concat())
            .collect();
        check(&text, &[block], eager(block));
    }

    #[test]
    fn any_bytes_in_pieces_are_redacted_as_a_whole(
        text in prop::collection::vec(any::<u8>(), 0..2_000),
        block in 1..100_usize,
    ) {
        check(&text, &[block], eager(block));
    }

    #[test]
    fn what_is_passed_on_accounts_for_every_byte(
        pieces in prop::collection::vec(piece(), 0..60),
        block in 1..200_usize,
        window in prop_oneof![0..600_usize, Just(256 << 10)],
    ) {
        let text = pieces.concat();
        let (mut at, mut redactor) = (0, Redactor::with_sizes(block, window));
        let mut follow = |passed: RedactedPart<'_>| match passed {
            RedactedPart::Text(part) => {
                assert_eq!(part, &text[at..at + part.len()]);
                at += part.len();
            }
            RedactedPart::Mark(_) => {}
            RedactedPart::Removed(length) => at += length,
        };
        redactor.push_to(&text, &mut follow);
        redactor.finish_to(&mut follow);
        prop_assert_eq!(at, text.len());
    }
}

#[test]
fn a_secret_on_every_seam_is_found() {
    let secrets = [
        format!("gh{}_{}", "p", fake(ALNUM, 36)),
        format!("ey{}{}.eyJ{}.{}", "J", fake(ALNUM, 900), fake(ALNUM, 2_000), fake(ALNUM, 43)),
        format!("password=\"{}\"", fake(ALNUM, 30)),
        format!("curl -u me:{} https://host", fake(ALNUM, 20)),
        format!("Authorization: Bearer {}", fake(ALNUM, 300)),
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", fake(BASE64, 300)),
        "a <private>b\nc</private> d".to_owned(),
        "Local<Private> and no end".to_owned(),
        "word<private>b</private> c".to_owned(),
        "[redacted:jwt]".to_owned(),
    ];
    let filler = "words of a log, and more of them\n".repeat(20);
    for secret in &secrets {
        let text = format!("{filler}{secret}\n{filler}{secret}\n{filler}");
        for length in (1..400).step_by(7) {
            check(text.as_bytes(), &[length], eager(length));
        }
    }
}

/// Returns bytes that exceed the window and look like those of a key or a block.
fn long_secret(length: usize) -> String {
    let line = fake(BASE64, 64) + "\n";
    line.repeat(length / line.len() + 1)
}

#[test]
fn a_block_longer_than_the_window_stays_closed() {
    for length in [900, 5_000, 40_000] {
        let inside = long_secret(length);
        let texts = [
            format!("before\n <private>\n{inside}</private> after\npassword=hunter2\n"),
            format!("before <private>a<private>{inside}</private>\n{inside}</private> after {inside}"),
            format!("before\n<private>{inside}"),
            format!("before\n-----BEGIN PRIVATE KEY-----\n{inside}-----END PRIVATE KEY-----\nafter {inside}"),
            format!("before\n-----BEGIN PRIVATE KEY-----\n{inside}and other text\nafter\n"),
            format!(
                "before\n-----BEGIN PRIVATE KEY-----\nProc-Type: 4\n\n{inside}Q9xB4t==\n-----END PRIVATE KEY-----\n"
            ),
        ];
        for text in texts {
            for block in [1, 50, 333] {
                check(text.as_bytes(), &[block], Redactor::with_sizes(block, 500));
            }
        }
    }
}

#[test]
fn a_key_in_one_line_without_end_stays_closed() {
    let inside = fake(BASE64, 20_000);
    for end in ["", "\n-----END PRIVATE KEY-----\nafter", "-----END PRIVATE KEY-----\n", "\nother text\n"] {
        let text = format!("before\n-----BEGIN PRIVATE KEY-----\n{inside}{end}");
        for length in [1, 37, 100] {
            check(text.as_bytes(), &[length], Redactor::with_sizes(length, 1_000));
        }
    }
}

#[test]
fn a_type_named_private_is_no_block_when_nothing_closes_it_within_the_window() {
    let rest = "int x;\n".repeat(1_000);
    let text = format!("Local<Private> y;\n{rest}");
    check(text.as_bytes(), &[64], Redactor::with_sizes(64, 500));
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let held = |piece: &str| -> usize {
        let mut redactor = Redactor::new();
        let text = piece.repeat((64 << 10) / piece.len());
        let most = (0..9).map(|_| {
            redactor.push_to(text.as_bytes(), &mut |_| ());
            redactor.held()
        });
        most.max().unwrap_or_default()
    };
    for piece in [
        "a", "eyJ", "eyJ7aK2mQ9xB4tR0fW6cZ1h.", "<private>", "x<private>", "-----BEGIN PRIVATE KEY-----\n", "token=",
        "\n",
    ] {
        let held = held(piece);
        assert!(held < 3 << 20, "{held} bytes are held for {piece}");
    }
}

#[test]
fn a_secret_is_counted_and_not_listed() {
    let text = format!("password=\"{}\"\n", fake(ALNUM, 30)).repeat(5_000);
    let (_, counts) = in_pieces(text.as_bytes(), &[10_000], Redactor::new());
    assert_eq!(counts, [("password", 5_000)]);
}

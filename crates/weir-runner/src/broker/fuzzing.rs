//! Fuzzing entry points for the broker's frames.

use std::ffi::OsString;

use weir_core::run::Stream;

use super::frame::{Answer, decode_request, encode_request, number};

/// Decodes bytes as a request and as a frame of an answer, and checks that valid ones encode to the same bytes.
pub fn broker(data: &[u8]) {
    if let Ok((token, words)) = decode_request(data) {
        let token = std::os::unix::ffi::OsStringExt::from_vec(token);
        let again = encode_request(OsString::as_os_str(&token), &words);
        assert_eq!(&again[4..], data, "another request");
    }
    let Some((&kind, rest)) = data.split_first() else { return };
    if let Ok(answer) = Answer::decode(kind, rest) {
        let again = answer.encode();
        // Output may become several frames, or none if it is empty.
        if rest.len() < 1 << 20 && !rest.is_empty() {
            assert_eq!((again[0], number(&again[1..5]).ok(), &again[5..]), (kind, Some(rest.len()), rest));
        }
    }
}

/// Returns frames as both sides write them, without their lengths.
pub fn broker_seeds() -> Vec<Vec<u8>> {
    let words = ["gh", "pr", "list"].map(OsString::from);
    let request = encode_request("token".as_ref(), &words).split_off(4);
    let answers = [Answer::Output(Stream::Out, b"text"), Answer::Exit(1), Answer::Refused("no")];
    let frames = answers.iter().map(|answer| {
        let mut frame = answer.encode();
        frame.drain(1..5);
        frame
    });
    [request].into_iter().chain(frames).collect()
}

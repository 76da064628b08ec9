//! The wire format between the stand-in inside the sandbox and the broker.
//!
//! A request is one frame: its length in four bytes, most significant first, followed by the token and the words, each
//! preceded by its length. An answer is a series of frames, each preceded by a byte that identifies it: output as it
//! arrives, and finally an exit code or a refusal.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use weir_core::run::Stream;

/// Maximum size of a request in bytes: as large as Linux allows the arguments of a program to be.
pub(super) const MAX_REQUEST_BYTES: usize = 2 << 20;
pub(super) const MAX_FRAME_BYTES: usize = 1 << 20;

const OUTPUT: u8 = 1;
const ERROR: u8 = 2;
const EXIT: u8 = 3;
const REFUSED: u8 = 4;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    Output(Stream, &'a [u8]),
    Exit(i32),
    Refused(&'a str),
}

impl Answer<'_> {
    /// Encodes the answer. Long output is split into several frames.
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Output(stream, bytes) => {
                let kind = if *stream == Stream::Out { OUTPUT } else { ERROR };
                bytes.chunks(MAX_FRAME_BYTES).flat_map(|piece| frame(kind, piece)).collect()
            }
            Self::Exit(code) => frame(EXIT, &code.to_be_bytes()),
            Self::Refused(why) => frame(REFUSED, why.as_bytes()),
        }
    }

    pub(super) fn decode(kind: u8, bytes: &[u8]) -> io::Result<Answer<'_>> {
        let bad = |_| io::Error::from(io::ErrorKind::InvalidData);
        match kind {
            OUTPUT => Ok(Answer::Output(Stream::Out, bytes)),
            ERROR => Ok(Answer::Output(Stream::Err, bytes)),
            EXIT => Ok(Answer::Exit(i32::from_be_bytes(bytes.try_into().map_err(bad)?))),
            REFUSED => Ok(Answer::Refused(std::str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn frame(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    push(&mut out, bytes);
    out
}

/// Appends bytes, preceded by their length. Bytes that exceed the maximum length are cut; the other side refuses them
/// anyway.
fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&bytes[..length as usize]);
}

/// Decodes a length from its four bytes.
pub(super) fn number(bytes: &[u8]) -> io::Result<usize> {
    let bytes = bytes.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(u32::from_be_bytes(bytes) as usize)
}

pub(super) fn encode_request(token: &OsStr, argv: &[OsString]) -> Vec<u8> {
    let mut words = Vec::new();
    push(&mut words, token.as_bytes());
    argv.iter().for_each(|word| push(&mut words, word.as_bytes()));
    let mut out = Vec::new();
    push(&mut out, &words);
    out
}

/// Decodes the token and the words of a request, without its length.
pub(super) fn decode_request(mut bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<OsString>)> {
    let mut words = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_at_checked(4).ok_or(io::ErrorKind::InvalidData)?;
        let (word, rest) = rest.split_at_checked(number(length)?).ok_or(io::ErrorKind::InvalidData)?;
        words.push(word.to_vec());
        bytes = rest;
    }
    let mut words = words.into_iter();
    let token = words.next().ok_or(io::ErrorKind::InvalidData)?;
    Ok((token, words.map(OsString::from_vec).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_as_it_went() {
        let argv = [OsString::from("gh"), OsString::from_vec(b"\xff\0".to_vec()), OsString::new()];
        let bytes = encode_request("token".as_ref(), &argv);
        assert_eq!(number(&bytes[..4]).unwrap(), bytes.len() - 4);
        assert_eq!(decode_request(&bytes[4..]).unwrap(), (b"token".to_vec(), argv.to_vec()));
        assert!((5..8).all(|cut| decode_request(&bytes[4..cut]).is_err()));
    }

    #[test]
    fn an_answer_comes_back_as_it_went() {
        for answer in [Answer::Output(Stream::Err, b"x"), Answer::Exit(-1), Answer::Refused("no")] {
            let bytes = answer.encode();
            assert_eq!(number(&bytes[1..5]).unwrap(), bytes.len() - 5);
            assert_eq!(Answer::decode(bytes[0], &bytes[5..]).unwrap(), answer);
        }
        assert!(Answer::decode(9, b"").is_err());
        assert!(Answer::decode(EXIT, b"12").is_err());
    }
}

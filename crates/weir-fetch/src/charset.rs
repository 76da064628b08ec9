//! Decodes the bytes of a page. Invariant: bytes that cannot be decoded are replaced and noted, never an error.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The length of the beginning of a page that is searched for a charset declaration, in bytes.
const CHARSET_SEARCH_BYTES: usize = 2 << 10;

/// Decodes bytes by their byte order mark, the server's charset or the page's own declaration. Without any of these,
/// the text is UTF-8 if it is valid, else Windows-1252, like most old pages. Returns a note if characters were
/// replaced.
pub(crate) fn decode(bytes: &[u8], said: Option<&str>) -> (String, Option<String>) {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (by_label(said).or_else(|| declared(bytes)).unwrap_or_else(|| guessed(bytes)), bytes),
    };
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    let note = replaced.then(|| format!("some characters are not {} and were replaced", encoding.name()));
    (text.into_owned(), note)
}

fn by_label(label: Option<&str>) -> Option<&'static Encoding> {
    // A charset that browsers refuse to decode is no charset here.
    Encoding::for_label_no_replacement(label?.trim().trim_matches(['"', '\'']).as_bytes())
}

/// Returns the charset in `<meta charset>` or in an XML declaration.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..CHARSET_SEARCH_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head);
    let label = |after: &str| {
        let start = head.find(after)? + after.len();
        let rest = head.get(start..)?.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
        rest.get(..end)
    };
    let said = if head.contains("<meta") { label("charset") } else { None };
    let said = said.or_else(|| if head.trim_start().starts_with("<?xml") { label("encoding") } else { None });
    // A declaration that could be read as ASCII is not in a two-byte charset, whatever it says.
    by_label(said).map(|encoding| if [UTF_16BE, UTF_16LE].contains(&encoding) { UTF_8 } else { encoding })
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // The last character may have been cut.
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], said: Option<&str>, expected: &str) {
        assert_eq!(decode(bytes, said).0, expected);
    }

    #[test]
    fn the_charset_is_found() {
        check(b"\xef\xbb\xbfa\xc3\xa4", Some("windows-1252"), "aä");
        check(b"\xff\xfea\0\xe4\0", None, "aä");
        check(b"a\xe4", Some("iso-8859-1"), "aä");
        check(b"a\xe4", Some("\"ISO-8859-1\""), "aä");
        check(b"a\xc3\xa4", None, "aä");
        check(b"a\xe4b", None, "aäb");
        check(b"<meta charset=\"windows-1251\">\xe4", None, "<meta charset=\"windows-1251\">д");
        check(
            b"<META http-equiv=Content-Type content='text/html; charset = koi8-r'>\xc4",
            None,
            "<META http-equiv=Content-Type content='text/html; charset = koi8-r'>д",
        );
        check(b"<?xml version='1.0' encoding='iso-8859-1'?>\xe4", None, "<?xml version='1.0' encoding='iso-8859-1'?>ä");
        check(b"<meta charset=utf-16>a", None, "<meta charset=utf-16>a");
        check(b"<meta charset=iso-2022-jp>\x1b$BF|K\\\x1b(B", None, "<meta charset=iso-2022-jp>日本");
        check(b"<meta charset=hz-gb-2312>a", Some("hz-gb-2312"), "<meta charset=hz-gb-2312>a");
        check("日本".as_bytes(), Some("no-such-charset"), "日本");
        check(b"\x93\xfa\x96{", Some("shift_jis"), "日本");
    }

    #[test]
    fn what_is_replaced_is_said() {
        assert!(decode(b"a\xe4b", Some("utf-8")).1.is_some());
        assert!(decode(b"ab", Some("utf-8")).1.is_none());
    }
}

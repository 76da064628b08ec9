//! The fields of a form or of an address, and the parts of a path. Invariant: any bytes are read without a failure.

use url::form_urlencoded;

const MAX_FIELDS: usize = 64;

/// The fields of a form or of an address.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads the fields of a query or of a form's body.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(bytes).take(MAX_FIELDS);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns the value of a field, unless it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Returns the query with the same fields but these, which are left out.
    pub(super) fn without(&self, names: &[&str]) -> String {
        let kept = self.0.iter().filter(|(name, value)| !names.contains(&name.as_str()) && !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).finish()
    }
}

/// Returns the parts of a path, decoded. Returns `None` if a part is not UTF-8.
pub(super) fn parts_of(path: &str) -> Option<Vec<String>> {
    path.strip_prefix('/')?.split('/').filter(|part| !part.is_empty()).map(decoded).collect()
}

fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match byte.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_written_back() {
        let fields = Fields::parse(b"q=a%26b+c&kind=&page=2&page=3");
        assert_eq!(fields.get("q"), Some("a&b c"));
        assert_eq!((fields.get("kind"), fields.get("none"), fields.number("page")), (None, None, Some(2)));
        assert_eq!(fields.without(&["page"]), "q=a%26b+c");
        assert_eq!(Fields::parse(&[0xff, b'=', b'%', b'z']).get("\u{fffd}"), Some("%z"));
    }

    #[test]
    fn a_path_is_split_before_it_is_decoded() {
        let check = |path: &str, parts: &[&str]| assert_eq!(parts_of(path).unwrap(), parts, "{path}");
        check("/", &[]);
        check("/in/a%2Fb/notes", &["in", "a/b", "notes"]);
        check("//evil/%2e%2e/%", &["evil", "..", "%"]);
        assert_eq!(parts_of("/%ff"), None);
        assert_eq!(parts_of("none"), None);
    }
}

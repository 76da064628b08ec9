//! Recognises lines of source code that begin a definition, in any of the common languages.

/// Returns whether this line defines something: a function, a type, a class.
pub(crate) fn is(line: &str) -> bool {
    let mut text = line.trim_start();
    for _ in 0..4 {
        let Some((word, rest)) = text.split_once([' ', '(']) else { return false };
        let open = word.split('(').next().unwrap_or(word);
        match open {
            "fn" | "def" | "class" | "struct" | "enum" | "trait" | "interface" | "func" | "function" | "impl"
            | "module" | "macro_rules!" | "typedef" | "namespace" | "#define" | "protocol" | "record" | "object"
            | "sub" | "union" => {
                return rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '<' | '(' | '*' | '$' | '~'));
            }
            "pub" | "async" | "export" | "default" | "static" | "public" | "private" | "protected" | "abstract"
            | "final" | "unsafe" | "const" | "extern" | "inline" | "virtual" | "override" | "declare" | "data"
            | "sealed" | "open" | "partial" | "internal" => {
                // `pub(crate) fn`
                let after = text.get(word.len()..).unwrap_or_default();
                text = match after.strip_prefix('(').and_then(|scope| scope.split_once(')')) {
                    Some((_, rest)) => rest.trim_start(),
                    None => rest.trim_start(),
                };
            }
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn definitions_of_several_languages() {
        for line in [
            "def apply(db, *, limit=3):", "    pub(crate) async fn read(x: u8) {", "export default class Shop {",
            "func (s *Store) Get() {", "#define MAX 3", "public static final class A {",
        ] {
            assert!(is(line), "{line}");
        }
        for line in ["let x = f(3);", "# def", "return fn", "const X: u8 = 1;", ""] {
            assert!(!is(line), "{line}");
        }
    }
}

//! Recognises how a symbol begins, by the keywords of many languages.
//!
//! Invariant: it looks at one line, and at no more than its first few words.

/// A symbol, as named by its first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Symbol<'a> {
    pub(super) name: &'a [u8],
    /// Whether definitions within it are symbols too.
    pub(super) is_container: bool,
}

/// Size of the part of a line that is examined, in bytes.
const MAX_LINE_BYTES: usize = 240;

/// Words that may precede the keyword of a symbol.
const MODIFIERS: &[&str] = &[
    "abstract", "actual", "async", "companion", "const", "constexpr", "crate", "data", "declare", "default", "defer",
    "expect", "explicit", "export", "extern", "final", "fileprivate", "friend", "global", "infix", "inline", "inner",
    "internal", "lateinit", "local", "mutating", "native", "noexcept", "nonisolated", "open", "operator", "override",
    "partial", "private", "protected", "pub", "public", "readonly", "required", "sealed", "static", "strictfp",
    "suspend", "synchronized", "tailrec", "template", "transient", "unsafe", "virtual", "volatile", "weak",
];

/// Keywords of symbols that contain others.
const CONTAINERS: &[&str] = &[
    "actor", "class", "contract", "defimpl", "defmodule", "defprotocol", "enum", "extension", "impl", "instance",
    "interface", "library", "message", "mod", "module", "namespace", "object", "package", "protocol", "record",
    "service", "struct", "trait", "union",
];

/// Keywords of any other symbols.
const LEAVES: &[&str] = &[
    "constructor", "data", "def", "defmacro", "defn", "defn-", "defp", "defun", "event", "fn", "fun", "func",
    "function", "input", "macro", "macro_rules!", "modifier", "newtype", "proc", "procedure", "provider", "resource",
    "rpc", "sub", "subroutine", "task", "test", "type", "typealias", "typedef", "variable",
];

/// Words that follow `CREATE` in SQL.
const CREATED: &[&str] = &[
    "table", "view", "index", "function", "procedure", "trigger", "type", "schema", "sequence", "database", "role",
    "extension", "policy", "domain",
];

/// Words that begin a statement. After one of them, something that looks like a method is not one.
const STATEMENTS: &[&str] = &[
    "if", "else", "elif", "for", "foreach", "while", "switch", "match", "catch", "return", "do", "try", "with", "when",
    "case", "new", "throw", "await", "yield", "assert", "delete", "sizeof", "using", "lock", "unless", "until", "and",
    "or", "not", "in", "is", "print", "echo", "import", "from", "require", "include", "raise", "use", "select", "go",
    "defer",
];

pub(super) fn read(indent: usize, line: &[u8]) -> Option<Symbol<'_>> {
    let line = line[..line.len().min(MAX_LINE_BYTES)].trim_ascii();
    if !line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'~' | b'(' | b'[' | b'#'))
    {
        return None;
    }
    if matches!(line[0], b'(' | b'[' | b'#') {
        return marked(indent, line);
    }
    let (after, has_modifier) = without_modifiers(line);
    let (word, rest) = first_word(after);
    let is = |list: &[&str]| list.iter().any(|known| known.as_bytes() == word);
    let has_name = rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_\"'`<(*&$@".contains(byte));
    // `mod name;` only declares that the module is elsewhere.
    let is_elsewhere = matches!(word, b"mod" | b"module" | b"package") && line.ends_with(b";");
    if has_name && !is_elsewhere {
        let has_space = after.get(word.len()).is_some_and(u8::is_ascii_whitespace);
        if is(CONTAINERS) && (has_space || word == b"impl") {
            return Some(Symbol { name: name(after), is_container: true });
        }
        if is(LEAVES) && (has_space || matches!(word, b"func" | b"constructor")) {
            return Some(Symbol { name: name(after), is_container: false });
        }
    }
    let is_symbol = is_created(line)
        || is_bound_function(line)
        || is_method(indent, after, has_modifier)
        || is_recipe(indent, line);
    is_symbol.then(|| Symbol { name: name(after), is_container: false })
}

/// Reads a Lisp definition or a table of a configuration file.
fn marked(indent: usize, line: &[u8]) -> Option<Symbol<'_>> {
    let is_table = line[0] == b'[' && line.last() == Some(&b']') && !line.contains(&b',') && !line.contains(&b'(');
    let is_lisp = line.starts_with(b"(def");
    (indent == 0 && (is_table || is_lisp)).then(|| Symbol { name: name(line), is_container: false })
}

/// Returns whether a line belongs to the symbol below it: a comment, an attribute, a decorator.
pub(super) fn is_above(line: &[u8]) -> bool {
    const MARKS: &[&[u8]] = &[b"//", b"/*", b"*", b"#", b"--", b";", b"@", b"\"\"\"", b"<!--", b"%", b"template"];
    let is_attribute = line.starts_with(b"[") && line.trim_ascii_end().ends_with(b"]");
    is_attribute || MARKS.iter().any(|mark| line.starts_with(mark))
}

/// Returns whether a line continues what is open at its own indentation: a bracket, a branch.
pub(super) fn goes_on(line: &[u8]) -> bool {
    let (word, _) = first_word(line);
    matches!(line.first(), Some(b'{' | b')' | b']' | b'(' | b':' | b'|' | b','))
        || matches!(word, b"where" | b"else" | b"elif" | b"except" | b"finally" | b"catch" | b"rescue" | b"then")
        || matches!(word, b"begin" | b"BEGIN" | b"do" | b"is" | b"public" | b"private" | b"protected")
}

fn without_modifiers(mut line: &[u8]) -> (&[u8], bool) {
    let whole = line;
    loop {
        let (word, rest) = first_word(line);
        let is_modifier = MODIFIERS.iter().any(|known| known.as_bytes() == word);
        // `pub(crate)`, `extern "C"`.
        let rest = match rest.first() {
            Some(b'(') if word == b"pub" => after_byte(rest, b')'),
            Some(b'"') if word == b"extern" => after_byte(&rest[1..], b'"'),
            _ => rest,
        };
        let is_name = rest.first().is_none_or(|byte| !byte.is_ascii_alphabetic() && !matches!(byte, b'_' | b'~'));
        if !is_modifier || is_name {
            return (line, line.len() < whole.len());
        }
        line = rest;
    }
}

fn after_byte(text: &[u8], byte: u8) -> &[u8] {
    let at = text.iter().position(|&b| b == byte).map_or(text.len(), |at| at + 1);
    text[at..].trim_ascii_start()
}

fn first_word(line: &[u8]) -> (&[u8], &[u8]) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!' | b'-');
    let end = line.iter().position(|byte| !is_part(byte)).unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii_start())
}

/// Returns whether the line is `CREATE TABLE …` or similar, in any case.
fn is_created(line: &[u8]) -> bool {
    let (word, rest) = first_word(line);
    word.eq_ignore_ascii_case(b"create")
        && rest
            .split(|&byte| byte == b' ')
            .take(4)
            .any(|word| CREATED.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word)))
}

/// Returns whether the line binds a function: `const name = (…) =>`, `let name = function …`.
fn is_bound_function(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"export ").unwrap_or(line);
    let (word, rest) = first_word(line);
    if !matches!(word, b"const" | b"let" | b"var" | b"val") {
        return false;
    }
    let Some(equals) = rest.iter().position(|&byte| byte == b'=') else { return false };
    let value = rest[equals + 1..].trim_ascii_start();
    let value = value.strip_prefix(b"async ").unwrap_or(value).trim_ascii_start();
    value.starts_with(b"function") || value.starts_with(b"class") || value.windows(2).any(|pair| pair == b"=>")
}

/// Returns whether the line defines a function without a keyword: `int main(void) {`, `public void run() {`,
/// `keep(entry) {`.
fn is_method(indent: usize, line: &[u8], has_modifier: bool) -> bool {
    let (word, rest) = first_word(line);
    if is_statement(word) || word.is_empty() {
        return false;
    }
    let Some(paren) = line.iter().position(|&byte| byte == b'(') else { return false };
    let before = &line[..paren];
    let is_key = before.windows(2).any(|pair| pair == b": ");
    let is_plain =
        !is_key && before.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_ *&<>:,~[]?$.@".contains(byte));
    let last = line.last().copied().unwrap_or_default();
    // A line that ends like this is a call, a value or a declaration, without a body.
    if !is_plain || matches!(last, b';' | b'=' | b'.') || before.ends_with(b".") {
        return false;
    }
    let has_type = rest.len() > line.len() - paren && before.contains(&b' ');
    // A call with a function in its arguments ends like a definition.
    let is_one_list = !line[paren + 1..].iter().any(|byte| matches!(byte, b'(' | b'"' | b'\'' | b'`'));
    let opens_body = last == b'{' && line[..line.len() - 1].trim_ascii_end().ends_with(b")");
    (has_type && (indent == 0 || has_modifier || opens_body)) || (opens_body && is_one_list)
}

fn is_statement(word: &[u8]) -> bool {
    STATEMENTS.iter().any(|known| known.as_bytes() == word)
}

/// Returns whether the line is a rule of a Makefile or a key of a YAML file: an unindented name and a colon.
fn is_recipe(indent: usize, line: &[u8]) -> bool {
    let (word, rest) = first_word(line);
    indent == 0 && !word.is_empty() && rest == b":" && !is_statement(word) && !goes_on(line)
}

/// Returns the line without what opens its body.
fn name(line: &[u8]) -> &[u8] {
    const MAX_NAME_BYTES: usize = 60;
    let is_open = |byte: &u8| matches!(byte, b'{' | b'(' | b'=');
    // The receiver of a Go method precedes its name, and a Lisp form begins with a bracket.
    let start = match line {
        [b'(', ..] => 1,
        [b'f', b'u', b'n', b'c', b' ', b'(', ..] => line.len() - after_byte(line, b')').len(),
        _ => 0,
    };
    let cut = line[start..].iter().position(is_open).map_or(line.len(), |at| start + at);
    let name = line[..cut].trim_ascii_end();
    let name = if name.is_empty() { line } else { name };
    let name = name.strip_suffix(b":").unwrap_or(name);
    &name[..name.len().min(MAX_NAME_BYTES)]
}

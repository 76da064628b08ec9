//! Lists and dictionaries as Python prints them, made JSON for code: many servers that are written in Python answer so.
//!
//! Invariants: a text is converted as a whole or not at all; numbers keep their digits.

use serde_json::{Number, Value};

/// The deepest nesting.
const MAX_DEPTH: usize = 64;

/// Returns a list or a dictionary as Python prints it, as JSON.
pub(crate) fn as_json(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let mut reader = Reader { rest: text, json: String::with_capacity(text.len()) };
    reader.value(MAX_DEPTH)?;
    reader.rest.is_empty().then_some(reader.json)
}

struct Reader<'a> {
    rest: &'a str,
    json: String,
}

impl<'a> Reader<'a> {
    fn take(&mut self, begin: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(begin);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes characters as long as they fit.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if self.take("[") {
            return self.list("]", depth);
        }
        if self.take("(") {
            return self.list(")", depth);
        }
        if self.take("{") {
            return self.dictionary(depth);
        }
        match self.rest.chars().next()? {
            '\'' | '"' => {
                let text = self.string()?;
                self.push(&text);
            }
            c if c == '-' || c.is_ascii_digit() => {
                let number = self.word(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e'));
                self.number(number)?;
            }
            _ => match self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
                "None" | "nan" | "inf" => self.json.push_str("null"),
                "True" => self.json.push_str("true"),
                "False" => self.json.push_str("false"),
                name => self.call(name)?,
            },
        }
        Some(())
    }

    fn list(&mut self, end: &str, depth: usize) -> Option<()> {
        self.json.push('[');
        let begin = self.json.len();
        while !self.take(end) {
            if self.json.len() > begin {
                self.take(",").then(|| self.json.push(','))?;
                // A tuple of one ends with a comma.
                if self.take(end) {
                    self.json.pop();
                    break;
                }
            }
            self.value(depth)?;
        }
        self.json.push(']');
        Some(())
    }

    fn dictionary(&mut self, depth: usize) -> Option<()> {
        self.json.push('{');
        let begin = self.json.len();
        while !self.take("}") {
            if self.json.len() > begin {
                self.take(",").then(|| self.json.push(','))?;
            }
            self.key()?;
            self.take(":").then(|| self.json.push(':'))?;
            self.value(depth)?;
        }
        self.json.push('}');
        Some(())
    }

    /// Takes a key, which is a text in JSON.
    fn key(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start();
        let key = match self.rest.starts_with(['\'', '"']) {
            true => self.string()?,
            false => self.word(|c| c.is_ascii_digit() || c == '-').to_owned(),
        };
        self.push(&key);
        Some(())
    }

    fn push(&mut self, text: &str) {
        self.json.push_str(&Value::from(text).to_string());
    }

    fn number(&mut self, text: &str) -> Option<()> {
        serde_json::from_str::<Number>(text).ok()?;
        self.json.push_str(text);
        Some(())
    }

    /// Takes a text in quotes.
    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut chars = self.rest[quote.len_utf8()..].chars();
        let mut text = String::new();
        loop {
            match chars.next()? {
                c if c == quote => break,
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    c @ ('\\' | '\'' | '"') => text.push(c),
                    kind => {
                        let digits = [('x', 2), ('u', 4), ('U', 8)].iter().find(|(name, _)| *name == kind)?.1;
                        let code: String = chars.by_ref().take(digits).collect();
                        text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                    }
                },
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }

    /// Takes the rest of `Decimal('1.5')`, `UUID('…')` or `datetime.date(2026, 1, 2)`.
    fn call(&mut self, name: &str) -> Option<()> {
        let begin = self.rest.strip_prefix('(')?;
        if begin.starts_with(['\'', '"']) {
            self.rest = begin;
            let text = self.string()?;
            self.take(")").then_some(())?;
            if name != "Decimal" || self.number(&text).is_none() {
                self.push(&text);
            }
            return Some(());
        }
        let (inner, rest) = balanced(begin)?;
        self.rest = rest;
        let moment = name.ends_with("date") || name.ends_with("datetime");
        match moment.then(|| date(inner)).flatten() {
            Some(text) => self.push(&text),
            None => self.push(&format!("{name}({inner})")),
        }
        Some(())
    }
}

/// Splits a text after the bracket that closes it.
fn balanced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// Returns the arguments of a date or a moment as ISO 8601 writes it. A zone stays as it is.
fn date(arguments: &str) -> Option<String> {
    let (numbers, zone) = match arguments.split_once(", tzinfo=") {
        Some((numbers, zone)) => (numbers, Some(zone)),
        None => (arguments, None),
    };
    let parts: Vec<u32> = numbers.split(", ").map(str::parse).collect::<Result<_, _>>().ok()?;
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let day = format!("{:04}-{:02}-{:02}", part(0), part(1), part(2));
    if parts.len() == 3 {
        return Some(day);
    }
    let fraction = if part(6) == 0 { String::new() } else { format!(".{:06}", part(6)) };
    let zone = match zone {
        None => "",
        Some(zone) if zone == "datetime.timezone.utc" || zone.contains("UTC'") => "Z",
        Some(_) => return None,
    };
    let is_moment = (5..=7).contains(&parts.len());
    is_moment.then(|| format!("{day}T{:02}:{:02}:{:02}{fraction}{zone}", part(3), part(4), part(5)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(as_json(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn what_python_prints_becomes_json() {
        check("[{'id': 1, 'name': 'Ada', 'none': None}]", Some(r#"[{"id":1,"name":"Ada","none":null}]"#));
        check(r#"{'a': "it's", 'b': 'say "x"\n', 3: (1, 2)}"#, Some(r#"{"a":"it's","b":"say \"x\"\n","3":[1,2]}"#));
        check(r"['\xe9\u2026\\', True, (1,), [], {}]", Some(r#"["é…\\",true,[1],[],{}]"#));
        check("[Decimal('12.50'), Decimal('NaN'), -1e-05]", Some(r#"[12.50,"NaN",-1e-05]"#));
        check("[UUID('a-b'), <object>]", None);
        check("[UUID('a-b'), Point(1, f(2))]", Some(r#"["a-b","Point(1, f(2))"]"#));
    }

    #[test]
    fn dates_are_written_as_iso_8601_has_them() {
        check("[datetime.date(2026, 1, 2)]", Some(r#"["2026-01-02"]"#));
        check("[datetime.datetime(2026, 1, 2, 3, 4)]", Some(r#"["2026-01-02T03:04:00"]"#));
        let zone = "tzinfo=zoneinfo.ZoneInfo(key='Etc/UTC')";
        check(
            &format!("[datetime.datetime(2026, 1, 2, 3, 4, 5, 60, {zone})]"),
            Some(r#"["2026-01-02T03:04:05.000060Z"]"#),
        );
        let other = "datetime.datetime(2026, 1, 2, 3, 4, tzinfo=zoneinfo.ZoneInfo(key='Asia/Tokyo'))";
        check(&format!("[{other}]"), Some(&format!("[\"{other}\"]")));
    }

    #[test]
    fn what_is_something_else_stays() {
        for text in ["", "None", "'text'", "[1, 2", "[1] and more", "{'a'}", "[b'bytes']", "[FILE] a.csv", "{'a': 'b"] {
            check(text, None);
        }
        check(&"[".repeat(100), None);
    }
}

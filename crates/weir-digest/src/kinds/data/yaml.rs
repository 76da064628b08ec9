//! YAML as tools print it: indented blocks, lists and plain values.

use super::converted::{self, LineConverter, put_inside, put_text, put_value};
use crate::kinds::Kind;
use crate::sample::Sample;

pub(crate) const KIND: Kind =
    Kind::whole("yaml", is, |source, sample| converted::read(source, sample, "YAML", || Box::new(Yaml::default())));

const MIN_LINES: usize = 12;

fn is(sample: &Sample<'_>) -> bool {
    let nested = sample.full_lines().filter(|line| line.starts_with([' ', '-'])).count();
    let all = sample.full_lines().count();
    let begins = sample.full_lines().next().is_some_and(|line| line == "---" || key(line).is_some() || is_item(line));
    begins
        && all >= MIN_LINES
        && nested * 3 >= all
        && sample.mostly(92, |line| {
            let text = line.trim_start().trim_start_matches("- ");
            key(text).is_some() || is_item(line.trim_start()) || text.starts_with('#') || text == "---"
        })
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Parses `name: value`, `name:` and `"name": value`. Aligned values are another format.
fn key(text: &str) -> Option<(&str, &str)> {
    let (name, value) = match text.strip_suffix(':') {
        Some(name) if !name.contains(": ") => (name, ""),
        _ => text.split_once(": ")?,
    };
    let name = name.trim_matches(['"', '\'']);
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./$@".contains(&byte))
        && !value.starts_with(' ');
    is_name.then_some((name, value))
}

/// An open block: the indentation of its lines, and whether it is a list.
struct Level {
    indent: usize,
    list: bool,
}

#[derive(Default)]
struct Yaml {
    open: Vec<Level>,
    /// Whether the value of the last key is on the lines below it.
    pending: bool,
    /// The indentation of the key whose value is a text of several lines.
    text: Option<usize>,
}

impl LineConverter for Yaml {
    fn line(&mut self, text: &str, json: &mut String) {
        let content = text.trim();
        let indent = text.len() - text.trim_start().len();
        if let Some(above) = self.text {
            if content.is_empty() || indent > above {
                put_inside(content, json);
                json.push(' ');
                return;
            }
            json.push('"');
            self.text = None;
        }
        match content {
            "" => {}
            "---" | "..." => self.end(json),
            _ if content.starts_with('#') => {}
            _ => self.content(indent, content, json),
        }
    }

    fn end(&mut self, json: &mut String) {
        if self.text.take().is_some() {
            json.push('"');
        }
        self.fill(json);
        while let Some(level) = self.open.pop() {
            json.push(if level.list { ']' } else { '}' });
        }
    }
}

impl Yaml {
    fn content(&mut self, indent: usize, content: &str, json: &mut String) {
        let item = is_item(content);
        if !item && key(content).is_none() {
            // The line continues a value.
            return;
        }
        // A list may be indented no further than the key that it belongs to.
        let deeper =
            self.open.last().is_none_or(|top| indent > top.indent || (item && !top.list && indent == top.indent));
        if !(self.pending && deeper) {
            self.fill(json);
        }
        while let Some(top) = self.open.last() {
            if indent > top.indent || (indent == top.indent && (top.list == item || (item && self.pending))) {
                break;
            }
            json.push(if top.list { ']' } else { '}' });
            self.open.pop();
        }
        match self.open.last() {
            Some(top) if top.indent == indent && top.list == item => json.push(','),
            _ => {
                json.push(if item { '[' } else { '{' });
                self.open.push(Level { indent, list: item });
            }
        }
        self.pending = false;
        match (item, key(content)) {
            (true, _) => self.item(indent, content, json),
            (false, Some((name, value))) => self.field(indent, name, value, json),
            (false, None) => {}
        }
    }

    fn item(&mut self, indent: usize, content: &str, json: &mut String) {
        let rest = content.strip_prefix('-').unwrap_or(content);
        let inside = indent + content.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        if let Some((name, value)) = key(rest).filter(|_| !rest.starts_with(['"', '{', '['])) {
            json.push('{');
            self.open.push(Level { indent: inside, list: false });
            self.field(inside, name, value, json);
        } else if is_item(rest) {
            json.push('[');
            self.open.push(Level { indent: inside, list: true });
            self.item(inside, rest, json);
        } else {
            self.value(indent, rest, json);
        }
    }

    fn field(&mut self, indent: usize, name: &str, value: &str, json: &mut String) {
        put_text(name, json);
        json.push(':');
        self.value(indent, value.trim(), json);
    }

    /// Writes a value after a key or the sign of an item, which has this indentation.
    fn value(&mut self, indent: usize, value: &str, json: &mut String) {
        match value {
            "" => self.pending = true,
            value if value.starts_with(['|', '>']) && value.len() <= 3 => {
                json.push('"');
                self.text = Some(indent);
            }
            value if value.starts_with(['"', '\'']) => put_text(unquoted(value), json),
            value => put_value(value, json),
        }
    }

    /// Writes `null` for a key without a value.
    fn fill(&mut self, json: &mut String) {
        if std::mem::take(&mut self.pending) {
            json.push_str("null");
        }
    }
}

fn unquoted(value: &str) -> &str {
    let quote = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    quote('"').or_else(|| quote('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::digest;

    fn json(yaml: &str) -> String {
        let (mut convert, mut json) = (Yaml::default(), String::new());
        yaml.lines().for_each(|line| convert.line(line, &mut json));
        convert.end(&mut json);
        json
    }

    #[test]
    fn blocks_become_json() {
        for (yaml, expected) in [
            ("a: 1\nb:\n  c: x y\n  d: true", r#"{"a":1,"b":{"c":"x y","d":true}}"#),
            ("items:\n- a: 1\n  b: \"2\"\n- a: 3\nkind: List", r#"{"items":[{"a":1,"b":"2"},{"a":3}],"kind":"List"}"#),
            ("a:\n  - x\n  - y\nb:\nc: 1", r#"{"a":["x","y"],"b":null,"c":1}"#),
            ("a:\n- b:\n  - c: 1\n    d: 2\n  e: {}\nf: 3", r#"{"a":[{"b":[{"c":1,"d":2}],"e":{}}],"f":3}"#),
            ("a: |\n  one\n  two\nb: 1", r#"{"a":"one two ","b":1}"#),
            ("# said\n- 1\n- - 2\n  - 3", r#"[1,[2,3]]"#),
            (
                "args:\n- -c\n- |\n  set -e\n  echo: it\n- \"2\"\nname: x",
                r#"{"args":["-c","set -e echo: it ","2"],"name":"x"}"#,
            ),
        ] {
            assert_eq!(json(yaml), expected, "{yaml}");
        }
    }

    #[test]
    fn facts_stay_with_their_object() {
        let mut raw = "apiVersion: v1\nitems:\n".to_owned();
        for number in 0..30 {
            raw.push_str(&format!(
                "- kind: Deployment\n  metadata:\n    name: shop-{number}\n  spec:\n    replicas: 2\n"
            ));
            raw.push_str(&format!("  status:\n    unavailable: {}\n", if number == 10 { 8 } else { 0 }));
        }
        raw.push_str("kind: List\n");
        let digest = digest(&raw, 800);
        assert!(digest.contains("YAML: ") && digest.contains("shop-10"), "{digest}");
    }
}

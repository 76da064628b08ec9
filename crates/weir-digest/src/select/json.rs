//! Walks through JSON while reading it, and prints only what a path leads to.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::path::Step;
use super::{Collector, NotSelected, Selected, some_names};
use crate::Source;

const MAX_VALUE_BYTES: usize = 4 << 10;

pub(super) fn select(source: &dyn Source, steps: &[Step], mut out: Collector<'_>) -> Result<Selected, NotSelected> {
    out.selected.unit = "values";
    let many = has_one_value_per_line(source)?;
    let mut missed = None;
    let mut reader = source.open()?;
    let mut text = serde_json::Deserializer::from_reader(&mut reader);
    loop {
        let apart = !many && !steps.contains(&Step::Every);
        let walk = Walk { steps, out: &mut out, missed: &mut missed, apart };
        match walk.deserialize(&mut text) {
            Ok(()) if many => {}
            Ok(()) => break,
            Err(error) if many && error.is_eof() && error.column() == 0 => break,
            Err(error) => return Err(NotSelected::Damaged(error.to_string())),
        }
        if many && text.end().is_ok() {
            break;
        }
    }
    match missed {
        Some((wanted, there)) if out.selected.total == 0 => Err(NotSelected::NotThere { wanted, there }),
        _ => Ok(out.selected),
    }
}

/// Returns whether the first line is a complete value and others follow.
fn has_one_value_per_line(source: &dyn Source) -> Result<bool, NotSelected> {
    let mut first = Vec::new();
    let mut input = std::io::Read::take(source.open()?, 1 << 20);
    while first.trim_ascii().is_empty() && input.read_until(b'\n', &mut first)? > 0 {}
    let whole = serde_json::from_slice::<IgnoredAny>(&first).is_ok();
    Ok(whole && input.fill_buf()?.iter().any(|byte| !byte.is_ascii_whitespace()))
}

struct Walk<'a, 'o> {
    steps: &'a [Step],
    out: &'a mut Collector<'o>,
    /// The first name that was missing, and what was available there.
    missed: &'a mut Option<(String, String)>,
    /// Whether the contents of the value are listed one by one.
    apart: bool,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        if self.steps.is_empty() && !self.apart {
            let text = PrintSeed.deserialize(value)?;
            self.out.push(text);
            return Ok(());
        }
        value.deserialize_any(self)
    }
}

impl<'o> Walk<'_, 'o> {
    /// Returns the walk after the next step.
    fn further(&mut self) -> Walk<'_, 'o> {
        Walk { steps: &self.steps[1..], out: &mut *self.out, missed: &mut *self.missed, apart: self.apart }
    }

    fn miss(&mut self, there: String) {
        let wanted = match self.steps.first() {
            Some(Step::Name(name)) => name.clone(),
            Some(Step::Fields(names)) => names.join(", "),
            _ => return,
        };
        self.missed.get_or_insert((wanted, there));
    }

    /// Prints some fields of an object as an object, in the order in which they were asked for. A field that it lacks
    /// is left out.
    fn fields<'de, A: MapAccess<'de>>(mut self, wanted: &[String], mut map: A) -> Result<(), A::Error> {
        let (mut names, mut total) = (Vec::new(), 0);
        let mut found: Vec<Option<String>> = vec![None; wanted.len()];
        while let Some(key) = map.next_key::<String>()? {
            total += 1;
            match wanted.iter().position(|name| *name == key) {
                Some(place) => found[place] = Some(map.next_value_seed(PrintSeed)?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                    if names.len() < 40 {
                        names.push(key);
                    }
                }
            }
        }
        let shown = wanted.iter().zip(&found).filter_map(|(name, value)| Some((quoted(name), value.as_ref()?)));
        let shown: Vec<String> = shown.map(|(name, value)| format!("{name}:{value}")).collect();
        if shown.is_empty() {
            self.miss(some_names(names.iter().map(String::as_str), total));
        } else {
            self.out.push(format!("{{{}}}", shown.join(",")));
        }
        Ok(())
    }

    fn scalar<E: Error>(mut self, what: &str, text: String) -> Result<(), E> {
        match self.steps {
            [] => self.out.push(text),
            _ => self.miss(format!("{what} and nothing in it")),
        }
        Ok(())
    }
}

/// The methods of a visitor for values that contain no others, which its `scalar` takes.
macro_rules! visit_scalars {
    () => {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
            self.scalar("a truth value", value.to_string())
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
            self.scalar("a number", value.to_string())
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
            self.scalar("a number", value.to_string())
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
            self.scalar("a number", value.to_string())
        }

        fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
            self.scalar("a text", quoted(value))
        }

        fn visit_unit<E: Error>(self) -> Result<(), E> {
            self.scalar("null", "null".to_owned())
        }
    };
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    visit_scalars!();

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        if let Some(Step::Fields(wanted)) = self.steps.first() {
            return self.fields(wanted, map);
        }
        let (mut names, mut total, mut found) = (Vec::new(), 0, false);
        while let Some(key) = map.next_key::<String>()? {
            total += 1;
            match self.steps.first() {
                None => {
                    let value = map.next_value_seed(PrintSeed)?;
                    self.out.push(format!("{}: {value}", name(key)));
                }
                Some(Step::Every) => map.next_value_seed(self.further())?,
                Some(Step::Name(name)) if *name == key => {
                    found = true;
                    map.next_value_seed(self.further())?;
                }
                Some(Step::Name(_) | Step::Fields(_)) => {
                    map.next_value::<IgnoredAny>()?;
                    if names.len() < 40 {
                        names.push(key);
                    }
                }
            }
        }
        if !found {
            self.miss(some_names(names.iter().map(String::as_str), total));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let index = match self.steps.first() {
            Some(Step::Name(name)) => name.parse::<u64>().ok(),
            _ => None,
        };
        let (mut place, mut found) = (0, false);
        loop {
            let more = match self.steps.first() {
                None => list.next_element_seed(PrintSeed)?.map(|value| self.out.push(value)),
                Some(Step::Every) => list.next_element_seed(self.further())?,
                Some(Step::Name(_)) if index == Some(place) => {
                    let element = list.next_element_seed(self.further())?;
                    found = element.is_some();
                    element
                }
                Some(Step::Name(_) | Step::Fields(_)) => list.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if more.is_none() {
                break;
            }
            place += 1;
        }
        if !found {
            self.miss(if place == 0 { "no elements".to_owned() } else { format!("0 to {}", place - 1) });
        }
        Ok(())
    }
}

/// Prints a value of any size on one line, as much of it as is shown.
struct PrintSeed;

impl<'de> DeserializeSeed<'de> for PrintSeed {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<String, D::Error> {
        let mut printed = PrintBuffer::default();
        Printer(&mut printed).deserialize(value)?;
        if printed.left_out > 0 {
            printed.text.push_str(&format!("… ({} more bytes)", printed.left_out));
        }
        Ok(printed.text)
    }
}

#[derive(Default)]
struct PrintBuffer {
    text: String,
    left_out: usize,
}

impl PrintBuffer {
    fn push(&mut self, text: &str) {
        let room = if self.left_out > 0 { 0 } else { MAX_VALUE_BYTES.saturating_sub(self.text.len()) };
        let end = text.floor_char_boundary(room);
        self.text.push_str(&text[..end]);
        self.left_out += text.len() - end;
    }
}

struct Printer<'a>(&'a mut PrintBuffer);

impl<'de> DeserializeSeed<'de> for Printer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

/// An element, with the character printed before it.
struct SeparatedElement<'a>(&'static str, &'a mut PrintBuffer);

impl<'de> DeserializeSeed<'de> for SeparatedElement<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        self.1.push(self.0);
        Printer(self.1).deserialize(value)
    }
}

impl Printer<'_> {
    fn scalar<E: Error>(self, _: &str, text: String) -> Result<(), E> {
        self.0.push(&text);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Printer<'_> {
    visit_scalars!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut before = "{";
        while let Some(key) = map.next_key::<String>()? {
            self.0.push(before);
            self.0.push(&quoted(&key));
            self.0.push(":");
            map.next_value_seed(Printer(self.0))?;
            before = ",";
        }
        self.0.push(if before == "{" { "{}" } else { "}" });
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut before = "[";
        // The separator is printed once the element has begun, since only then is it known to exist.
        while list.next_element_seed(SeparatedElement(before, &mut *self.0))?.is_some() {
            before = ",";
        }
        self.0.push(if before == "[" { "[]" } else { "]" });
        Ok(())
    }
}

/// Returns a key, quoted where it would be ambiguous.
fn name(key: String) -> String {
    if key.contains(|c: char| c.is_control() || c == '"') { quoted(&key) } else { key }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

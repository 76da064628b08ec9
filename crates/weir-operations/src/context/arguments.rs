//! Arguments that are never refused: scripts and other programs' plugins pass them as they like. What was not
//! understood is remembered, so that the answer can say so.

use std::borrow::Cow;
use std::convert::Infallible;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use weir_core::wording::flat;

pub(super) const DEFAULT_NOTES: usize = 20;
/// The largest number of notes.
const MAX_NOTES: usize = 1_000;
/// How many characters of a value that was not understood are repeated.
const MAX_VALUE_CHARS: usize = 40;

/// The spellings of a boolean, in any case.
const SPELLINGS: [(&str, bool); 12] = [
    ("1", true),
    ("0", false),
    ("true", true),
    ("false", false),
    ("yes", true),
    ("no", false),
    ("on", true),
    ("off", false),
    ("t", true),
    ("f", false),
    ("y", true),
    ("n", false),
];

/// A number of notes: what is not a positive number means the default.
#[derive(Debug, Clone, Default)]
pub(super) struct NoteLimit {
    notes: Option<usize>,
    misread: Option<String>,
}

impl NoteLimit {
    pub(super) fn notes(&self) -> usize {
        self.notes.unwrap_or(DEFAULT_NOTES)
    }

    /// Says what was not understood.
    pub(super) fn remark(&self) -> Option<String> {
        let value = self.misread.as_ref()?;
        Some(format!("limit={value} was not understood: it is not a whole number, so it means {DEFAULT_NOTES}"))
    }
}

impl FromStr for NoteLimit {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        Ok(match text.parse::<i64>() {
            Ok(number) if number > 0 => {
                Self { notes: Some(usize::try_from(number).unwrap_or(MAX_NOTES).min(MAX_NOTES)), misread: None }
            }
            Ok(_) => Self::default(),
            Err(_) if text.is_empty() => Self::default(),
            Err(_) => Self { notes: None, misread: Some(flat(text, MAX_VALUE_CHARS)) },
        })
    }
}

/// A boolean in one of twelve spellings: what is none of them means no.
#[derive(Debug, Clone)]
pub(super) struct Switch {
    on: bool,
    misread: Option<String>,
}

impl Switch {
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Says what was not understood.
    pub(super) fn remark(&self) -> Option<String> {
        let value = self.misread.as_ref()?;
        Some(format!("compact={value} was not understood: use true or false"))
    }
}

impl FromStr for Switch {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        let known = SPELLINGS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        Ok(match known {
            Some((_, on)) => Self { on: *on, misread: None },
            None if text.is_empty() => Self { on: false, misread: None },
            None => Self { on: false, misread: Some(flat(text, MAX_VALUE_CHARS)) },
        })
    }
}

/// Returns a value as someone would write it in a shell or an address.
fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

impl<'de> Deserialize<'de> for NoteLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ok(limit) = written(deserializer)?.parse();
        Ok(limit)
    }
}

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ok(switch) = written(deserializer)?.parse();
        Ok(switch)
    }
}

impl JsonSchema for NoteLimit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoteLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

impl JsonSchema for Switch {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Switch".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check_limit(value: Value, notes: usize, is_misread: bool) {
        let limit: NoteLimit = serde_json::from_value(value.clone()).unwrap();
        assert_eq!((limit.notes(), limit.remark().is_some()), (notes, is_misread), "{value}");
    }

    #[test]
    fn a_limit_is_a_positive_number_or_the_default() {
        check_limit(json!(8), 8, false);
        check_limit(json!(" 8 "), 8, false);
        check_limit(json!(1_000_000), MAX_NOTES, false);
        for nothing in [json!(0), json!(-3), json!("-3"), json!("")] {
            check_limit(nothing, DEFAULT_NOTES, false);
        }
        for other in [json!("many"), json!(8.5), json!(true), json!([8]), json!("99999999999999999999")] {
            check_limit(other, DEFAULT_NOTES, true);
        }
    }

    /// Checks what a value means, or that it means nothing.
    fn check_switch(value: Value, meant: Option<bool>) {
        let switch: Switch = serde_json::from_value(value.clone()).unwrap();
        assert_eq!((switch.is_on(), switch.remark().is_none()), (meant == Some(true), meant.is_some()), "{value}");
    }

    #[test]
    fn a_switch_has_twelve_spellings_in_any_case() {
        for (word, on) in SPELLINGS {
            for word in [word.to_owned(), word.to_uppercase(), format!(" {word}")] {
                check_switch(json!(word), Some(on));
            }
        }
        check_switch(json!(true), Some(true));
        check_switch(json!(1), Some(true));
        check_switch(json!(""), Some(false));
        for other in [json!("maybe"), json!(2), json!({}), json!("truth")] {
            check_switch(other, None);
        }
        let switch: Switch = "maybe\n# now".parse().unwrap();
        assert_eq!(switch.remark().unwrap(), "compact=maybe # now was not understood: use true or false");
    }

    proptest! {
        #[test]
        fn any_text_is_a_limit_and_a_switch(text: String) {
            let limit: NoteLimit = text.parse().unwrap();
            prop_assert!((1..=MAX_NOTES).contains(&limit.notes()));
            let switch: Switch = text.parse().unwrap();
            prop_assert!(!switch.remark().is_some_and(|remark| remark.contains('\n')));
        }
    }
}

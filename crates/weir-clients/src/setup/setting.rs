//! A client's own settings that Weir may write for the user: when to compact, the status line.
//!
//! Unlike a [`Part`](super::Part), such a setting is the client's and may already have a value, so the caller must save
//! that value before it writes a new one.

use serde_json::{Map, Value};

use super::json::{check_once, edit, existing_object_at, input, object_at, prune};
use super::{Place, Unusable, table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The file: TOML if its name ends in `.toml`, else JSON.
    pub place: Place,
    /// The keys that lead to it.
    pub at: &'static [&'static str],
}

impl Setting {
    fn is_toml(&self) -> bool {
        self.place.path.ends_with(".toml")
    }

    /// Returns the keys before the last one, and the last one.
    fn split(&self) -> (&'static [&'static str], &'static str) {
        self.at.split_last().map_or((&[], ""), |(last, before)| (before, last))
    }

    /// Returns the setting's value in a file, or `None` if it is not set.
    pub fn get(&self, text: &str) -> Result<Option<Value>, Unusable> {
        let (before, last) = self.split();
        if self.is_toml() {
            return table::value(text, last);
        }
        let mut found = None;
        edit(text, |root| {
            let property = existing_object_at(root, before).and_then(|object| object.get(last));
            found = property.and_then(|property| property.value()?.to_serde_value());
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the file's text with the setting set to this value, or removed if there is none.
    pub fn put(&self, text: &str, value: Option<&Value>) -> Result<String, Unusable> {
        let (before, last) = self.split();
        if self.is_toml() {
            return table::put_value(text, last, value);
        }
        edit(text, |root| {
            let Some(value) = value else {
                if let Some(property) = existing_object_at(root, before).and_then(|object| object.get(last)) {
                    property.remove();
                    prune(root, before);
                }
                return Ok(());
            };
            let object = object_at(root, before)?;
            check_once(&object, last)?;
            match object.get(last) {
                Some(property) => property.set_value(input(value)),
                None => drop(object.append(last, input(value))),
            }
            Ok(())
        })
    }

    /// Returns the setting with a value, as a person would write it into the file, and the file's path.
    pub fn written(&self, value: &Value) -> String {
        let (before, last) = self.split();
        if self.is_toml() {
            return format!("{last} = {value} at the top of ~/{}", self.place.below_home());
        }
        let (outer, value) = before.iter().rev().fold((last, value.clone()), |(key, value), outer| {
            (outer, Value::Object(Map::from_iter([(key.to_owned(), value)])))
        });
        let value = value.to_string().replace("\":", "\": ");
        format!("\"{outer}\": {value} in ~/{}", self.place.below_home())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::setup::home;

    const INNER: Setting = Setting { place: home(".gemini/settings.json"), at: &["model", "compressionThreshold"] };
    const TOP: Setting = Setting { place: home(".codex/config.toml"), at: &["limit"] };

    #[test]
    fn a_value_is_set_and_brought_back_byte_for_byte() {
        let json = "{\n  // mine\n  \"model\": {\n    \"name\": \"x\",\n    \"compressionThreshold\": 0.7\n  }\n}\n";
        let toml = "# mine\r\nlimit = 9 # why\r\n\r\n[a]\r\nlimit = 1\r\n";
        for (setting, text, old, new) in [(INNER, json, json!(0.7), json!(0.08)), (TOP, toml, json!(9), json!(80_000))]
        {
            assert_eq!(setting.get(text).unwrap(), Some(old.clone()));
            let set = setting.put(text, Some(&new)).unwrap();
            assert_eq!(setting.get(&set).unwrap(), Some(new));
            assert_eq!(setting.put(&set, Some(&old)).unwrap(), text);
        }
    }

    #[test]
    fn a_value_that_was_not_there_leaves_no_trace() {
        for (setting, text) in [
            (INNER, "{\n  \"a\": 1\n}\n"),
            (INNER, "{\n  \"model\": {\n    \"name\": \"x\"\n  }\n}\n"),
            (TOP, "# a\n[b]\nlimit = 1\n"),
            (TOP, ""),
        ] {
            assert_eq!(setting.get(text).unwrap(), None, "{text}");
            let set = setting.put(text, Some(&json!(7))).unwrap();
            assert_eq!(setting.get(&set).unwrap(), Some(json!(7)), "{set}");
            assert_eq!(setting.put(&set, None).unwrap(), text);
        }
    }

    #[test]
    fn a_setting_reads_as_in_the_file() {
        assert_eq!(
            INNER.written(&json!(0.08)),
            "\"model\": {\"compressionThreshold\": 0.08} in ~/.gemini/settings.json"
        );
        assert_eq!(TOP.written(&json!(8)), "limit = 8 at the top of ~/.codex/config.toml");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[ -~\n]{0,60}"#, value in 0..9_i32) {
            for setting in [INNER, TOP] {
                let Ok(set) = setting.put(&text, Some(&json!(value))) else { continue };
                prop_assert_eq!(setting.get(&set).unwrap(), Some(json!(value)));
            }
        }
    }
}

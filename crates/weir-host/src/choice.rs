//! Arguments and answers that take one of a fixed set of words. The command line, the schemas and the parser share one
//! list.

use std::borrow::Cow;

use clap::builder::{PossibleValue, TypedValueParser, ValueParserFactory};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use weir_core::Written;

/// One of the variants of `T`, by its written form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<T>(pub T);

fn find<T: Written>(text: &str) -> Option<Choice<T>> {
    let text = text.trim();
    T::ALL.iter().copied().find(|choice| choice.as_str().eq_ignore_ascii_case(text)).map(Choice)
}

fn list<T: Written>() -> String {
    T::ALL.iter().map(|choice| choice.as_str()).collect::<Vec<_>>().join(", ")
}

impl<'de, T: Written> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        find(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not one of {}", list::<T>())))
    }
}

impl<T: Written> Serialize for Choice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<T: Written> JsonSchema for Choice<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::ALL.iter().map(|choice| choice.as_str()).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

impl<T: Written> ValueParserFactory for Choice<T> {
    type Parser = ChoiceParser<T>;

    fn value_parser() -> Self::Parser {
        ChoiceParser(std::marker::PhantomData)
    }
}

/// Parses a choice on the command line and lists the possible values in the help.
#[derive(Debug, Clone)]
pub struct ChoiceParser<T>(std::marker::PhantomData<T>);

impl<T: Written> TypedValueParser for ChoiceParser<T> {
    type Value = Choice<T>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let words = clap::builder::PossibleValuesParser::new(T::ALL.iter().map(|choice| choice.as_str()));
        let text = words.parse_ref(command, argument, value)?;
        find(&text).ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::ALL.iter().map(|choice| PossibleValue::new(choice.as_str()))))
    }
}

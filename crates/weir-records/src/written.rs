//! The written forms of the domain's own types in JSON, for `#[serde(with = …)]`.

/// Enums with one written form for each variant.
pub(crate) mod word {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use weir_core::Written;

    pub(crate) fn serialize<T: Written, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.as_str())
    }

    pub(crate) fn deserialize<'de, T: Written, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = T::ALL.iter().copied().find(|value| value.as_str() == text);
        found.ok_or_else(|| D::Error::custom(format!("unknown word `{text}`")))
    }
}

/// References, without their brackets.
pub(crate) mod reference {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use weir_core::Reference;

    pub(crate) fn serialize<S: Serializer>(value: &Reference, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reference, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed = Reference::parse(&text).map_err(D::Error::custom)?;
        // A reference has one written form here, so that equal records have equal JSON.
        if parsed.as_str() == text { Ok(parsed) } else { Err(D::Error::custom(format!("`{text}` is not as written"))) }
    }
}

//! The kinds of settings: which values each allows, and how it shows them.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_fetch::Guard;
use weir_fetch::endpoint::shown_address;

use super::{LayerUse, ListedTools, Network, Sandbox};

/// A kind of setting.
pub trait Kind {
    /// Its value as the file has it.
    type Raw: DeserializeOwned;
    /// Its value for the program.
    type Value;

    /// Converts what the file has, or says why it cannot be used.
    fn read(raw: Self::Raw) -> Result<Self::Value, String>;

    /// Returns the value, as the file would have it, if it is set.
    fn show(value: &Self::Value) -> Option<String>;
}

/// Kinds that the program has as the file has them.
macro_rules! plain {
    ($($kind:ty: $show:expr;)*) => {$(
        impl Kind for $kind {
            type Raw = Self;
            type Value = Self;

            fn read(raw: Self) -> Result<Self, String> {
                Ok(raw)
            }

            fn show(value: &Self) -> Option<String> {
                Some($show(value))
            }
        }
    )*};
}

plain! {
    bool: bool::to_string;
    String: |text| format!("{text:?}");
    Vec<String>: |items| format!("{items:?}");
    Vec<PathBuf>: |folders: &Self| {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("{folders:?}")
    };
    Sandbox: word;
    Network: word;
    LayerUse: word;
}

/// Returns the name of a choice in quotes.
fn word(choice: &impl Serialize) -> String {
    serde_json::to_string(choice).unwrap_or_default()
}

/// Numbers within bounds. What lies outside counts as the nearest bound.
macro_rules! numbers {
    ($($(#[$about:meta])* $kind:ident: $raw:ty => $value:ty, $read:expr, $show:expr;)*) => {$(
        $(#[$about])*
        pub struct $kind<const MIN: $raw = 0, const MAX: $raw = { <$raw>::MAX }>;

        impl<const MIN: $raw, const MAX: $raw> Kind for $kind<MIN, MAX> {
            type Raw = $raw;
            type Value = $value;

            fn read(raw: $raw) -> Result<$value, String> {
                Ok($read(raw.clamp(MIN, MAX)))
            }

            fn show(value: &$value) -> Option<String> {
                Some($show(value).to_string())
            }
        }
    )*};
}

numbers! {
    /// A number of tokens.
    Tokens: u32 => usize, |tokens| tokens as usize, usize::clone;
    /// A number of days.
    Days: u32 => u32, |days| days, u32::clone;
    /// A time in seconds.
    Seconds: u64 => Duration, Duration::from_secs, Duration::as_secs;
    /// A time in hours.
    Hours: u64 => Duration, |hours: u64| Duration::from_secs(hours.saturating_mul(3_600)), |time: &Duration| {
        time.as_secs() / 3_600
    };
    /// A size in megabytes, as bytes.
    Megabytes: u64 => u64, |size: u64| size.saturating_mul(1 << 20), |bytes: &u64| bytes >> 20;
}

/// A share of at most one half.
pub struct Share;

impl Kind for Share {
    type Raw = f64;
    type Value = f64;

    fn read(raw: f64) -> Result<f64, String> {
        if (0.0..=0.5).contains(&raw) { Ok(raw) } else { Err(format!("{raw} is not between 0 and 0.5")) }
    }

    fn show(value: &f64) -> Option<String> {
        Some(value.to_string())
    }
}

/// Private hosts that may be reached.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    /// What lets them through.
    pub guard: Guard,
    /// The hosts as the user wrote them.
    written: Vec<String>,
}

impl Kind for AllowedHosts {
    type Raw = Vec<String>;
    type Value = Self;

    fn read(raw: Vec<String>) -> Result<Self, String> {
        let guard = Guard::allowing(&raw).map_err(|error| error.to_string())?;
        Ok(Self { guard, written: raw })
    }

    fn show(value: &Self) -> Option<String> {
        <Vec<String> as Kind>::show(&value.written)
    }
}

/// A word for tools, or their names.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum RawTools {
    Word(String),
    Names(Vec<String>),
}

impl Kind for ListedTools {
    type Raw = RawTools;
    type Value = Self;

    fn read(raw: RawTools) -> Result<Self, String> {
        match raw {
            RawTools::Word(word) => match word.as_str() {
                "core" => Ok(Self::Core),
                "all" => Ok(Self::All),
                other => Err(format!("`{other}` is neither `core`, `all` nor a list of names")),
            },
            RawTools::Names(names) => Ok(Self::Named(names)),
        }
    }

    fn show(value: &Self) -> Option<String> {
        match value {
            Self::Core => Some("\"core\"".to_owned()),
            Self::All => Some("\"all\"".to_owned()),
            Self::Named(names) => <Vec<String> as Kind>::show(names),
        }
    }
}

/// A setting that need not have a value.
impl<K: Kind> Kind for Option<K> {
    type Raw = Option<K::Raw>;
    type Value = Option<K::Value>;

    fn read(raw: Self::Raw) -> Result<Self::Value, String> {
        raw.map(K::read).transpose()
    }

    fn show(value: &Self::Value) -> Option<String> {
        value.as_ref().and_then(K::show)
    }
}

/// The address of a server, shown without a password.
pub struct Address;

impl Kind for Address {
    type Raw = String;
    type Value = String;

    fn read(raw: String) -> Result<String, String> {
        Ok(raw)
    }

    fn show(value: &String) -> Option<String> {
        Some(format!("{:?}", shown_address(value)))
    }
}

/// The path of a file with a secret, which is not shown.
pub struct SecretFile;

impl Kind for SecretFile {
    type Raw = PathBuf;
    type Value = PathBuf;

    fn read(raw: PathBuf) -> Result<PathBuf, String> {
        Ok(raw)
    }

    fn show(_: &PathBuf) -> Option<String> {
        Some("set, not shown".to_owned())
    }
}

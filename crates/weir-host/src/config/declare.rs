//! Turns the rows of settings into the structs of the configuration, the file's own form, and the list of settings.

use super::Config;

pub struct Setting {
    /// The table of the file; empty for the top.
    pub table: &'static str,
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Returns its value, as the file would have it.
    pub value: fn(&Config) -> String,
}

impl Setting {
    /// Returns the name with the table.
    pub fn key(&self) -> String {
        if self.table.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.table, self.name) }
    }
}

/// A table of the file.
pub(super) trait Section: Sized {
    /// The table as written, before validation.
    type Raw;

    /// Fills in the defaults, and says which setting is wrong.
    fn read(raw: Self::Raw) -> Result<Self, String>;
}

/// Declares every setting, each in one row: its doc comment, which `weir config` and the documents show, and
/// `field: kind = default;`. The kind says which values are allowed. The default is what the file would have; one that
/// is `None` is followed by what is shown instead. Where the file has another name than the code, it is behind the
/// field's.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct Config {$(
            #[doc = $about:literal]
            $field:ident: $kind:ty = $default:expr;
        )*}
        $(
            #[doc = $table_about:literal]
            [$table:ident]
            pub struct $section:ident {$(
                #[doc = $row_about:literal]
                $row:ident $(($row_name:literal))?: $row_kind:ty = $row_default:expr $(, $unset:literal)?;
            )*}
        )*
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone)]
        pub struct Config {
            $(#[doc = $about] pub $field: <$kind as Kind>::Value,)*
            $(#[doc = $table_about] pub $table: $section,)*
        }

        $(
            #[doc = $table_about]
            #[derive(Debug, Clone)]
            pub struct $section {
                $(#[doc = $row_about] pub $row: <$row_kind as Kind>::Value,)*
            }
        )*

        const _: () = {
            #[derive(Default, Deserialize)]
            #[serde(deny_unknown_fields, default, expecting = "a table")]
            pub(in crate::config) struct Raw {
                $($field: Option<<$kind as Kind>::Raw>,)*
                $($table: <$section as Section>::Raw,)*
            }

            impl Section for Config {
                type Raw = Raw;

                fn read(raw: Raw) -> Result<Self, String> {
                    Ok(Self {
                        $($field: <$kind as Kind>::read(raw.$field.unwrap_or($default))?,)*
                        $($table: Section::read(raw.$table)?,)*
                    })
                }
            }
        };

        $(const _: () = {
            #[derive(Default, Deserialize)]
            #[serde(deny_unknown_fields, default, expecting = "a table")]
            pub(in crate::config) struct Raw {
                $($(#[serde(rename = $row_name)])? $row: Option<<$row_kind as Kind>::Raw>,)*
            }

            impl Section for $section {
                type Raw = Raw;

                fn read(raw: Raw) -> Result<Self, String> {
                    let wrong = |name: &str, why: String| format!("[{}] {name}: {why}", stringify!($table));
                    Ok(Self {$(
                        $row: <$row_kind as Kind>::read(raw.$row.unwrap_or_else(|| $row_default))
                            .map_err(|why| wrong(name!($row $($row_name)?), why))?,
                    )*})
                }
            }
        };)*

        /// Every setting, in the order of the documents.
        pub const SETTINGS: &[Setting] = &[
            $(Setting {
                table: "",
                name: stringify!($field),
                about: $about.trim_ascii(),
                value: |config| <$kind as Kind>::show(&config.$field).unwrap_or_default(),
            },)*
            $($(Setting {
                table: stringify!($table),
                name: name!($row $($row_name)?),
                about: $row_about.trim_ascii(),
                value: |config| {
                    let shown = <$row_kind as Kind>::show(&config.$table.$row);
                    shown.unwrap_or_else(|| concat!($($unset)?).to_owned())
                },
            },)*)*
        ];
    };
}

/// The name of a setting in the file.
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

pub(super) use {name, settings};
